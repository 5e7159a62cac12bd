import type { Claim, CycleReport, Engine } from "../../src/kernel/claim.ts";
import type { ShardLease } from "../../src/ports/engine-store.ts";

const leaseMs = 15_000;
const renewEveryMs = 5_000;

/**
 * The smallest scheduler there can be: one lease after the other, one cycle after the other, in a fixed order. Crash points
 * are counted on it, so that the same run passes the same points in the same order every time.
 */
export function startPlainScheduler(
  engine: Engine,
  options: {
    readonly holder: string;
    readonly runCycle: (engine: Engine, claim: Claim) => Promise<CycleReport>;
    readonly everyMs: number;
    /** Shards worth holding; the others have no subjects. */
    readonly shards: number;
  },
): { poke(): void; readonly ended: Promise<never> } {
  let woken = new AbortController();
  const run = async (): Promise<never> => {
    const state: Held = { leases: [], sentAtMs: 0, takenAtMs: 0, lookedAtMs: new Map() };
    for (;;) {
      await turn(engine, options, state).catch(() => {});
      await engine.clock.wait(500, woken.signal);
      if (woken.signal.aborted) woken = new AbortController();
    }
  };
  return { poke: () => woken.abort(), ended: run() };
}

interface Held {
  leases: readonly ShardLease[];
  sentAtMs: number;
  takenAtMs: number;
  readonly lookedAtMs: Map<number, number>;
}

async function turn(engine: Engine, options: Parameters<typeof startPlainScheduler>[1], state: Held): Promise<void> {
  const { clock, store } = engine;
  await keepLeases(engine, options, state);
  const shards = state.leases.map(({ shard }) => shard);
  const due = await store.dueSubjects({ shards, limit: 100 });
  const triggers = new Map(due.map((entry) => [entry.id, entry.priority]));
  for (const lease of state.leases) {
    for (const { id } of await store.listSubjects({ shard: lease.shard, afterId: 0, limit: 100 })) {
      const nowMs = clock.monotonicMs();
      const lookedAtMs = state.lookedAtMs.get(id);
      const periodic = lookedAtMs === undefined || nowMs - lookedAtMs >= options.everyMs;
      const trigger = triggers.get(id) ?? (periodic ? "resync" : undefined);
      if (trigger === undefined) continue;
      state.lookedAtMs.set(id, nowMs);
      await keepLeases(engine, options, state);
      const claim: Claim = {
        subjectId: id,
        actor: { holder: options.holder, shard: lease.shard, epoch: lease.epoch },
        quietSinceMonotonicMs: lease.quiet ? state.takenAtMs : undefined,
        trigger,
        leaseRemainingMs: () => Math.max(0, leaseMs - (clock.monotonicMs() - state.sentAtMs)),
        signal: new AbortController().signal,
      };
      await options.runCycle(engine, claim);
    }
  }
}

async function keepLeases(engine: Engine, options: { readonly holder: string; readonly shards: number }, state: Held) {
  const { clock, store } = engine;
  const { holder } = options;
  const sentAtMs = clock.monotonicMs();
  if (state.leases.length > 0 && sentAtMs - state.sentAtMs < renewEveryMs) return;
  if (state.leases.length > 0) {
    const kept = new Set(await store.renewShards({ holder, leaseMs, shards: state.leases }));
    state.leases = state.leases.filter(({ shard }) => kept.has(shard));
    state.sentAtMs = sentAtMs;
  }
  if (state.leases.length >= options.shards) return;
  state.leases = [];
  state.leases = await store.takeShards({ holder, wanted: options.shards, leaseMs });
  state.sentAtMs = sentAtMs;
  state.takenAtMs = sentAtMs;
}
