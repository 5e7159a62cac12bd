import type { Principal } from "../../ports/records.ts";
import { Problem } from "../problem.ts";
import type { Caller } from "./caller.ts";
import { requireRight } from "./require-need.ts";
import { scopePathOf } from "./scope-path.ts";

/**
 * Taking something back decides nothing: whoever proposed it may, a machine included, and a person also what their tokens proposed.
 * Of what others proposed only those may who could also approve it.
 */
export function requireMayWithdraw(
  caller: Caller,
  proposer: Pick<Principal, "name" | "type">,
  { what, key, organization }: { readonly what: string; readonly key: string; readonly organization: string },
): void {
  const { name, type } = caller.principal;
  if (name === proposer.name && (type === "person" || type === proposer.type)) return;
  if (type !== "person")
    throw new Problem(
      "PRINCIPAL_REFUSED",
      `${what} was proposed by ${proposer.name} (${proposer.type}), and ${name} is a ${type}, which takes back its own proposals alone: a person withdraws or rejects this one`,
    );
  requireRight(caller, { key, action: "execute" }, scopePathOf({ organization }));
}
