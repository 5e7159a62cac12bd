import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import { ada, OperationLab, organizationId } from "../../support/operation-lab.ts";

const full = ["create web", "lid of web on", "put web a", "send web has 1"];

test("an operation runs its steps in order, is recorded step by step, and gives the resource back", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  assert.equal(lab.subject("web").hold?.operationId, id);
  const row = await lab.finish(id);
  assert.equal(row.state, "succeeded", row.message);
  assert.deepEqual(lab.outside.effects, full);
  assert.equal(lab.subject("web").hold, undefined);
  assert.deepEqual(
    row.journal.filter(({ result }) => result === "done").map(({ step }) => step),
    ["admit", "size", "box", "dry", "lid", "values", "ready", "letter"],
  );
  assert.deepEqual(
    lab.subject("web").memory.made?.map(({ key, state }) => `${key} ${state}`),
    ["box web made"],
  );
});

test("in observe mode an operation ends without having run", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" }, { mode: "observe" });
  const { id } = await lab.start("box.create", "web");
  const row = await lab.finish(id);
  assert.equal(row.state, "not-run");
  assert.match(row.message, /^not run: observe mode/);
  assert.deepEqual(lab.outside.effects, []);
  assert.equal(lab.subject("web").hold, undefined);
});

test("in propose mode it is held until a person approves, and then runs", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", {}, { mode: "propose" });
  const { id } = await lab.start("box.create", "web");
  assert.equal((await lab.finish(id)).state, "held");
  assert.deepEqual(lab.outside.effects, []);
  const approveAll = async () => {
    for (const held of lab.store.state.tables.heldChanges.values()) {
      if (held.state !== "open") continue;
      const base = { organizationId, heldChangeId: held.id, digest: held.digest, approver: ada, grantForMs: 600_000 };
      assert.equal((await lab.store.approve(base)).result, "approved");
    }
  };
  await approveAll();
  lab.clock.advance(5_000);
  for (let round = 0; round < 60 && lab.row(id).state !== "succeeded"; round++) {
    await lab.turn(id);
    await approveAll();
    lab.clock.advance(1_000);
  }
  assert.equal(lab.row(id).state, "succeeded", lab.row(id).message);
  assert.equal(lab.outside.effects[0], "create web");
});

test("in propose mode an approval is for one attempt: after a lost answer a person is asked again", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", {}, { mode: "propose" });
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id);
  const open = () => [...lab.store.state.tables.heldChanges.values()].filter(({ state }) => state === "open");
  const approveAll = async () => {
    for (const held of open()) {
      const base = { organizationId, heldChangeId: held.id, digest: held.digest, approver: ada, grantForMs: 600_000 };
      assert.equal((await lab.store.approve(base)).result, "approved");
    }
  };
  lab.outside.failures.push(new RetryableError("PROVIDER_UNAVAILABLE", "busy"));
  await approveAll();
  await lab.finish(id);
  assert.equal(lab.row(id).state, "held", "the one attempt that was approved is used up");
  assert.ok(open().length > 0);
  assert.deepEqual(lab.outside.effects, []);
  for (let round = 0; round < 60 && lab.row(id).state !== "succeeded"; round++) {
    await approveAll();
    lab.clock.advance(3_000);
    await lab.turn(id);
  }
  assert.equal(lab.row(id).state, "succeeded", lab.row(id).message);
  assert.equal(lab.outside.effects.filter((effect) => effect === "create web").length, 1);
});

test("a step that fails for good waits for a person, who can go on, skip what is safe, or cancel", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  lab.outside.failures.push(new TerminalError("PROVIDER_REFUSED", "no more boxes today"));
  const waiting = await lab.finish(id);
  assert.equal(waiting.state, "attention");
  assert.match(waiting.message, /step 'box' failed \(attempt 1 of 5\): PROVIDER_REFUSED: no more boxes today/);
  assert.equal(lab.subject("web").hold?.operationId, id);
  assert.equal(await lab.steer(id, { verb: "skip", step: "lid" }), "moved");
  assert.equal(await lab.steer(id, { verb: "resume" }), "done");
  lab.outside.failures.length = 0;
  assert.equal((await lab.finish(id)).state, "succeeded");
  assert.deepEqual(lab.outside.effects, full);
});

test("retries back off up to the step's cap, and a skipped step stays undone", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  lab.outside.failures.push(...Array.from({ length: 3 }, () => new RetryableError("PROVIDER_UNAVAILABLE", "busy")));
  const waiting = await lab.finish(id);
  assert.equal(waiting.state, "attention");
  assert.match(waiting.message, /step 'lid' failed \(attempt 3 of 3\)/);
  assert.equal(waiting.journal.filter(({ result }) => result === "failed").length, 3);
  assert.equal(await lab.steer(id, { verb: "skip", step: "lid" }), "done");
  assert.equal((await lab.finish(id)).state, "succeeded");
  assert.deepEqual(
    lab.outside.effects,
    full.filter((effect) => !effect.startsWith("lid")),
  );
});

test("whoever skips a step over and over does not keep the operation from going on", async () => {
  const impatient: (() => Promise<string>)[] = [];
  const lab = await OperationLab.open(async (name, handle) => {
    // Said again whenever the worker is about to record what it came to since.
    if (name === "recordMove") for (const skip of impatient) await skip();
    return await handle();
  });
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  lab.outside.failures.push(...Array.from({ length: 3 }, () => new RetryableError("PROVIDER_UNAVAILABLE", "busy")));
  assert.equal((await lab.finish(id)).state, "attention");
  const skip = () => lab.steer(id, { verb: "skip", step: "lid" });
  assert.equal(await skip(), "done");
  assert.equal(await skip(), "done", "said twice is as good as said once");
  impatient.push(skip);
  assert.equal((await lab.finish(id)).state, "succeeded");
  const skips = lab.row(id).journal.filter(({ step, result }) => step === "lid" && result === "skipped");
  assert.equal(skips.length, 1);
});

test("a cancelled operation takes back what it made, in reverse order, and journals that", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  assert.match(lab.row(id).message, /the glue is wet/);
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  const row = await lab.finish(id);
  assert.equal(row.state, "cancelled", row.message);
  assert.deepEqual(lab.outside.effects.slice(-2), ["lid of web off", "remove web"]);
  const back = row.journal.filter(({ direction, result }) => direction === "back" && result === "done");
  assert.deepEqual(
    back.map(({ step }) => step),
    ["admit", "lid", "box"],
  );
  assert.deepEqual(lab.subject("web").memory.made, []);
});

test("what was made though nobody heard the answer is taken back as well", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  lab.outside.failures.push(new RetryableError("TIMED_OUT", "no answer came"));
  await lab.turn(id);
  assert.match(lab.row(id).message, /no answer came/);
  lab.outside.create("web");
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  const row = await lab.finish(id);
  assert.equal(row.state, "cancelled", row.message);
  assert.equal(lab.outside.box("web"), undefined);
  assert.deepEqual(lab.subject("web").memory.made, []);
});

test("a step that was to be run again is taken back like any other", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  assert.equal((await lab.finish(id)).state, "attention");
  assert.equal(await lab.steer(id, { verb: "retry", step: "size" }), "done");
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.equal(lab.outside.box("web"), undefined);
});

test("an operation that has acted does not end as if it had not run: it waits for a person", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  assert.deepEqual(lab.outside.effects, ["create web"]);
  await lab.declare("web", { a: "1" }, { mode: "observe" });
  const row = await lab.finish(id);
  assert.equal(row.state, "attention", row.message);
  assert.match(row.message, /cannot go on: observe mode/);
});

test("a pause of deletes keeps a step from taking anything away", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  await lab.finish((await lab.start("box.create", "web")).id);
  await lab.remove("web", 5);
  const { id } = await lab.start("box.delete", "web");
  const pause = { id: "p", organizationId, scope: `organization/${organizationId}`, level: "deletes" as const };
  await lab.store.pause({ ...pause, author: ada, reason: "not now", forMs: 3_600_000 });
  const waiting = await lab.finish(id, 5);
  assert.equal(waiting.state, "running");
  assert.ok(lab.outside.box("web"));
  await lab.store.endPause({ id: "p", organizationId, author: ada });
  assert.equal((await lab.finish(id)).state, "succeeded");
});

test("a wait that lasts too long waits for a person; a retry from a step runs it and what follows again", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  const waiting = await lab.finish(id);
  assert.equal(waiting.state, "attention");
  assert.match(waiting.message, /for more than 60 s/);
  lab.outside.ready = true;
  lab.outside.setLid("web", false);
  assert.equal(await lab.steer(id, { verb: "retry", step: "lid" }), "done");
  assert.equal((await lab.finish(id)).state, "succeeded");
  assert.equal(lab.outside.effects.filter((effect) => effect === "lid of web on").length, 2);
  assert.equal(lab.outside.effects.filter((effect) => effect.startsWith("create")).length, 1);
});

test("a resource that is deleted meanwhile stops its operation, which takes back what it made", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  await lab.remove("web");
  const row = await lab.finish(id);
  assert.equal(row.state, "cancelled");
  assert.equal(lab.outside.box("web"), undefined);
});

test("a second run that is cancelled leaves what the first one made, on record and with what is in it", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  assert.equal((await lab.finish((await lab.start("box.create", "web")).id)).state, "succeeded");
  const { made, owned } = lab.subject("web").memory;
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.ok(lab.outside.box("web"));
  assert.deepEqual(lab.subject("web").memory.made, made);
  assert.deepEqual(lab.subject("web").memory.owned, owned);
  await lab.remove("web", 2);
  assert.equal((await lab.finish((await lab.start("box.delete", "web")).id)).state, "succeeded");
  assert.equal(lab.outside.box("web"), undefined);
});

test("what was made before the operation that a delete stops is taken away by one that begins where that one ends", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  assert.equal((await lab.finish((await lab.start("box.create", "web")).id)).state, "succeeded");
  const { id } = await lab.start("box.count", "web");
  await lab.remove("web", 2);
  const stopped = await lab.finish(id);
  assert.equal(stopped.state, "cancelled");
  assert.match(stopped.message, /box\.delete takes away what was there before/);
  const next = lab.subject("web").hold?.operationId ?? "";
  assert.notEqual(next, id);
  const row = await lab.finish(next);
  assert.equal(`${row.pipeline} ${row.state}`, "box.delete succeeded", row.message);
  assert.equal(lab.outside.box("web"), undefined);
  assert.deepEqual(lab.subject("web").memory.made, []);
});

test("deleted with the word that what is outside stays, nothing is taken away after the operation that it stops", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  await lab.finish((await lab.start("box.create", "web")).id);
  const { id } = await lab.start("box.count", "web");
  const base = { organizationId, uid: "uid-of-web", ifRevision: undefined, author: ada };
  await lab.store.requestDeletion({ ...base, orphan: true, confirmedCount: undefined });
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.equal(lab.subject("web").hold, undefined);
  assert.ok(lab.outside.box("web"));
});

test("a delete that a person cancels is not begun again by itself", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  await lab.finish((await lab.start("box.create", "web")).id);
  await lab.remove("web");
  const { id } = await lab.start("box.delete", "web");
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.equal(lab.subject("web").hold, undefined);
  assert.ok(lab.outside.box("web"));
});

test("an operation that waits for a person, or for approval, stops when its resource is deleted", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.failures.push(new TerminalError("PROVIDER_REFUSED", "never"));
  const { id } = await lab.start("box.create", "web");
  assert.equal((await lab.finish(id)).state, "attention");
  await lab.remove("web");
  assert.equal((await lab.finish(id)).state, "cancelled");
  await lab.declare("other", { a: "1" }, { mode: "propose" });
  const held = await lab.start("box.create", "other");
  assert.equal((await lab.finish(held.id)).state, "held");
  await lab.remove("other");
  await lab.turn(held.id);
  assert.equal(lab.row(held.id).state, "cancelled");
});

test("who is asked to stop while a step is under way does not first wait for what that step waits for", async () => {
  let id = "";
  const lab = await OperationLab.open(async (label, handle) => {
    if (label === "ready?" && lab.row(id).cancel === undefined) await lab.steer(id, { verb: "cancel" });
    return handle();
  });
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  ({ id } = await lab.start("box.create", "web"));
  const row = await lab.finish(id);
  assert.equal(row.state, "cancelled", row.message);
  assert.equal(lab.outside.box("web"), undefined);
  const waited = lab.row(id).journal.findLast(({ result }) => result === "begun");
  assert.equal(waited?.step, "ready");
  assert.ok((row.endedAtMs ?? 0) - (waited?.atMs ?? 0) <= 1_000, "it went back with its next turn");
});

test("what nobody here made is adopted only when the spec says so, and is never taken away by a cancel", async () => {
  const lab = await OperationLab.open();
  lab.outside.create("web");
  await lab.declare("web", {});
  const refused = await lab.finish((await lab.start("box.create", "web")).id);
  assert.equal(refused.state, "not-run");
  assert.match(refused.message, /ownership/);
  await lab.declare("web", {}, { adopt: true });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  assert.equal((await lab.finish(id)).state, "cancelled");
  assert.ok(lab.outside.box("web"), "the adopted box is still there");
});

test("a delete takes away only what is ours, and protection refuses it", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  await lab.finish((await lab.start("box.create", "web")).id);
  await lab.declare("web", { a: "1" }, { protect: true });
  await lab.remove("web", 2);
  const protectedRow = await lab.finish((await lab.start("box.delete", "web")).id);
  assert.equal(protectedRow.state, "not-run");
  assert.match(protectedRow.message, /protection/);
  assert.ok(lab.outside.box("web"));
});

test("what the admission did not see is put before the guards when it is seen", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  await lab.finish((await lab.start("box.create", "web")).id);
  await lab.declare("web", { a: "1" }, { protect: true });
  await lab.remove("web", 2);
  const { id } = await lab.start("box.delete", "web");
  lab.outside.hiddenLooks = 1;
  const row = await lab.finish(id);
  assert.equal(row.state, "not-run", row.message);
  assert.match(row.message, /protection/);
  assert.ok(lab.outside.box("web"));
});

test("what the provider has locked meanwhile is not taken back", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  lab.outside.ready = false;
  const { id } = await lab.start("box.create", "web");
  await lab.finish(id, 20);
  lab.outside.locked.add("web");
  assert.equal(await lab.steer(id, { verb: "cancel" }), "done");
  const row = await lab.finish(id);
  assert.equal(row.state, "attention");
  assert.match(row.message, /provider lock \(the owner's lock\)/);
  assert.ok(lab.outside.box("web"));
});

test("a delete over the budget is held, runs after approval, and is charged for what it contains", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1", b: "2" });
  await lab.finish((await lab.start("box.create", "web")).id);
  const tight = { count: 1, percent: 0, atLeast: 1 };
  const policy = { scope: "platform", limits: { deletesPerCycle: tight } };
  await lab.store.setPolicy({ organizationId: undefined, policy, author: ada });
  await lab.remove("web");
  const { id } = await lab.start("box.delete", "web");
  const held = await lab.finish(id);
  assert.equal(held.state, "held");
  assert.match(held.message, /3 deletes, this subject's budget is 1/);
  for (const change of lab.store.state.tables.heldChanges.values()) {
    const base = { organizationId, heldChangeId: change.id, digest: change.digest, approver: ada };
    await lab.store.approve({ ...base, grantForMs: 600_000 });
  }
  lab.clock.advance(5_000);
  const row = await lab.finish(id);
  assert.equal(row.state, "succeeded", row.message);
  assert.equal(lab.outside.box("web"), undefined);
  assert.deepEqual(lab.subject("web").memory.owned, []);
});

test("a person who confirms what goes approves in the same request, and one who confirms less does not", async () => {
  for (const [confirmed, state] of [
    [2, "succeeded"],
    [1, "held"],
  ] as const) {
    const lab = await OperationLab.open();
    await lab.declare("web", { a: "1", b: "2" });
    await lab.finish((await lab.start("box.create", "web")).id);
    const tight = { count: 1, percent: 0, atLeast: 1 };
    const policy = { scope: "platform", limits: { deletesPerCycle: tight } };
    await lab.store.setPolicy({ organizationId: undefined, policy, author: ada });
    await lab.remove("web", confirmed);
    const row = await lab.finish((await lab.start("box.delete", "web")).id);
    assert.equal(row.state, state, row.message);
  }
});

test("a freeze stops an operation between its steps, and its end lets it go on", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  const freeze = { id: "freeze", organizationId: undefined, scope: "platform", level: "writes" as const };
  await lab.store.pause({ ...freeze, author: ada, reason: "audit", forMs: 600_000 });
  await lab.finish(id, 30);
  assert.deepEqual(lab.outside.effects, ["create web"]);
  assert.match(lab.row(id).message, /waits before 'dry': writes paused at platform by ada: audit|waits before 'lid'/);
  await lab.store.endPause({ id: "freeze", organizationId: undefined, author: ada });
  assert.equal((await lab.finish(id)).state, "succeeded");
});

test("a released hold ends the operation, and what it made is left to the loop", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  assert.equal(await lab.steer(id, { verb: "release" }), "done");
  assert.equal(lab.row(id).state, "cancelled");
  await lab.turn(id);
  assert.deepEqual(lab.outside.effects, ["create web"]);
});

test("an operation that waits for approval ends when its hold is gone, and asks nobody any more", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", {}, { mode: "propose" });
  const { id } = await lab.start("box.create", "web");
  assert.equal((await lab.finish(id)).state, "held");
  await lab.store.releaseHold({ organizationId, uid: "uid-of-web", operationId: id });
  lab.clock.advance(3_000);
  await lab.turn(id);
  assert.equal(lab.row(id).state, "cancelled");
  assert.match(lab.row(id).message, /its hold was released/);
});

test("a second start of anything on the resource returns the running operation", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const first = await lab.start("box.create", "web");
  assert.equal((await lab.start("box.count", "web")).id, first.id);
});

test("a spec that changes meanwhile is admitted anew before the next effect", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  await lab.turn(id);
  await lab.declare("web", { a: "2" });
  const row = await lab.finish(id);
  assert.equal(row.state, "succeeded", row.message);
  assert.ok(row.journal.some(({ result }) => result === "moved"));
  assert.equal(lab.outside.box("web")?.values.get("a"), "2");
});

test("a worker whose lease was taken writes nothing more", async () => {
  const lab = await OperationLab.open();
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  const before = lab.engine();
  const { shard } = lab.row(id);
  const epoch = lab.store.state.tables.workerShards[shard]?.epoch ?? 0;
  await lab.newWorker();
  const { runOperation } = await import("../../../src/kernel/operation.ts");
  const report = await runOperation(before, {
    organizationId,
    operationId: id,
    actor: { holder: "worker-1", shard, epoch, operationId: id },
    quietSinceMonotonicMs: undefined,
    leaseRemainingMs: () => 60_000,
    signal: new AbortController().signal,
  });
  assert.equal(report.operation, undefined);
  assert.deepEqual(lab.outside.effects, []);
  assert.equal(lab.row(id).journal.length, 0);
});

test("a worker that was suspended makes no further call to the outside when it wakes, not even a look", async () => {
  const outside = ["look", "create", "put", "ready", "send", "count"];
  const isOutside = (label: string) => outside.some((word) => label.startsWith(word));
  let calls = 0;
  let sleepAt = Number.POSITIVE_INFINITY;
  const lab: OperationLab = await OperationLab.open(async (label, handle) => {
    if (!isOutside(label)) return handle();
    const answer = handle();
    if (++calls === sleepAt) lab.clock.advance(45_000);
    return answer;
  });
  for (let at = 1; at <= 6; at++) {
    const name = `web-${at}`;
    await lab.declare(name, { a: "1" });
    const { id } = await lab.start("box.create", name);
    [calls, sleepAt] = [0, at];
    for (let turns = 0; turns < 20; turns++) {
      await lab.turn(id);
      if (calls >= at) break;
      lab.clock.advance(1_000);
    }
    assert.equal(calls, at, `asleep after call ${at}`);
    sleepAt = Number.POSITIVE_INFINITY;
    await lab.newWorker();
    assert.equal((await lab.finish(id)).state, "succeeded");
  }
});

test("each line of the journal says when it came about, also where several are written together", async () => {
  const slow: { lab?: OperationLab } = {};
  const lab = await OperationLab.open(async (_, handle) => {
    slow.lab?.clock.advance(100);
    return handle();
  });
  await lab.declare("web", { a: "1" });
  const { id } = await lab.start("box.create", "web");
  slow.lab = lab;
  const { journal, startedAtMs = 0, endedAtMs = 0 } = await lab.finish(id);
  const done = journal.filter(({ result }) => result === "done");
  const [first] = done;
  assert.ok(first?.step === "admit" && (first.tookMs ?? 0) >= 100, "admitting takes a while here");
  let beforeMs = startedAtMs;
  for (const { step, atMs, tookMs = 0 } of done) {
    assert.ok(atMs - tookMs >= beforeMs, `'${step}' began before what comes before it had ended`);
    beforeMs = atMs;
  }
  assert.ok(beforeMs <= endedAtMs);
});
