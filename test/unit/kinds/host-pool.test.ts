import assert from "node:assert/strict";
import { test } from "node:test";
import type { OperationRecord } from "../../../src/ports/operation-store.ts";
import { Cloud, declare, poolAccount, pooledAccount, withPool } from "../../crash-points/pipelines/host.ts";
import { addToPool } from "../../sim/store/pool.ts";
import { OperationLab } from "../../support/operation-lab.ts";

interface Scene {
  readonly lab: OperationLab;
  readonly cloud: Cloud;
  readonly operation: OperationRecord;
  /** How often the store was asked for a claim. */
  asked(): number;
  states(): readonly (readonly [string, string])[];
}

async function open(
  names: readonly string[],
  options: { readonly mode?: "observe"; readonly location?: string } = {},
): Promise<Scene> {
  const cloud = new Cloud();
  let asked = 0;
  const lab = await OperationLab.open((label, handle) => {
    if (label === "dock") asked += 1;
    return Promise.resolve().then(handle);
  }, cloud);
  await withPool(lab, names);
  await declare(lab, options.location === undefined ? {} : { location: options.location }, pooledAccount);
  if (options.mode !== undefined) {
    const policy = { scope: "platform", mode: options.mode };
    await lab.store.setPolicy({ organizationId: undefined, policy, author: { name: "ada", type: "person" } });
  }
  const operation = await lab.start("host.create", "web-1");
  const states = () => [...lab.store.state.tables.pool.values()].map(({ name, state }) => [name, state] as const);
  return { lab, cloud, operation, asked: () => asked, states };
}

const made = ({ cloud }: Scene) => cloud.effects.filter((effect) => effect === "POST servers");

test("one is claimed and the server is made there", async () => {
  const scene = await open(["one", "two"]);
  const { state } = await scene.lab.finish(scene.operation.id);
  assert.equal(state, "succeeded");
  assert.deepEqual(scene.states(), [
    ["one", "claimed"],
    ["two", "free"],
  ]);
  assert.equal(scene.asked(), 1);
  assert.equal(made(scene).length, 1);
});

test("where none is free it waits in words, ever more rarely, and goes on when there is one", async () => {
  const scene = await open([]);
  const { lab, operation } = scene;
  const pauses: number[] = [];
  for (let round = 0; round < 12; round++) {
    const { dueAtMs = 0 } = lab.row(operation.id);
    lab.clock.advance(Math.max(0, dueAtMs - lab.clock.nowMs()));
    await lab.newWorker();
    await lab.turn(operation.id);
    pauses.push((lab.row(operation.id).dueAtMs ?? 0) - lab.clock.nowMs());
  }
  const waiting = lab.row(operation.id);
  assert.equal(waiting.state, "running");
  assert.match(waiting.message, /no account of outside for fsn1 is free in the operator's pool.*setpoint pool add/);
  assert.deepEqual(made(scene), []);
  assert.equal(scene.asked(), pauses.length, "once a turn");
  assert.deepEqual(
    pauses,
    pauses.toSorted((left, right) => left - right),
  );
  assert.ok((pauses.at(-1) ?? 0) > 20_000, `${pauses.join(", ")} ms`);
  addToPool(lab.store.state, poolAccount("late"));
  lab.clock.advance(60_000);
  await lab.newWorker();
  assert.equal((await lab.finish(operation.id)).state, "succeeded");
  assert.deepEqual(scene.states(), [["late", "claimed"]]);
});

test("what only looks claims nothing", async () => {
  const scene = await open(["one"], { mode: "observe" });
  assert.equal((await scene.lab.finish(scene.operation.id)).state, "not-run");
  assert.deepEqual(scene.states(), [["one", "free"]]);
  assert.equal(scene.asked(), 0);
});

test("a host goes that still waits for the pool, and claims nothing on its way", async () => {
  const scene = await open([]);
  const { lab, operation } = scene;
  await lab.turn(operation.id);
  await lab.remove("web-1");
  addToPool(lab.store.state, poolAccount("late"));
  lab.clock.advance(5_000);
  assert.equal((await lab.finish(operation.id)).state, "cancelled");
  assert.deepEqual(scene.states(), [["late", "free"]]);
  const deleting = await lab.start("host.delete", "web-1");
  const { state, message } = await lab.finish(deleting.id);
  assert.equal(state, "cancelled");
  assert.match(message, /nothing of it is outside/);
});

test("an account of the pool is for the places that the operator named", async () => {
  const scene = await open(["one"], { location: "nbg1" });
  const { lab, operation } = scene;
  await lab.turn(operation.id);
  assert.match(lab.row(operation.id).message, /for nbg1 is free/, "one for elsewhere does not fit");
  addToPool(lab.store.state, poolAccount("wide", []));
  assert.equal((await lab.finish(operation.id)).state, "succeeded");
  const other = await open(["one"]);
  await other.lab.finish(other.operation.id);
  await declare(other.lab, { location: "nbg1" }, pooledAccount);
  const again = await other.lab.start("host.create", "web-1");
  const refused = await other.lab.finish(again.id);
  assert.equal(refused.state, "attention");
  assert.match(refused.message, /is for fsn1, not for nbg1/);
});
