import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryableError } from "../../../src/kernel/errors.ts";
import type { Point } from "../../support/box-kind.ts";
import { OperationLab } from "../../support/operation-lab.ts";

/** An attempt whose answer was lost had made nothing, and then somebody else made a box of that name, without our marker. */
async function unheard(adopt = false): Promise<{ readonly lab: OperationLab; readonly id: string }> {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" }, { adopt });
  const { id } = await lab.start("box.create", "web");
  lab.outside.failures.push(new RetryableError("TIMED_OUT", "no answer came"));
  await lab.turn(id);
  assert.deepEqual(
    lab.subject("web").memory.made?.map(({ state }) => state),
    ["intended"],
  );
  lab.outside.create("web");
  lab.outside.bare.add("web");
  return { lab, id };
}

test("where what we make carries our marker, a name alone makes nothing ours: it is neither used nor taken back", async () => {
  const { lab, id } = await unheard();
  const row = await lab.finish(id);
  assert.equal(row.state, "attention", row.message);
  assert.match(row.message, /box web is there already, and nobody here made or adopted it/);
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.ok(lab.outside.box("web"), "somebody else's box is still there");
  assert.deepEqual(lab.subject("web").memory.made, []);
});

test("what was found bare is adopted only where the spec says so, and stays when the operation is cancelled", async () => {
  const { lab, id } = await unheard(true);
  lab.outside.ready = false;
  await lab.finish(id, 30);
  assert.deepEqual(
    lab.subject("web").memory.made?.map(({ state, adopted }) => `${state} ${adopted}`),
    ["made true"],
  );
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.ok(lab.outside.box("web"), "the adopted box is still there");
});

test("a delete leaves alone what only has the name of something that may never have been made", async () => {
  const { lab, id } = await unheard();
  assert.equal(await lab.steer(id, { verb: "release" }), "done");
  await lab.finish(id);
  await lab.remove("web", 2);
  const row = await lab.finish((await lab.start("box.delete", "web")).id);
  assert.equal(row.state, "not-run", row.message);
  assert.match(row.message, /ownership/);
  assert.ok(lab.outside.box("web"));
});

test("what was marked as ours when its answer was lost is taken back", async () => {
  const { lab, id } = await unheard();
  lab.outside.bare.delete("web");
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.equal(lab.outside.box("web"), undefined);
});

test("what was given up by a move that the journal never heard of is not taken away on the journal's word", async () => {
  let killed = false;
  const point: Point = async (label, handle) => {
    if (label !== "recordMove" || killed || lab.subject("web").memory.made?.length !== 0) return handle();
    killed = true;
    throw new Error("the worker was killed");
  };
  const lab = await OperationLab.open(point);
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  // Whoever looked for it did not see it, and gave it up.
  lab.outside.hiddenLooks = 1;
  await assert.rejects(lab.finish(id), /the worker was killed/);
  await lab.newWorker();
  const row = await lab.finish(id);
  assert.equal(row.state, "cancelled", row.message);
  assert.ok(lab.outside.box("web"), "it was given up before, and may be somebody else's by now");
});
