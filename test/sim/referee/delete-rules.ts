import type { DeleteLimit } from "../../../src/ports/records.ts";
import type { Thing } from "../outside/outside.ts";
import { type Ledger, leaseKey, levelName, levelsOf, type PermitTruth } from "./ledger.ts";
import { type StartedWrite, Violation } from "./witness.ts";

function allowed(limit: DeleteLimit, owned: number): number {
  return Math.min(limit.count, Math.max(limit.atLeast, Math.floor((owned * limit.percent) / 100)));
}

/** Everything that must be true when a thing of ours goes. */
export function judgeDelete(ledger: Ledger, started: StartedWrite, permit: PermitTruth, thing: Thing): void {
  const key = permit.subject.kind === "SimZone" ? thing.id : thing.key;
  const name = `${started.process.name} deletes ${thing.id} (${key}) of ${permit.subject.kind}/${permit.subject.name}`;
  const replaced = permit.request.changes.some((change) => change.key === key && change.action === "replace");
  if (!replaced) judgeUnwanted(ledger, permit, key, name);
  judgeMarker(ledger, started, permit, thing, name);
  judgeLook(ledger, started, permit, thing, name);
  if (!replaced && !isDeclared(ledger, permit, key)) judgeInferred(ledger, permit, thing, key, name);
  judgeBudgets(ledger, permit, key, name);
}

/** Nothing that is wanted goes, nothing goes on an unknown desired set, and emptiness needs a person. */
function judgeUnwanted(ledger: Ledger, permit: PermitTruth, key: string, name: string): void {
  const { wanted } = permit;
  if (wanted.leaving) return;
  if (!wanted.known) throw new Violation("evidence", `${name}: the desired set was unknown`);
  if (wanted.items.has(key) || (wanted.kept.has(key) && !hasMoved(permit, key))) {
    throw new Violation("wanted", `${name}: it is wanted`);
  }
  if (wanted.items.size + wanted.kept.size > 0 || (permit.cycle?.owned ?? 0) < 2) return;
  if (!permit.approved.has(key))
    throw new Violation("empty desired", `${name}: nothing is wanted, and nobody approved`);
  if (!wanted.zero && !isDeclared(ledger, permit, key))
    throw new Violation("empty desired", `${name}: nobody declared it`);
}

/**
 * Whether every source that cannot be read is remembered with a good value of another key: it moved here and broke before
 * any cycle could read it, so nobody can know.
 */
function hasMoved({ request, wanted }: PermitTruth, key: string): boolean {
  const remembered = request.memory.lastDesired ?? [];
  const isKnown = (uid: string) => remembered.some(({ sources }) => sources.some((source) => source.uid === uid));
  const hasGoodValues = wanted.broken.size > 0 && [...wanted.broken].every(isKnown);
  return hasGoodValues && !remembered.some((stored) => stored.key === key);
}

/** Declared deleted: the resource leaves, or every resource that declared the item has a tombstone or is gone. */
function isDeclared(ledger: Ledger, permit: PermitTruth, key: string): boolean {
  if (permit.wanted.leaving) return true;
  const { tables } = ledger.state;
  const dead = (uid: string) => {
    const resource = tables.resources.get(uid);
    return resource === undefined || resource.deletion !== undefined;
  };
  const written = permit.request.memory.owned.find((item) => item.key === key)?.sources ?? [];
  const last = ledger.wanted.lastWanted(permit.subject.id, key)?.sources ?? [];
  return [written, last].some((sources) => sources.length > 0 && sources.every(dead));
}

/** What a stranger did to the marker before the process last looked must have stopped it. */
function judgeMarker(ledger: Ledger, started: StartedWrite, permit: PermitTruth, thing: Thing, name: string): void {
  if (permit.subject.kind !== "SimSet") return;
  const readAtMs = ledger.reads.get(`${started.process.number} ${thing.id}`);
  if (readAtMs === undefined || readAtMs < (permit.cycle?.loadedAtMs ?? 0)) {
    throw new Violation("evidence", `${name}: it was not read right before`);
  }
  const { marker } = thing;
  const ours =
    typeof marker === "object" && "resourceUid" in marker && marker.resourceUid === permit.subject.resourceUid;
  if (!ours && thing.markedAtMs < readAtMs) throw new Violation("ownership", `${name}: it did not carry our marker`);
}

/** A complete look of this very process that shows the thing, begun after it took the lease. */
function judgeLook(ledger: Ledger, started: StartedWrite, permit: PermitTruth, thing: Thing, name: string): void {
  const { shard } = permit.subject;
  const lease = ledger.leases.get(leaseKey(shard, permit.request.actor));
  const fromMs = lease?.quiet === true ? lease.atMs : 0;
  const looks = ledger.looks.get(started.call.accountId) ?? [];
  const seen = looks.some(
    (look) =>
      look.process === started.process &&
      look.startedAtMs >= fromMs &&
      look.ids.has(thing.id) &&
      (look.group === undefined || look.group === thing.group),
  );
  if (!seen) throw new Violation("evidence", `${name}: no complete look of this lease shows it`);
}

/** Found unwanted, and looked at again long enough after that. */
function judgeInferred(ledger: Ledger, permit: PermitTruth, thing: Thing, key: string, name: string): void {
  const foundAtMs = ledger.unwantedAtMs.get(`${permit.subject.id} ${key}`) ?? ledger.nowMs;
  const times = (ledger.looks.get(permit.subject.accountId ?? "") ?? [])
    .filter((look) => look.ids.has(thing.id))
    .map((look) => look.startedAtMs);
  const apartMs = Math.max(...times) - foundAtMs;
  if (apartMs < ledger.limits.confirmAfterMs) {
    throw new Violation("evidence", `${name}: inferred by a look only ${apartMs} ms after the first finding`);
  }
}

export function judgeBudgets(ledger: Ledger, permit: PermitTruth, key: string, name: string): void {
  const { cycle, subject } = permit;
  if (cycle === undefined) throw new Violation("delete budget", `${name}: outside any cycle`);
  cycle.reserved -= 1;
  if (cycle.reserved < 0) throw new Violation("delete budget", `${name}: it was not reserved`);
  if (permit.approved.has(key)) return;
  cycle.ungrantedDeletes += 1;
  const most = allowed(ledger.limits.deletesPerCycle, cycle.owned);
  if (cycle.ungrantedDeletes > most) {
    throw new Violation("delete budget", `${name}: number ${cycle.ungrantedDeletes} of this cycle, ${most} allowed`);
  }
  const levels = levelsOf(subject);
  ledger.ungranted.push({ atMs: ledger.nowMs, levels });
  const fromMs = ledger.nowMs - 59 * 60_000;
  for (const level of levels) {
    const used = ledger.ungranted.filter((entry) => entry.atMs > fromMs && entry.levels.includes(level)).length;
    const limit = allowed(ledger.limits.deletesPerHour[levelName(level)], ledger.mostOwned.get(level) ?? 0);
    if (used > limit)
      throw new Violation("delete budget", `${name}: number ${used} in an hour of ${level}, ${limit} allowed`);
  }
}
