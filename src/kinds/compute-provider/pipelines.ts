import { z } from "zod";
import { TerminalError } from "../../kernel/errors.ts";
import { type AccountQuestions, pipelinesOf, type StepContext } from "../../kernel/pipeline.ts";
import type { AccountIdentity } from "../../ports/provider.ts";
import type { ComputeEngine, ComputeReader } from "../../ports/compute.ts";
import type { ComputeProviderSpec } from "./schema.ts";

const { step, effect, waitFor, converge, definePipeline } = pipelinesOf<
  ComputeProviderSpec,
  ComputeReader,
  ComputeEngine
>();

const accountShape = z.strictObject({ account: z.string() });
const accountOf = ({ subject }: { readonly subject: { readonly spec: ComputeProviderSpec } }) => ({
  account: subject.spec.account,
});

/** Whether the credential opens anything, and that it opens nobody else's account. */
const credential = step({
  name: "credential",
  input: accountShape,
  output: z.object({ claimed: z.boolean() }),
  given: accountOf,
  run: async (context, { account }) => {
    const identity = await questions(context).identity();
    const { sentinel } = identity;
    if (isAnothers(context, identity))
      throw new TerminalError(
        "PRECONDITION_FAILED",
        `Account '${account}' is claimed by installation ${sentinel?.installationId}: a second claimant is refused. Use an account of its own`,
      );
    context.progress(sentinel === undefined ? "the credential is accepted" : "the credential sees the sentinel");
    return { claimed: sentinel !== undefined };
  },
});

/** Asked before anything is left there: a credential that may only look is no way to keep something. */
const rights = step({
  name: "rights",
  input: accountShape,
  output: z.object({ write: z.boolean() }),
  given: accountOf,
  run: async (context, { account }) => {
    const answer = await questions(context).rights();
    if (answer !== undefined && !answer.write)
      throw new TerminalError(
        "CREDENTIAL_REFUSED",
        `The credential of account '${account}' may not write: ${answer.reason}. Store one that may, or set the mode to observe`,
      );
    if (answer !== undefined) context.progress(answer.reason);
    return { write: answer !== undefined };
  },
});

/**
 * What the account is known by from here on. The engine itself leaves the sentinel and records the fingerprint before the first
 * write of anybody, under this step's permit; there is nothing further to write.
 */
const fingerprint = effect({
  name: "fingerprint",
  change: "update",
  input: accountShape,
  output: z.object({ fingerprint: z.string() }),
  given: accountOf,
  key: ({ subject }) => `claim of ${subject.spec.account}`,
  look: async (context) => {
    const asked = questions(context);
    const identity = await asked.identity();
    if (isAnothers(context, identity)) return { ...known(identity), markedBy: identity.sentinel?.installationId };
    return asked.fingerprint === identity.fingerprint ? known(identity) : "absent";
  },
  call: async (context) => known(await questions(context).identity()),
});

/** A credential that does not see what was left there is another account's, whatever was written with another one. */
const active = waitFor({
  name: "active",
  everySeconds: 5,
  atMostSeconds: 600,
  until: async (context) => {
    const asked = questions(context);
    const { fingerprint: seen } = await asked.identity();
    return (
      seen === asked.fingerprint || `the account answers as ${seen} and is known as ${asked.fingerprint ?? "none"}`
    );
  },
});

export const providerOnboard = definePipeline({
  name: "provider.onboard",
  version: 1,
  summary: "checks the credential and its rights, claims the account, and takes the first complete inventory",
  startsWith: () => true,
  steps: [credential, rights, fingerprint, converge({ name: "inventory" }), active],
});

function known({ fingerprint: value }: AccountIdentity) {
  return { externalId: value, output: { fingerprint: value } };
}

function isAnothers({ marker }: StepContext, { sentinel }: AccountIdentity): boolean {
  return sentinel !== undefined && sentinel.installationId !== marker.installationId;
}

function questions({ account, subject }: StepContext): AccountQuestions {
  if (account !== undefined) return account;
  throw new TerminalError("ACCOUNT_UNKNOWN", `ComputeProvider/${subject.name} lives at no account`);
}
