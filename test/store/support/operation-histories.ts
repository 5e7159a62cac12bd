import type { Actor, Settlement } from "../../../src/ports/engine-store.ts";
import type { NewEntry, OperationMove, SteerCommand } from "../../../src/ports/operation-store.ts";
import type { MemoryStore } from "../../sim/memory-store.ts";
import type { OperationRow, SubjectRow } from "../../sim/store/rows.ts";
import type { Dice, Step } from "./histories.ts";

const workers = ["worker-1", "worker-2"];
const steps = ["box", "lid"];
const ada = { name: "ada", type: "person" } as const;

/** Steps about operations that make sense in the twin's present state, and now and then ones that do not. */
export function operationStep(dice: Dice, twin: MemoryStore, id: (prefix: string) => string): Step {
  const { tables } = twin.state;
  const all = [...tables.operations.values()];
  const live = all.filter((row) => row.endedAtMs === undefined);
  const row = live.length > 0 && dice.chance(0.9) ? dice.pick(live) : all.length > 0 ? dice.pick(all) : undefined;
  const roll = dice.next();
  if (row === undefined || roll < 0.25) return start(dice, twin, id);
  if (roll < 0.4) return leases(dice, twin);
  if (roll < 0.5) return steer(dice, row);
  if (roll < 0.58) return { method: "dueOperations", request: { shards: shards(dice), limit: dice.pick([1, 3, 100]) } };
  const { organizationId, id: operationId, subjectId } = row;
  if (roll < 0.59) {
    const around = { organizationId, subjectId, kind: aKindOf(twin, roll) };
    return { method: roll < 0.585 ? "wakeAround" : "subjectsAround", request: around };
  }
  if (roll < 0.6) return { method: "findAccount", request: { organizationId, name: accountName(twin, roll) } };
  if (roll < 0.64) return { method: "loadOperation", request: { organizationId, operationId } };
  const lease = tables.workerShards[row.shard];
  if ((lease?.holder === undefined || lease.untilMs <= twin.state.nowMs()) && dice.chance(0.9)) {
    const request = { holder: dice.pick(workers), wanted: 64, leaseMs: dice.pick([8_000, 36_000_000]) };
    return { method: "takeWorkerShards", request };
  }
  return move(dice, twin, row, id);
}

/** A worker that acts in the name of the operation that holds a subject, if one does. */
export function operationActor(dice: Dice, twin: MemoryStore, operationId: string | undefined): Actor | undefined {
  const row = operationId === undefined ? undefined : twin.state.tables.operations.get(operationId);
  return row === undefined || dice.chance(0.4) ? undefined : actorOf(dice, twin, row);
}

/** One of somebody's accounts, or of nobody's, by the roll that was thrown already. */
function accountName({ state: { tables } }: MemoryStore, roll: number): string {
  const names = [...tables.accounts.values()].map(({ record }) => record.name);
  return [...names, "nobody's"][Math.floor(roll * 10_000) % (names.length + 1)] ?? "";
}

/** A kind that something is declared of, by the roll that was thrown already. */
function aKindOf({ state: { tables } }: MemoryStore, roll: number): string {
  const kinds = [...new Set([...tables.resources.values()].map(({ kind }) => kind))].sort();
  return kinds[Math.floor(roll * 10_000) % kinds.length] ?? "Zone";
}

function shards(dice: Dice): readonly number[] {
  return dice.some(
    Array.from({ length: 64 }, (_, shard) => shard),
    0.8,
  );
}

function start(dice: Dice, twin: MemoryStore, id: (prefix: string) => string): Step {
  const { resources: declared, subjects } = twin.state.tables;
  const withSubject = [...subjects.values()].flatMap(({ resourceUid }) => declared.get(resourceUid) ?? []);
  const resources = withSubject.length > 0 && dice.chance(0.9) ? withSubject : [...declared.values()];
  const resource = resources.length === 0 ? undefined : dice.pick(resources);
  const organizationId = resource?.organizationId ?? "00000000-0000-4000-8000-00000000000a";
  return {
    method: "startOperation",
    request: {
      organizationId,
      operationId: id("run"),
      resourceUid: resource?.uid ?? "nobody",
      pipeline: dice.pick(["zone.create", "zone.delete"]),
      version: 1,
      input: { wish: dice.below(3) },
      author: dice.pick([ada, { name: "robot", type: "machine" }]),
      priority: dice.pick(["person", "event"]),
      ends: dice.chance(0.25),
    },
  };
}

function following(dice: Dice, id: (prefix: string) => string): OperationMove["next"] {
  const about = { operationId: id("run"), pipeline: "zone.delete", version: 1, input: {}, author: ada };
  return { ...about, priority: "person", ends: dice.chance(0.7) };
}

/** What was left undone is started again, and now and then what nobody left. */
export function startsAgain(
  dice: Dice,
  { undone }: SubjectRow,
  id: () => string,
): { readonly startsAgain?: NonNullable<Settlement["startsAgain"]> } {
  if (dice.chance(undone === undefined ? 0.97 : 0.3)) return {};
  const pipeline = undone?.pipeline ?? "zone.create";
  const about = { operationId: id(), pipeline, version: 1, input: {}, author: undone?.author ?? ada };
  const start = { ...about, priority: "event" as const, ends: dice.chance(0.3) };
  return { startsAgain: { instead: dice.chance(0.9) ? (undone?.operationId ?? "nobody") : "nobody", start } };
}

function leases(dice: Dice, twin: MemoryStore): Step {
  const holder = dice.pick(workers);
  const mine = twin.state.tables.workerShards.filter((row) => row.holder === holder);
  const claims = dice.some(mine, 0.5).map(({ shard, epoch }) => ({ shard, epoch: epoch - (dice.chance(0.1) ? 1 : 0) }));
  switch (dice.below(8)) {
    case 0:
      return { method: "releaseWorkerShards", request: { holder, shards: claims } };
    case 1:
    case 2:
      return { method: "renewWorkerShards", request: { holder, leaseMs: dice.pick([8_000, 600_000]), shards: claims } };
    case 3:
      return { method: "workerShardHolders", request: undefined as never };
    default:
      return {
        method: "takeWorkerShards",
        request: { holder, wanted: dice.pick([0, 30, 64]), leaseMs: dice.pick([8_000, 36_000_000]) },
      };
  }
}

function steer(dice: Dice, row: OperationRow): Step {
  const step = dice.chance(0.7) ? (row.step ?? "box") : dice.pick(steps);
  const commands: readonly SteerCommand[] = [
    { verb: "cancel" },
    { verb: "resume" },
    { verb: "resume" },
    { verb: "retry", step },
    { verb: "skip", step },
    { verb: "release" },
  ];
  return {
    method: "steerOperation",
    request: {
      organizationId: row.organizationId,
      operationId: dice.chance(0.97) ? row.id : "nobody",
      command: dice.pick(commands),
      ...(dice.chance(0.2) ? { ifRevision: row.revision - dice.below(2) } : {}),
      author: ada,
      reason: "because",
    },
  };
}

function actorOf(dice: Dice, twin: MemoryStore, row: OperationRow): Actor & { readonly operationId: string } {
  const lease = twin.state.tables.workerShards[row.shard];
  return {
    holder: dice.chance(0.97) ? (lease?.holder ?? "worker-1") : dice.pick(workers),
    shard: dice.chance(0.99) ? row.shard : 5,
    epoch: (lease?.epoch ?? 0) - (dice.chance(0.03) ? 1 : 0),
    operationId: row.id,
  };
}

function judgedBy(
  dice: Dice,
  { state: { tables } }: MemoryStore,
  { subjectId }: OperationRow,
): OperationMove["undone"] {
  const { policyVersion = 1 } = tables.subjects.get(subjectId) ?? {};
  return { generation: dice.below(3), policyVersion: policyVersion - (dice.chance(0.3) ? 1 : 0) };
}

function move(dice: Dice, twin: MemoryStore, row: OperationRow, id: (prefix: string) => string): Step {
  const state = dice.pick([
    "running",
    "running",
    "running",
    "held",
    "attention",
    "succeeded",
    "not-run",
    "cancelled",
  ] as const);
  const step = dice.pick(steps);
  const entries = dice
    .some(["done", "failed", "noted"] as const, 0.5)
    .map((result): NewEntry & { readonly agoMs?: number } => ({
      step,
      version: 1,
      direction: row.direction,
      result,
      ...(result === "done"
        ? { input: { n: dice.below(3) }, output: { id: "x", nothing: null } }
        : { message: "words ü" }),
      tookMs: 3,
      ...(dice.chance(0.3) ? { agoMs: dice.below(500) } : {}),
    }));
  const waits = state === "running" || state === "held";
  return {
    method: "recordMove",
    request: {
      actor: actorOf(dice, twin, row),
      organizationId: row.organizationId,
      journalLength: row.journal.length - (dice.chance(0.05) ? 1 : 0),
      entries,
      turnMs: dice.below(900),
      state,
      yieldsTo: { cancel: dice.chance(0.5), leaving: dice.chance(0.5) },
      direction: dice.chance(0.8) ? row.direction : "back",
      step,
      attempts: dice.below(3),
      message: "moved",
      dueInMs: waits ? dice.pick([0, 900, 60_000]) : undefined,
      ...(dice.chance(0.3) ? { next: following(dice, id) } : {}),
      ...(dice.chance(state === "not-run" ? 0.8 : 0.2) ? { undone: judgedBy(dice, twin, row) } : {}),
    },
  };
}
