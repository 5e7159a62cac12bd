import type { AccountRecord, CycleInput, SubjectMemory } from "../ports/records.ts";
import { accountProblemOf } from "./account-claim.ts";
import type { Engine } from "./claim.ts";
import type { Facts } from "./facts.ts";
import { isRemediation } from "./guards/too-many-at-once.ts";
import type { Plan } from "./plan.ts";
import type { Policy } from "./policy.ts";
import type { Scene, Still } from "./scene.ts";

/** Subjects that went bad within this time of one another went bad together; longer where they are looked at more rarely. */
const SUSPECT_WINDOW_MS = 10 * 60_000;

/** What the guards are told: what the look showed, and what only the outside and the store can answer. */
export async function factsOf(scene: Scene, plan: Plan, memory: SubjectMemory): Promise<Facts> {
  const { engine, claim, input, lookout, policy } = scene;
  const account = plan.changes.length === 0 ? undefined : input.account;
  const remediation = plan.changes.some(isRemediation);
  const asked = { notBeforeMonotonicMs: scene.seen.startedAtMonotonicMs, signal: claim.signal };
  return factsFrom(scene, plan, memory, {
    quietSinceMs:
      claim.quietSinceMonotonicMs === undefined ? undefined : lookout.sinceStoreMs(claim.quietSinceMonotonicMs),
    accountProblem: account === undefined ? undefined : await accountProblemOf(engine, input, account, asked),
    rightsProblem: account === undefined ? undefined : await rightsProblemOf(engine, account, policy, claim.signal),
    health: remediation && input.account !== undefined ? await healthOf(scene, input.account, plan) : undefined,
  });
}

/** The facts that somebody had to ask the outside or the store for. */
export type AskedFacts = Pick<Facts, "quietSinceMs" | "accountProblem" | "rightsProblem" | "health">;

export function factsFrom(scene: Still, plan: Plan, memory: SubjectMemory, asked: AskedFacts): Facts {
  const { input, lookout, policy, desired } = scene;
  return {
    ...asked,
    nowMs: lookout.storeNowMs(),
    policy,
    pauses: input.pauses,
    hold: input.hold,
    plan,
    completeness: scene.seen.completeness,
    observedFromMs: lookout.toStoreMs(scene.seen.startedAtMonotonicMs),
    leaving: input.resource.deletion,
    // What is being replaced has its old thing's id on record: that thing is ours until it is gone.
    owned: memory.owned.filter((item) => item.externalId !== undefined).length,
    wanted: desired.items.length,
    desiredKnown: desired.known && desired.whole,
    zeroDeclared: desired.zeroDeclared,
    findings: memory.findings,
    fights: memory.fights,
    stoppedKeys: new Set((memory.stops ?? []).map((stop) => stop.key)),
    stoppedBecause: memory.stops?.map(({ code, message }) => `${code}: ${message}`)[0],
    replacement: scene.loop.replacement,
    grants: new Map(input.grants.map((grant) => [grant.itemDigest, grant])),
    confirmed: confirmedKeys(input, plan, policy),
    covered: desired.covered,
  };
}

export async function rightsProblemOf(
  engine: Engine,
  account: AccountRecord,
  policy: Policy,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (policy.mode === "observe") return undefined;
  const asked = { notBeforeMonotonicMs: engine.clock.monotonicMs(), forPerson: true, signal };
  const rights = await engine.accounts.rights(account, asked);
  if (rights === undefined) return undefined;
  const problem = `the credential of account '${account.name}' may not write: ${rights.reason}`;
  return rights.write ? undefined : `${problem}. Store one that may, or set the mode to observe`;
}

/**
 * How the account fares around the time this subject went bad, and now: what went bad together stays suspect for as long as it is
 * bad, and who was bad already is no better off than the others.
 */
async function healthOf(scene: Scene, account: AccountRecord, plan: Plan): Promise<Facts["health"]> {
  const site = scene.loop.site?.(scene.subject);
  const badSinceMs = scene.input.status?.badSinceMs;
  const nowMs = scene.lookout.storeNowMs();
  const { newlyBad } = scene.engine.accounts;
  if (badSinceMs === undefined && plan.changes.some((change) => change.missing))
    newlyBad.add(account.id, scene.input.subject.id, site);
  const { atSite, ...health } = await scene.engine.store.accountHealth({
    accountId: account.id,
    site,
    aroundMs: badSinceMs === undefined ? [nowMs] : [badSinceMs, nowMs],
    windowMs: Math.max(SUSPECT_WINDOW_MS, scene.loop.everySeconds * 1_000),
  });
  const whole = { ...health, bad: health.bad + newlyBad.count(account.id) };
  if (site === undefined || atSite === undefined) return whole;
  return { ...whole, atSite: { ...atSite, bad: atSite.bad + newlyBad.countAt(account.id, site), site } };
}

/** A person who deletes by name and confirms the count approves in the same request, unless four eyes applies. */
function confirmedKeys(input: CycleInput, plan: Plan, policy: Policy): ReadonlySet<string> {
  const deletes = plan.changes.filter((change) => change.action === "delete");
  const confirmed = new Set<string>();
  if (policy.fourEyes) return confirmed;
  for (const resource of [input.resource, ...input.inputs]) {
    const { deletion } = resource;
    if (deletion?.confirmedCount === undefined || deletion.author.type !== "person") continue;
    const covered =
      resource.uid === input.resource.uid
        ? deletes
        : deletes.filter((change) => change.owned?.sources.every((uid) => uid === resource.uid) === true);
    const count = covered.reduce((sum, change) => sum + change.weight, 0);
    if (count <= deletion.confirmedCount) for (const change of covered) confirmed.add(change.key);
  }
  return confirmed;
}
