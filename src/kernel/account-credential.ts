import type { AccountRecord } from "../ports/records.ts";
import { canonical } from "./hash.ts";

/** What a sealed credential of an account is bound to: moved to another tenant, account or field it stays shut. */
export function accountCredentialBinding(
  account: Pick<AccountRecord, "organizationId" | "id">,
  part: "read" | "write",
): string {
  return canonical(["account", account.organizationId, account.id, `credential.${part}`]);
}
