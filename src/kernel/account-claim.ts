import type { AccountIdentity, ProviderAccount } from "../ports/provider.ts";
import type { AccountRecord, ChangeRecord, CycleInput, SubjectMemory } from "../ports/records.ts";
import { isAnother, overlapOf } from "./account-overlap.ts";
import type { WriteResult } from "./act.ts";
import type { Engine } from "./claim.ts";
import type { Scene } from "./scene.ts";
import { RetryableError, toEngineError } from "./errors.ts";
import type { AccountProblem } from "./facts.ts";
import { PERMIT_MARGIN_MS } from "./fence.ts";
import { withTimeLimit } from "./time-limit.ts";

/** Whether the account on the other side is still the one we know, and still this incarnation's. */
export async function accountProblemOf(
  engine: Engine,
  input: CycleInput,
  account: AccountRecord,
  asked: { readonly notBeforeMonotonicMs: number; readonly signal: AbortSignal },
): Promise<AccountProblem | undefined> {
  const { installation } = input;
  const identity = await engine.accounts.identity(account, asked);
  const stranger = await strangerProblemOf(engine, input, account, { ...asked, identity });
  if (stranger !== undefined) return stranger;
  const { sentinel } = identity;
  if (sentinel !== undefined && sentinel.installationId !== installation.id) {
    return {
      reason: `account '${account.name}' is claimed by installation ${sentinel.installationId}: a second claimant is refused`,
      reclaim: undefined,
      numbers: {},
    };
  }
  // A backup from before the account was claimed knows nothing of that; the sentinel does.
  const older = sentinel !== undefined && sentinel.incarnation < installation.incarnation;
  const claimed = account.claimedIncarnation ?? (older ? sentinel.incarnation : undefined);
  const reclaim = { accountId: account.id, incarnation: installation.incarnation };
  if (claimed !== undefined && claimed !== installation.incarnation) {
    return {
      reason: `this database was restored: account '${account.name}' was last claimed by incarnation ${claimed}, ours is ${installation.incarnation}; one approval reclaims it`,
      reclaim,
      numbers: { claimed, incarnation: installation.incarnation },
    };
  }
  if (sentinel !== undefined && sentinel.incarnation > installation.incarnation) {
    return {
      reason: `account '${account.name}' belongs to a newer incarnation (${sentinel.incarnation}) than this database (${installation.incarnation}): this is a copy`,
      reclaim: undefined,
      numbers: { sentinel: sentinel.incarnation, incarnation: installation.incarnation },
    };
  }
  return undefined;
}

/**
 * Whether it is another account. Where the sentinel is what an account is known by, somebody may have deleted it, and a new one has
 * another id: then what is on record there tells, and a person's approval leaves the sentinel anew.
 */
async function strangerProblemOf(
  engine: Engine,
  { installation }: CycleInput,
  account: AccountRecord,
  {
    identity,
    ...asked
  }: { readonly identity: AccountIdentity; readonly notBeforeMonotonicMs: number; readonly signal: AbortSignal },
): Promise<AccountProblem | undefined> {
  const { fingerprint, unclaimed, sentinel } = identity;
  const isKnown = account.fingerprint === fingerprint;
  const refused = (why: string, numbers = {}): AccountProblem => ({
    reason: `account '${account.name}' answers as another account (${why}): nothing is changed through it`,
    reclaim: undefined,
    numbers,
  });
  if (isKnown || (account.fingerprint === undefined && unclaimed !== true)) return undefined;
  const instead = `${fingerprint} instead of ${account.fingerprint ?? "none yet"}`;
  const bySentinel = engine.accounts.world(account).knownBySentinel === true;
  if (!bySentinel || (unclaimed !== true && sentinel?.installationId !== installation.id)) return refused(instead);
  const overlap = await overlapOf(engine, account, asked);
  if ("unknown" in overlap) {
    return account.fingerprint === undefined
      ? undefined
      : refused(`${instead}; whether what is on record is there is not known: ${overlap.unknown}`);
  }
  const numbers = { recorded: overlap.recorded, visible: overlap.visible };
  const seen = `${overlap.visible} of ${overlap.recorded} things on record are there`;
  const nothingKnown = overlap.recorded === 0 && unclaimed !== true;
  if (isAnother(overlap) || nothingKnown) return refused(`${instead}; ${seen}`, numbers);
  if (account.fingerprint === undefined) return undefined;
  return {
    reason: `what was left at account '${account.name}' to know it by (${account.fingerprint}) is gone; ${seen}. If it is the same account, one approval leaves it anew`,
    reclaim: { accountId: account.id, incarnation: installation.incarnation },
    numbers,
  };
}

/** What the claim needs of whoever is about to write. */
export type Claiming = Pick<Scene, "engine" | "input" | "claim"> & {
  readonly seen: Pick<Scene["seen"], "startedAtMonotonicMs">;
  readonly lookout: Pick<Scene["lookout"], "callTimeoutMs" | "storeNowMs">;
};

/**
 * The first write to an account leaves our sentinel there, and so does the first one after an approved reclaim.
 * It is an external write like any other: under a permit, recorded before and after. Returns why it could not be made.
 */
export async function claimAccount(scene: Claiming, memory: SubjectMemory): Promise<WriteResult | undefined> {
  const { engine, input, claim } = scene;
  const { account, installation } = input;
  if (account === undefined) return undefined;
  const notBeforeMonotonicMs = scene.seen.startedAtMonotonicMs;
  let identity = await engine.accounts.identity(account, { notBeforeMonotonicMs, signal: claim.signal });
  const world = engine.accounts.world(account);
  if (world.claim !== undefined && identity.sentinel?.incarnation !== installation.incarnation) {
    const refused = await writeSentinel(scene, memory, world.claim.bind(world));
    if (refused !== undefined) return refused;
    engine.accounts.forget(account.id);
    // Only now is it known. One credential that does not see what the other one wrote belongs to another account.
    if (world.knownBySentinel === true) {
      identity = await engine.accounts.identity(account, { notBeforeMonotonicMs, signal: claim.signal });
      if (identity.sentinel?.installationId !== installation.id)
        return { ended: "failed", memory, error: notSeen(account) };
    }
  }
  if (account.fingerprint === undefined || account.claimedIncarnation === undefined) {
    await engine.store.recordAccount({
      accountId: account.id,
      fingerprint: identity.fingerprint,
      claimedIncarnation: installation.incarnation,
    });
  }
  return undefined;
}

function notSeen({ name }: AccountRecord): RetryableError {
  return new RetryableError(
    "DEPENDENCY_NOT_READY",
    `Account '${name}': what was left there to know it again is not seen. If this lasts, its credentials for looking and for acting belong to different accounts`,
    { ambiguous: false },
  );
}

async function writeSentinel(
  scene: Claiming,
  memory: SubjectMemory,
  put: NonNullable<ProviderAccount["claim"]>,
): Promise<WriteResult | undefined> {
  const { engine, input, claim, lookout } = scene;
  const sentinel = { installationId: input.installation.id, incarnation: input.installation.incarnation };
  const permitId = engine.ids.next();
  const change: ChangeRecord = {
    id: engine.ids.next(),
    action: "adopt",
    key: "account sentinel",
    externalId: input.account?.id,
    trigger: claim.trigger,
    differences: [{ field: "/incarnation", wanted: sentinel.incarnation, seen: null }],
    declaredBy: [],
    verdicts: [],
    intendedAtMs: lookout.storeNowMs(),
  };
  const base = { actor: claim.actor, subject: input.subject, permitId };
  const permit = await engine.store.permit({
    ...base,
    inputs: { check: "version", inputVersion: input.inputVersion },
    deletes: false,
    forMs: lookout.callTimeoutMs + PERMIT_MARGIN_MS,
    changes: [change],
    memory,
    grantIds: [],
  });
  if (!permit.granted) return { ended: "refused", memory, answer: permit };
  const limit = { ms: lookout.callTimeoutMs, signal: claim.signal, what: "claim of the account" };
  const error = await withTimeLimit(engine.clock, limit, (signal) => put(sentinel, signal)).then(
    () => undefined,
    toEngineError,
  );
  const outcome = {
    changeId: change.id,
    result: error === undefined ? ("done" as const) : ("failed" as const),
    answer: error?.message ?? "ok",
    endedAtMs: lookout.storeNowMs(),
  };
  const kept = await engine.store.recordOutcome({ ...base, outcomes: [outcome], memory, claims: [], releases: [] });
  if (!kept) return { ended: "lost", memory };
  return error === undefined ? undefined : { ended: "failed", memory, error };
}
