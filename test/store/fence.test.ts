import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Client } from "pg";
import type { PermitRefusal } from "../../src/ports/engine-store.ts";
import { StoreConflict } from "../../src/store/errors.ts";
import { query } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { openStores, type StoreServer, type Stores, startStoreServer } from "./support/stores.ts";
import {
  ada,
  changeRecord,
  holder,
  makeWorld,
  outcomeFor,
  permitFor,
  settlementFor,
  type World,
} from "./support/world.ts";

let server: StoreServer;
let stores: Stores;
let world: World;
before(async () => {
  server = await startStoreServer();
  stores = openStores(await server.createDatabase());
  world = await makeWorld(stores);
});
after(async () => {
  await stores[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function refusal(request: Parameters<Stores["engine"]["permit"]>[0]): Promise<PermitRefusal | "granted"> {
  const answer = await stores.engine.permit(request);
  return answer.granted ? "granted" : answer.refusal;
}

test("exactly one of many permits asked for at once is granted, and its holder can ask again", async () => {
  const input = await world.subject("contended");
  const requests = Array.from({ length: 20 }, () => permitFor(world, input));
  const answers = await Promise.all(requests.map((request) => stores.engine.permit(request)));
  const granted = requests.filter((_, index) => answers[index]?.granted);
  assert.equal(granted.length, 1);
  const [winner] = granted;
  assert.ok(winner);
  assert.equal(await refusal(winner), "granted");
  assert.equal(await refusal(permitFor(world, input)), "busy");
});

test("permits from several processes never overlap", async () => {
  const input = await world.subject("two-processes");
  await using other = openStores(stores.url);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? stores : other).engine.permit(permitFor(world, input))),
  );
  assert.equal(answers.filter((answer) => answer.granted).length, 1);
});

test("a permit records the intent of its call, and an outcome ends it", async () => {
  const input = await world.subject("recorded");
  const change = changeRecord();
  const memory = { ...input.memory, attempts: 3 };
  const permit = permitFor(world, input, { changes: [change], memory });
  assert.equal(await refusal(permit), "granted");
  assert.equal((await world.reload(input)).memory.attempts, 3);

  const outcome = { changeId: change.id, result: "done", externalId: "x-1", answer: "201", endedAtMs: 5 } as const;
  const ended = outcomeFor(world, input, { permitId: permit.permitId, outcomes: [outcome] });
  assert.equal(await stores.engine.recordOutcome(ended), true);
  assert.equal(await stores.engine.recordOutcome(ended), false, "the permit has ended");
  assert.equal(await refusal(permitFor(world, input)), "granted", "nobody is in the way any more");

  const { organizationId } = world;
  const [entry] = await stores.read.history({ organizationId, uid: input.resource.uid, limit: 5 });
  assert.ok(entry?.type === "change");
  assert.deepEqual([entry.result, entry.externalId, entry.answer], ["done", "x-1", "201"]);
});

test("a permit writes what there is to remember, and leaves the row alone where that is the same", async () => {
  const input = await world.subject("remembered");
  const rowOf = async () => {
    const text = "select ctid::text as place, memory::text from setpoint.subject_state where subject_id = $1";
    const [row] = await query<{ place: string; memory: string }>(stores.url, text, [input.subject.id]);
    return row ?? assert.fail("nothing is remembered");
  };
  const permit = async (attempts: number) => {
    const request = permitFor(world, input, { memory: { ...input.memory, attempts } });
    assert.equal(await refusal(request), "granted");
    return request;
  };
  const { permitId, memory } = await permit(3);
  assert.equal(await stores.engine.recordOutcome(outcomeFor(world, input, { permitId, memory })), true);
  const before = await rowOf();
  const same = await permit(3);
  assert.deepEqual(await rowOf(), before);
  assert.equal(
    await stores.engine.recordOutcome(outcomeFor(world, input, { permitId: same.permitId, memory: same.memory })),
    true,
  );
  await permit(4);
  assert.equal((await world.reload(input)).memory.attempts, 4);
});

test("each condition of the fence refuses by its name", async () => {
  const input = await world.subject("refused");
  const { organizationId } = world;
  const { uid } = input.resource;
  const actor = world.actor(input);
  const inputs = { check: "sources", sources: [{ uid, generation: 1 }], policyVersion: input.policyVersion } as const;

  assert.equal(await refusal(permitFor(world, input, { subject: { ...input.subject, id: 999_999 } })), "gone");
  assert.equal(await refusal(permitFor(world, input, { actor: { ...actor, epoch: actor.epoch - 1 } })), "lease");
  assert.equal(await refusal(permitFor(world, input, { actor: { ...actor, holder: "another" } })), "lease");
  assert.equal(await refusal(permitFor(world, input, { inputs: { check: "version", inputVersion: 99 } })), "inputs");
  const moved = { ...inputs, sources: [{ uid, generation: 2 }] };
  assert.equal(await refusal(permitFor(world, input, { inputs: moved })), "inputs");
  const gone = { ...inputs, sources: [{ uid: "nobody", generation: 1 }] };
  assert.equal(await refusal(permitFor(world, input, { inputs: gone })), "inputs");
  assert.equal(await refusal(permitFor(world, input, { inputs: { ...inputs, policyVersion: 7 } })), "inputs");
  assert.equal(await refusal(permitFor(world, input, { grantIds: ["nobody's"] })), "grant");

  const operationId = randomUUID();
  const what = { operationId, resourceUid: uid, pipeline: "zone.create", version: 1, input: {}, ends: false };
  const who = { organizationId, author: ada, priority: "person" as const };
  assert.equal((await stores.operationIntents.startOperation({ ...what, ...who })).result, "started");
  assert.equal(await refusal(permitFor(world, input, { inputs })), "held");
  const stranger = { ...actor, operationId };
  assert.equal(await refusal(permitFor(world, input, { inputs, actor: stranger })), "lease");
});

test("a pause of deletes refuses deletes alone, in the scope that it covers", async () => {
  const input = await world.subject("paused");
  const elsewhere = await world.subject("not-paused", { kind: "Other" });
  const { organizationId } = world;
  const [deletes, all] = [randomUUID(), randomUUID()];
  const pause = { organizationId, author: ada, reason: "maintenance", forMs: 60_000 };
  await stores.intent.pause({ ...pause, id: deletes, scope: `resource/${input.resource.uid}`, level: "deletes" });
  assert.equal(await refusal(permitFor(world, input, { deletes: true })), "paused");
  assert.equal(await refusal(permitFor(world, input, { forMs: 0 })), "granted");
  assert.equal(await refusal(permitFor(world, elsewhere, { deletes: true, forMs: 0 })), "granted");

  await stores.intent.pause({ ...pause, id: all, organizationId: undefined, scope: "platform", level: "all" });
  assert.equal(await refusal(permitFor(world, elsewhere)), "paused");
  assert.deepEqual(
    (await world.reload(input)).pauses.map((row) => row.id),
    [deletes, all].sort(),
  );
  assert.equal(await stores.intent.endPause({ id: all, organizationId: undefined, author: ada }), "ended");
  assert.equal(await refusal(permitFor(world, elsewhere, { forMs: 0 })), "granted");
});

test("a second claimant is refused alone, and nothing of his is written", async () => {
  const inputs = await Promise.all(["claims-a", "claims-b", "claims-c"].map((name) => world.subject(name)));
  const [first, second, third] = inputs;
  assert.ok(first && second && third);
  const claim = [{ externalId: "server-1", key: "main" }];
  const take = async (input: typeof first, claims: typeof claim) => {
    const permit = permitFor(world, input);
    assert.equal(await refusal(permit), "granted");
    return outcomeFor(world, input, { permitId: permit.permitId, claims, memory: { ...input.memory, attempts: 9 } });
  };
  assert.equal(await stores.engine.recordOutcome(await take(first, claim)), true);

  // Both in one batch: the refusal of one does not undo the other.
  const refused = await take(second, [...claim, { externalId: "server-2", key: "side" }]);
  const accepted = await take(third, [{ externalId: "server-3", key: "main" }]);
  const answers = await Promise.allSettled([refused, accepted].map((request) => stores.engine.recordOutcome(request)));
  assert.ok(answers[0]?.status === "rejected" && answers[0].reason instanceof StoreConflict);
  assert.equal(answers[0].reason.code, "SECOND_CLAIMANT");
  assert.deepEqual(answers[1], { status: "fulfilled", value: true });
  assert.equal((await world.reload(second)).memory.attempts, 0);
  assert.equal((await world.reload(third)).memory.attempts, 9);

  const released = outcomeFor(world, first, { permitId: "again", releases: ["server-1"] });
  assert.equal(await refusal(permitFor(world, first, { permitId: "again" })), "granted");
  assert.equal(await stores.engine.recordOutcome(released), true);
  assert.equal(await stores.engine.recordOutcome(refused), true, "what was given up can be claimed");
});

test("a value the database cannot store fails its own request and not its neighbours", async () => {
  const [good, bad] = [await world.subject("good-text"), await world.subject("bad-text")];
  const request = (input: typeof good, key: string) =>
    permitFor(world, input, { changes: [changeRecord({ id: `${key} ${randomUUID()}` })] });
  const answers = await Promise.allSettled([
    stores.engine.permit(request(good, "plain")),
    stores.engine.permit(request(bad, "\0")),
  ]);
  assert.deepEqual(
    answers.map((answer) => answer.status),
    ["fulfilled", "rejected"],
  );
  assert.match(String((answers[1] as PromiseRejectedResult).reason), /cannot store this value/);
});

test("a lost lease writes nothing, and the next holder's epoch is higher", async () => {
  let nowMs = 1_700_000_000_000;
  await using timed = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const there = await makeWorld(timed);
  const input = await there.subject("taken-over");
  const permit = permitFor(there, input, { forMs: 100 });
  assert.deepEqual(await timed.engine.permit(permit), { granted: true });
  nowMs += 3_600_000;
  const taken = await timed.engine.takeShards({ holder: "next", wanted: 64, leaseMs: 1_000 });
  const lease = taken.find(({ shard }) => shard === input.subject.shard);
  assert.deepEqual(lease, { shard: input.subject.shard, epoch: there.actor(input).epoch + 1, quiet: true });

  const memory = { ...input.memory, attempts: 5 };
  assert.equal(
    await timed.engine.recordOutcome(outcomeFor(there, input, { permitId: permit.permitId, memory })),
    false,
  );
  assert.deepEqual(await timed.engine.settle(settlementFor(there, input, { memory })), {
    kept: false,
    dueAgain: false,
  });
  assert.equal((await there.reload(input)).memory.attempts, 0);
});

test("shards are divided without overlap when many ask at once, and handed over quietly", async () => {
  await using fresh = openStores(await server.createDatabase());
  const holders = ["one", "two", "three", "four"];
  const taken = await Promise.all(
    holders.map((name) => fresh.engine.takeShards({ holder: name, wanted: 20, leaseMs: 60_000 })),
  );
  const shards = taken.flat().map(({ shard }) => shard);
  assert.equal(shards.length, 64);
  assert.equal(new Set(shards).size, 64);
  assert.equal(
    (await fresh.engine.shardHolders()).reduce((sum, row) => sum + row.shards, 0),
    64,
  );
  const [first = []] = taken;
  const named = async () => (await fresh.engine.shardHolders()).map((row) => row.holder).toSorted();
  await fresh.engine.releaseShards({ holder: "one", shards: first.slice(1) });
  assert.deepEqual(await named(), ["four", "one", "three", "two"], "it has one left");
  await fresh.engine.releaseShards({ holder: "one", shards: first });
  assert.deepEqual(await named(), ["four", "three", "two"], "nobody keeps a share for who has left in order");
  const next = await fresh.engine.takeShards({ holder: "five", wanted: 1, leaseMs: 60_000 });
  assert.equal(next[0]?.quiet, false);
  assert.equal(next[0]?.epoch, 2);
  assert.deepEqual(await fresh.engine.renewShards({ holder: "one", leaseMs: 60_000, shards: first }), []);
});

test("renewals and engine writes of one shard do not wait for each other", async () => {
  const input = await world.subject("renewed");
  const shards = [{ shard: input.subject.shard, epoch: world.actor(input).epoch }];
  const work = Array.from({ length: 30 }, (_, index) =>
    index % 3 === 0
      ? stores.engine.renewShards({ holder, leaseMs: 3_600_000, shards })
      : stores.engine.settle(settlementFor(world, input, { nowOwned: index })),
  );
  const answers = await Promise.all(work);
  assert.ok(answers.every((answer) => (Array.isArray(answer) ? answer.length === 1 : "kept" in answer && answer.kept)));
});

test("whoever takes a shard waits for writes of the last holder that are under way", async () => {
  let nowMs = 1_700_000_000_000;
  await using timed = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const there = await makeWorld(timed);
  const input = await there.subject("under-way");
  // A settlement that has its shard lock and stands still before its row: somebody else has that.
  const blocker = new Client(timed.url);
  await blocker.connect();
  await blocker.query("begin");
  await blocker.query("select from setpoint.subject where id = $1 for update", [input.subject.id]);
  const memory = { ...input.memory, attempts: 5 };
  const settling = timed.engine.settle(settlementFor(there, input, { memory }));
  await until(() => isWaiting(timed.url, "tuple", "transactionid"), "the settlement to wait for the row");

  nowMs += 3_600_000;
  const taking = timed.engine.takeShards({ holder: "next", wanted: 64, leaseMs: 60_000 });
  await until(() => isWaiting(timed.url, "advisory"), "the taker to wait for the settlement");
  await blocker.query("commit");
  await blocker.end();
  const [settled, taken] = await Promise.all([settling, taking]);
  // Its transaction judged the lease by the time it had begun at, and was over before the next holder could read.
  assert.deepEqual(settled, { kept: true, dueAgain: false });
  assert.equal(taken.length, 64);
  assert.equal((await there.reload(input)).memory.attempts, 5);
});

async function isWaiting(url: string, ...types: readonly string[]): Promise<boolean> {
  const text = "select from pg_locks where not granted and locktype = any ($1)";
  return (await query(url, text, [types])).length > 0;
}
