import type { Binding, Rule } from "../../ports/access.ts";
import { Problem } from "../problem.ts";
import type { Caller } from "./caller.ts";
import { can } from "./can.ts";

type Holder = Pick<Caller, "bindings" | "within">;

/** What of some rules a holder does not have at the last scope of a path: `organization.account.create` and the like. */
export function missingRights(holder: Holder, rules: readonly Rule[], path: readonly string[]): readonly string[] {
  return rules.flatMap(({ key, actions }) =>
    actions.filter((action) => !can(holder, key, action, path).allowed).map((action) => `${key}.${action}`),
  );
}

/** Nobody gives, and nobody takes away, more than they have themselves. */
export function requireMayGrant(caller: Caller, role: string, rules: readonly Rule[], path: readonly string[]): void {
  const missing = missingRights(caller, rules, path);
  if (missing.length === 0) return;
  throw new Problem(
    "FORBIDDEN",
    `${caller.principal.name} cannot give or take the role "${role}" here: it has rights that you do not have: ${shown(missing)}. Ask somebody who has them, such as an owner`,
  );
}

/** The same for rights that are not yet anybody's: a new invite's inviter, asked again when it is accepted. */
export function mayStillGrant(bindings: readonly Binding[], rules: readonly Rule[], path: readonly string[]): boolean {
  return missingRights({ bindings, within: undefined }, rules, path).length === 0;
}

export function shown(missing: readonly string[]): string {
  const first = missing.slice(0, 5).join(", ");
  return missing.length > 5 ? `${first} and ${missing.length - 5} more` : first;
}
