import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { OperationMove, OperationRecord } from "../../src/ports/operation-store.ts";
import type { CycleInput } from "../../src/ports/records.ts";
import { query } from "../support/postgres.ts";
import { openScene, type Scene } from "./support/scene.ts";
import type { Stores } from "./support/stores.ts";
import { ada, settlementFor, type World } from "./support/world.ts";

let scene: Scene;
let stores: Stores;
let world: World;
before(async () => {
  scene = await openScene();
  ({ stores, world } = scene);
});
after(() => scene[Symbol.asyncDispose]());

const start = () => ({
  operationId: randomUUID(),
  pipeline: "zone.create",
  version: 1,
  input: {},
  author: ada,
  priority: "person" as const,
  ends: false,
});

async function begun({ subject }: CycleInput): Promise<OperationRecord> {
  const { organizationId, resourceUid } = subject;
  const answer = await stores.operationIntents.startOperation({ ...start(), organizationId, resourceUid });
  assert.ok("operation" in answer, answer.result);
  return answer.operation;
}

/** A worker says how the operation stands. */
async function move({ id, organizationId, shard }: OperationRecord, how: Partial<OperationMove>): Promise<void> {
  const holder = "worker";
  const leases = await stores.operations.takeWorkerShards({ holder, wanted: 64, leaseMs: 600_000 });
  const epoch = leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
  const answer = await stores.operations.recordMove({
    actor: { holder, shard, epoch, operationId: id },
    organizationId,
    journalLength: 0,
    entries: [],
    turnMs: 0,
    state: "not-run",
    yieldsTo: { cancel: true, leaving: true },
    direction: "forward",
    step: "admit",
    attempts: 0,
    message: "not run: observe mode",
    dueInMs: undefined,
    ...how,
  });
  assert.equal(answer.kept, true);
}

/** A subject whose operation did not run, judged by what stood when it began. */
async function leftUndone(name: string): Promise<CycleInput> {
  const before = await world.subject(name);
  const { generation } = before.resource;
  await move(await begun(before), { undone: { generation, policyVersion: before.policyVersion } });
  return await world.reload(before);
}

const again = (input: CycleInput, instead = input.undone?.operationId ?? "nobody") =>
  stores.engine.settle(settlementFor(world, input, { startsAgain: { instead, start: start() } }));
const operationsOn = async ({ subject }: CycleInput) =>
  (
    await query<{ state: string }>(
      stores.url,
      "select state from setpoint.operation where resource_uid = $1 order by created_at_ms, id",
      [subject.resourceUid],
    )
  ).map(({ state }) => state);

test("what did not run is on record with what the guards judged by, and its own end is no change of that", async () => {
  const input = await leftUndone("recorded");
  const { operationId, ...undone } = input.undone ?? assert.fail("nothing is left undone");
  assert.deepEqual(undone, {
    pipeline: "zone.create",
    author: ada,
    message: "not run: observe mode",
    generation: 1,
    policyVersion: input.policyVersion,
  });
  assert.match(operationId, /^[0-9a-f-]{36}$/);
});

test("a mode that changes while the guards look makes it worth another try", async () => {
  const input = await world.subject("raced");
  const operation = await begun(input);
  await world.declare({ name: "raced", mode: "enforce" });
  const { policyVersion } = input;
  await move(operation, { undone: { generation: 1, policyVersion } });
  const after = await world.reload(input);
  assert.equal(after.undone?.policyVersion, policyVersion);
  assert.notEqual(after.policyVersion, policyVersion);
});

test("it is started again once, with its hold, however many cycles want to", async () => {
  const input = await leftUndone("once");
  const answers = await Promise.all([again(input), again(input), again(input)]);
  assert.deepEqual(new Set(answers.map(({ kept }) => kept)), new Set([true]));
  assert.deepEqual(await operationsOn(input), ["not-run", "running"]);
  const { hold, undone } = await world.reload(input);
  assert.deepEqual([hold?.reason, undone], ["zone.create", undefined]);
});

test("what a person has started and cancelled meanwhile is not started once more", async () => {
  const input = await leftUndone("cancelled");
  const operation = await begun(input);
  const { organizationId, id: operationId } = operation;
  const about = { organizationId, operationId, author: ada, reason: "not needed" };
  await stores.operationIntents.steerOperation({ ...about, command: { verb: "cancel" } });
  const back = { direction: "back", yieldsTo: { cancel: false, leaving: false } } as const;
  await move(operation, { ...back, state: "cancelled", message: "what was made was taken back" });
  await again(input);
  await again(await world.reload(input), input.undone?.operationId);
  assert.deepEqual(await operationsOn(input), ["not-run", "cancelled"]);
});

test("an input that moved since the cycle began leaves the decision to the next one", async () => {
  const input = await leftUndone("moved");
  await world.declare({ name: "moved", spec: { size: 2 } });
  const { dueAgain } = await again(input);
  assert.deepEqual([dueAgain, await operationsOn(input)], [true, ["not-run"]]);
  await again(await world.reload(input));
  assert.deepEqual(await operationsOn(input), ["not-run", "running"]);
});

test("a process that lost its lease starts nothing", async () => {
  const input = await leftUndone("lost");
  const settlement = settlementFor(world, input, {
    startsAgain: { instead: input.undone?.operationId ?? "", start: start() },
  });
  const { epoch, ...actor } = settlement.actor;
  const answer = await stores.engine.settle({ ...settlement, actor: { ...actor, epoch: epoch - 1 } });
  assert.deepEqual([answer.kept, await operationsOn(input)], [false, ["not-run"]]);
});

test("what cannot be started any more is not tried for ever", async () => {
  const input = await leftUndone("leaving");
  const { organizationId, resourceUid: uid } = input.subject;
  const asked = { organizationId, uid, ifRevision: undefined, author: ada, orphan: false, confirmedCount: undefined };
  await stores.intent.requestDeletion(asked);
  const leaving = await world.reload(input);
  await again(leaving);
  assert.deepEqual([await operationsOn(input), (await world.reload(input)).undone], [["not-run"], undefined]);
});
