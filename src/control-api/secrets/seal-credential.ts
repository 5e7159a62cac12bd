import { accountCredentialBinding } from "../../kernel/account-credential.ts";
import type { EngineKey } from "../../ports/engine-seal.ts";
import type { AccountRecord } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import type { AccountCredential } from "../schemas/secrets.ts";

/** The references under which an account's credentials are stored, and the key they are sealed to. */
export interface SealedCredential {
  readonly key: EngineKey;
  readonly write: string;
  readonly read: string | undefined;
}

/** Seals a credential to the engine. From here on nobody but a scheduler can read it, this process included. */
export async function sealCredential(
  context: ApiContext,
  account: Pick<AccountRecord, "organizationId" | "id">,
  { write, read }: AccountCredential,
): Promise<SealedCredential> {
  const key = await context.accountCredentials.engineKey();
  if (key === undefined) {
    throw new Problem(
      "UNAVAILABLE",
      "There is no engine key yet, because no scheduler or worker has started here. Start one, and store the credential then",
      { retryAfterSeconds: 10 },
    );
  }
  const sealed = (part: "read" | "write", value: string) =>
    `sealed:${context.engineSealer.seal(key, value, accountCredentialBinding(account, part))}`;
  return { key, write: sealed("write", write), read: read === undefined ? undefined : sealed("read", read) };
}
