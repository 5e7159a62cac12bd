import assert from "node:assert/strict";
import { canonical } from "../../../src/kernel/hash.ts";
import type { Ids } from "../../../src/ports/ids.ts";
import { MemoryStore } from "../../sim/memory-store.ts";
import { dumpPostgres } from "./dump.ts";
import { Dice, Historian, opening, type Step } from "./histories.ts";
import { openStores, resetDatabase, type Stores } from "./stores.ts";

type Answer = { readonly answer: unknown } | { readonly error: string };

/** Replays random histories on one database; its connections, with their prepared statements, are used by all. */
export interface Replay extends AsyncDisposable {
  /**
   * Replays one random history on the twin and on PostgreSQL, step by step at the same virtual time. Every answer must
   * be the same, and at the end everything stored. `seed` alone decides the history: a failure names it.
   */
  run(seed: number, steps: number): Promise<void>;
}

export function openReplay(url: string, onStep?: (step: Step) => Promise<void>): Replay {
  let nowMs = 0;
  let ids = countingIds();
  const stores = openStores(url, { nowMs: () => nowMs, ids: { next: () => ids.next() } });
  return {
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
    async run(seed, steps) {
      nowMs = 1_700_000_000_000;
      ids = countingIds();
      const installationId = `installation-${seed}`;
      await resetDatabase(url, installationId);
      const twin = new MemoryStore({ nowMs: () => nowMs, ids: countingIds(), installationId });
      const dice = new Dice(seed);
      const historian = new Historian(dice, twin);
      const beginning = opening();
      const told: string[] = [];
      for (let index = 0; index < beginning.length + steps; index++) {
        const step = beginning[index] ?? historian.step();
        told.push(`${nowMs} ${step.method} ${JSON.stringify(step.request)}`);
        const [ours, theirs] = [await ask(stores, step), await ask(twin, step)];
        await onStep?.(step);
        assert.deepEqual(ours, theirs, `seed ${seed}, step ${index}: ${told.slice(-3).join("\n")}`);
        if (dice.chance(0.3)) nowMs += dice.chance(0.03) ? 3_000_000 : dice.pick([1, 20, 900, 4_000]);
      }
      const message = `seed ${seed}: the stores differ after the history`;
      assert.deepEqual(await dumpPostgres(url, nowMs), arranged(twin.dump()), message);
    },
  };
}

async function ask(target: Stores | MemoryStore, { method, request }: Step): Promise<Answer> {
  try {
    return { answer: comparable(await call(target, method, request)) };
  } catch (thrown) {
    // Which error it is matters only where the engine acts on it.
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
    return { error: code === "SECOND_CLAIMANT" ? code : "an error" };
  }
}

function call(target: Stores | MemoryStore, method: Step["method"], request: Step["request"]): Promise<unknown> {
  const owners = target instanceof MemoryStore ? [target] : [target.engine, target.operations, target.operationIntents];
  const owner = owners.find((one) => method in one) ?? (target as Stores).intent;
  const found = (owner as unknown as Record<string, (request: unknown) => Promise<unknown>>)[method];
  assert.ok(found, `${method} is missing`);
  return found.call(owner, request);
}

/** Without `undefined`, and without the text that explains a refusal to people. */
function comparable(answer: unknown): unknown {
  if (answer === undefined) return undefined;
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) => (key === "detail" ? undefined : value)) as unknown;
}

/** The twin sorts rows by their own canonical text; ours lose `null` fields, so both are sorted anew. */
function arranged(dump: unknown): unknown {
  return Object.fromEntries(
    Object.entries(dump as Record<string, unknown>).map(([name, rows]) => {
      if (!Array.isArray(rows) || name === "subjects" || name === "shards" || name === "workerShards")
        return [name, rows];
      return [name, rows.toSorted((left, right) => (canonical(left) < canonical(right) ? -1 : 1))];
    }),
  );
}

function countingIds(): Ids {
  let last = 0;
  return { next: () => `id-${String(++last).padStart(6, "0")}` };
}
