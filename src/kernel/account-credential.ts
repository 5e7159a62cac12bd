import type { Credentials } from "../ports/credentials.ts";
import type { AccountRecord } from "../ports/records.ts";
import { TerminalError } from "./errors.ts";
import { canonical } from "./hash.ts";
import { Secret } from "./secret.ts";

/** What a sealed credential of an account is bound to: moved to another tenant, account or field it stays shut. */
export function accountCredentialBinding(
  account: Pick<AccountRecord, "organizationId" | "id">,
  part: "read" | "write",
): string {
  return canonical(["account", account.organizationId, account.id, `credential.${part}`]);
}

/** Looking uses the credential that can only look, where there is one; acting never does. */
export async function accountCredential(
  credentials: Credentials,
  account: AccountRecord,
  part: "read" | "write",
): Promise<Secret> {
  const own = part === "read" ? account.readCredentialRef : undefined;
  const reference = own ?? account.credentialRef;
  if (reference === undefined) {
    throw new TerminalError(
      "CREDENTIAL_REFUSED",
      `Account '${account.name}' has no credential: store one with setpoint secret set-credential, or add the account again with --credential env:NAME or file:PATH`,
    );
  }
  const binding = accountCredentialBinding(account, own === undefined ? "write" : "read");
  const credential = await credentials.read(reference, binding);
  if (!credential.found)
    throw new TerminalError("CREDENTIAL_REFUSED", `Account '${account.name}': ${credential.message}`);
  return new Secret(credential.value);
}
