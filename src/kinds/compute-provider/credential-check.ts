import { TerminalError } from "../../kernel/errors.ts";
import type { CredentialQuestions, InspectContext, Inspection } from "../../kernel/loop.ts";
import type { Json } from "../../ports/json.ts";
import type { ComputeProviderSpec } from "./schema.ts";

/** What was changed about a token at the provider is found within this time, and not only by the next change. */
const askedWithinSeconds = 3_600;

/** What was found out about the credential, as it is reported; what is not asked, or was never answered, is not there. */
export interface CredentialReport {
  readonly write?: "allowed" | "refused";
  /** Where it was refused: in the provider's words. */
  readonly said?: string;
  /** It is answered by another account than the one that is known here: what that one is known by. */
  readonly another?: string;
}

/**
 * Whether the credential for acting would do, asked while nothing has to be changed. Where there is a second one for looking,
 * nothing else would say that it was revoked, may only read, or is another account's.
 */
export async function checkCredential({
  account,
  before,
}: Pick<InspectContext<unknown>, "account" | "before">): Promise<CredentialReport> {
  if (account === undefined) return {};
  const known = credentialOf(before);
  const { another } = await answered(() => identityReport(account), known);
  const rights = await answered(() => rightsReport(account), known);
  return {
    ...(another === undefined ? {} : { another }),
    ...(rights.write === undefined ? {} : { write: rights.write }),
    ...(rights.said === undefined ? {} : { said: rights.said }),
  };
}

/** No answer is no news of the credential: what was known of it stands. */
async function answered(ask: () => Promise<CredentialReport>, known: CredentialReport): Promise<CredentialReport> {
  try {
    return await ask();
  } catch (thrown) {
    return thrown instanceof TerminalError ? { write: "refused", said: thrown.message } : known;
  }
}

/** A claim that is gone is the loop's own difference, which says what to do about it. What does not fit is asked again, until it is mended. */
async function identityReport(account: CredentialQuestions): Promise<CredentialReport> {
  const { fingerprint } = account;
  if (fingerprint === undefined) return {};
  const known = await account.identity(askedWithinSeconds);
  const seen = known.fingerprint === fingerprint ? known : await account.identity(0);
  return seen.fingerprint === fingerprint || seen.unclaimed === true ? {} : { another: seen.fingerprint };
}

async function rightsReport(account: CredentialQuestions): Promise<CredentialReport> {
  const answer = await account.rights(askedWithinSeconds);
  if (answer === undefined) return {};
  return answer.write ? { write: "allowed" } : { write: "refused", said: answer.reason };
}

export function credentialConditions(
  { account }: ComputeProviderSpec,
  { write, said, another }: CredentialReport,
): Inspection["conditions"] {
  const next = `setpoint secret set-credential ${account}; that of an account of the pool is the operator's to mend`;
  const refused = {
    type: "CredentialRefused",
    status: "True",
    reason: "MayNotWrite",
    message: `the credential of account '${account}' may not write, so the next change there will be refused: ${said ?? "no reason was given"}. Store one that may (${next}), or set the mode to observe`,
  } as const;
  const elsewhere = {
    type: "AnotherAccount",
    status: "True",
    reason: "NotAsKnown",
    message: `account '${account}' answers as another one than it is known by (${another}): nothing is written there, and what is shown of it may be somebody else's. Store the credential of the account that was claimed (${next})`,
  } as const;
  return [...(another === undefined ? [] : [elsewhere]), ...(write === "refused" ? [refused] : [])];
}

function credentialOf(report: Json | undefined): CredentialReport {
  if (typeof report !== "object" || report === null || !("credential" in report)) return {};
  return report["credential"] as unknown as CredentialReport;
}
