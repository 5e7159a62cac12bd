import type { Claim, CycleReport, Engine } from "../../src/kernel/claim.ts";
import { SHARDS } from "../../src/kernel/hash.ts";
import type { DueSubject, ShardLease } from "../../src/ports/engine-store.ts";

const leaseMs = 15_000;
const renewEveryMs = 5_000;
const pollEveryMs = 2_000;

export interface PlainOptions {
  readonly holder: string;
  readonly runCycle: (engine: Engine, claim: Claim) => Promise<CycleReport>;
  readonly everyMs: number;
}

/**
 * The smallest scheduler there can be: one shard, one cycle after the other, in a fixed order. Crash points are counted on
 * it, so that the same run passes the same points in the same order every time.
 */
export function startPlainScheduler(engine: Engine, options: PlainOptions): { poke(): void } {
  const state: Held = { lease: undefined, sentAtMs: 0, takenAtMs: 0, lookedAtMs: new Map() };
  let woken = new AbortController();
  const run = async (): Promise<never> => {
    for (;;) {
      // Whatever a turn ended with, the next one starts from the store again.
      await turn(engine, options, state).catch(() => {});
      await engine.clock.wait(pollEveryMs, woken.signal);
      if (woken.signal.aborted) woken = new AbortController();
    }
  };
  void run();
  return { poke: () => woken.abort() };
}

interface Held {
  lease: ShardLease | undefined;
  sentAtMs: number;
  takenAtMs: number;
  readonly lookedAtMs: Map<number, number>;
}

async function turn(engine: Engine, options: PlainOptions, state: Held): Promise<void> {
  const { clock, store } = engine;
  const lease = await keepLease(engine, options, state);
  if (lease === undefined) return;
  const due = await store.dueSubjects({ shards: [lease.shard], limit: 100 });
  const subjects = await store.listSubjects({ shard: lease.shard, afterId: 0, limit: 100 });
  for (const { id } of subjects) {
    const trigger = triggerOf(id, due, state.lookedAtMs.get(id), clock.monotonicMs() - options.everyMs);
    const held = trigger === undefined ? undefined : await keepLease(engine, options, state);
    if (trigger === undefined || held === undefined) continue;
    state.lookedAtMs.set(id, clock.monotonicMs());
    await options.runCycle(engine, {
      subjectId: id,
      actor: { holder: options.holder, shard: held.shard, epoch: held.epoch },
      quietSinceMonotonicMs: held.quiet ? state.takenAtMs : undefined,
      trigger,
      leaseRemainingMs: () => Math.max(0, leaseMs - (clock.monotonicMs() - state.sentAtMs)),
      signal: new AbortController().signal,
    });
  }
}

function triggerOf(id: number, due: readonly DueSubject[], lookedAtMs: number | undefined, beforeMs: number) {
  const edge = due.find((entry) => entry.id === id);
  if (edge !== undefined) return edge.priority;
  return lookedAtMs === undefined || lookedAtMs <= beforeMs ? "resync" : undefined;
}

/** Renews in time, and counts what is left from before the request was sent. */
async function keepLease(engine: Engine, { holder }: PlainOptions, state: Held): Promise<ShardLease | undefined> {
  const { clock, store } = engine;
  const sentAtMs = clock.monotonicMs();
  const { lease } = state;
  if (lease !== undefined && sentAtMs - state.sentAtMs < renewEveryMs) return lease;
  state.lease = undefined;
  if (lease !== undefined) {
    const kept = await store.renewShards({ holder, leaseMs, shards: [lease] });
    if (kept.includes(lease.shard)) state.lease = lease;
  } else {
    // Everything that is free is taken, only the one shard is used: while somebody else has it, ask again.
    const leases = await store.takeShards({ holder, wanted: SHARDS, leaseMs });
    state.lease = leases.find(({ shard }) => shard === 0);
    state.takenAtMs = sentAtMs;
  }
  state.sentAtMs = sentAtMs;
  return state.lease;
}
