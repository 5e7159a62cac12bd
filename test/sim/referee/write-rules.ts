import type { WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";
import { longestLeaseMs } from "./lease-rules.ts";
import type { Ledger } from "./ledger.ts";
import { isStep } from "./operation-rules.ts";
import { leasesOf } from "./permit-rules.ts";
import type { WatchedCycle } from "./snapshot-rules.ts";
import { Violation } from "./witness.ts";

/** A shared listing may be this old when a cycle uses it. */
const listingAgeMs = 10_000;

/** Judges a write as it starts, by what its cycle could know. */
export function judgeWrite(
  ledger: Ledger,
  process: SimProcess,
  call: WriteCall,
  cycle: WatchedCycle | undefined,
): void {
  const nameless = call.changes.find(({ effect, key, id }) => id === "" || (effect === "create" && key === ""));
  if (nameless !== undefined) {
    throw new Violation("no wildcards", `${process.name}: ${nameless.effect} of '${nameless.key}' (${nameless.id})`);
  }
  if (cycle === undefined) return;
  const permit = ledger.permits.get(ledger.state.tables.subjects.get(cycle.input.subject.id)?.permit?.id ?? "");
  // An operation's rights are checked when it is admitted, for all of its steps; the last of them may come much later.
  if (permit?.request.changes.some(isStep) !== true) judgeRights(ledger, process, call, cycle);
  judgeLocks(ledger, process, call, cycle);
  judgeLease(ledger, process, cycle);
}

/** Nothing is begun with a credential that could not write when the cycle asked. */
function judgeRights(ledger: Ledger, process: SimProcess, { accountId }: WriteCall, cycle: WatchedCycle): void {
  const sinceMs = ledger.readOnlyAtMs.get(accountId) ?? Number.POSITIVE_INFINITY;
  if (ledger.outside.connection(accountId).readOnly && sinceMs < cycle.loadedAtMs) {
    throw new Violation("all or nothing", `${process.name} begins a write at ${accountId}, which may only be read`);
  }
}

/** What has been locked for so long that every look shows it is not deleted. */
function judgeLocks(ledger: Ledger, process: SimProcess, call: WriteCall, cycle: WatchedCycle): void {
  const outside = ledger.outside.answering(call.accountId);
  for (const { effect, id } of call.changes) {
    const thing = effect === "delete" ? outside.things.get(id ?? "") : undefined;
    if (thing?.lock === undefined) continue;
    if (thing.lockedAtMs < cycle.loadedAtMs - listingAgeMs - outside.settleMs) {
      throw new Violation("protection", `${process.name} deletes ${thing.id}, which is locked: ${thing.lock}`);
    }
  }
}

/** No call starts that could outlive the lease it is made under. */
function judgeLease(ledger: Ledger, process: SimProcess, cycle: WatchedCycle): void {
  if (ledger.nowMs - ledger.leasesClearedAtMs < longestLeaseMs) return;
  const { id, shard } = cycle.input.subject;
  const permit = ledger.permits.get(ledger.state.tables.subjects.get(id)?.permit?.id ?? "");
  // The second half of a replacement has what the first one left of their time, which was judged when they started.
  if (permit !== undefined && permit.calls > 0) return;
  const lease = leasesOf(ledger.state.tables, permit?.request.actor ?? {})[shard];
  const leftMs = (lease?.untilMs ?? 0) - ledger.nowMs;
  if (leftMs < ledger.callTimeoutMs) {
    throw new Violation("lease", `${process.name} starts a call of ${ledger.callTimeoutMs} ms with ${leftMs} ms left`);
  }
}
