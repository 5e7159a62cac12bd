import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { StartAnswer, StartOperation } from "../../src/ports/operation-store.ts";
import { query } from "../support/postgres.ts";
import { openScene, type Scene } from "./support/scene.ts";
import type { Stores } from "./support/stores.ts";
import { ada, type World } from "./support/world.ts";

let scene: Scene;
let stores: Stores;
let world: World;
let sent: string[] = [];
before(async () => {
  scene = await openScene((name) => sent.push(name));
  ({ stores, world } = scene);
});
after(() => scene[Symbol.asyncDispose]());

function request(resourceUid: string, changes: Partial<StartOperation> = {}): StartOperation {
  return {
    organizationId: world.organizationId,
    operationId: randomUUID(),
    resourceUid,
    pipeline: "box.create",
    version: 2,
    input: { words: "Grüße\n\u2028" },
    author: ada,
    priority: "person",
    ends: false,
    ...changes,
  };
}

/** One of each: plain, being deleted, spread over accounts, unknown, held by somebody else, running already. */
async function requests(prefix: string): Promise<readonly StartOperation[]> {
  const { organizationId, accountId } = world;
  const leaving = await world.declare({ name: `${prefix}-leaving`, accounts: [accountId] });
  const asked = { organizationId, uid: leaving, ifRevision: undefined, author: ada, orphan: false };
  await stores.intent.requestDeletion({ ...asked, confirmedCount: undefined });
  const held = await world.declare({ name: `${prefix}-held`, accounts: [accountId] });
  await query(stores.url, "update setpoint.subject set hold_operation_id = 'somebody' where resource_uid = $1", [held]);
  const running = await world.declare({ name: `${prefix}-running`, accounts: [accountId] });
  await stores.operationIntents.startOperation(request(running));
  return [
    request(await world.declare({ name: `${prefix}-a`, accounts: [accountId] })),
    request(await world.declare({ name: `${prefix}-b`, accounts: [undefined] }), { priority: "event", version: 1 }),
    request(leaving),
    request(leaving, { operationId: randomUUID(), ends: true, pipeline: "box.delete" }),
    request(await world.declare({ name: `${prefix}-two`, accounts: [accountId, undefined] })),
    request(randomUUID()),
    request(held),
    request(running),
    request(await world.declare({ name: `${prefix}-c`, accounts: [accountId] })),
  ];
}

const words = ({ result, ...rest }: StartAnswer) =>
  "operation" in rest ? `${result}: ${rest.operation.name.replace(/^\w+-/, "")}` : result;

async function dump(prefix: string): Promise<readonly unknown[]> {
  const rows = await query<{ row: object }>(
    stores.url,
    `select json_build_object('name', substr(o.name, ${prefix.length + 2}), 'is', json_build_array(o.pipeline, o.version, o.state, o.input,
         o.author_name, o.scope, o.message), 'queued', (select json_agg(json_build_array(d.shard, d.priority, d.subject_id = o.subject_id,
           d.due_at_ms = o.due_at_ms)) from setpoint.operation_due as d where d.operation_id = o.id),
       'held', (select json_build_array(s.hold_operation_id = o.id, s.hold_reason) from setpoint.subject as s where s.id = o.subject_id),
       'told', (select json_agg(json_build_array(e.type, e.actor, e.trail, e.data ->> 'operation' = o.id, e.data ->> 'pipeline'))
         from setpoint.log_entry as e where e.uid = o.resource_uid and e.type like 'operation.%')) as row
     from setpoint.operation as o where o.name like $1 order by o.name`,
    [`${prefix}-%`],
  );
  return rows.map(({ row }) => row);
}

test("operations started at the same time leave what the same ones started apart leave, in fewer transactions", async () => {
  const apart: StartAnswer[] = [];
  const asked = await requests("apart");
  sent = [];
  for (const one of asked) apart.push(await stores.operationIntents.startOperation(one));
  const transactionsApart = sent.filter((name) => name === "setpoint commit").length;
  const again = await requests("joint");
  sent = [];
  const together = await Promise.all(again.map((one) => stores.operationIntents.startOperation(one)));
  const transactionsTogether = sent.filter((name) => name === "setpoint commit").length;
  assert.deepEqual(together.map(words), apart.map(words));
  assert.deepEqual(together.map(words), [
    "started: a",
    "started: b",
    "leaving",
    "started: leaving",
    "several-accounts",
    "not-found",
    "held-by-another",
    "running: running",
    "started: c",
  ]);
  assert.deepEqual(await dump("joint"), await dump("apart"));
  assert.equal(transactionsApart, asked.length);
  assert.ok(transactionsTogether <= 4, `${again.length} starts took ${transactionsTogether} transactions`);
});

test("of many who start the same at once one does, and the others are told of it", async () => {
  const uid = await world.declare({ name: "wanted", accounts: [world.accountId] });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => stores.operationIntents.startOperation(request(uid))),
  );
  const ids = new Set(answers.map((answer) => ("operation" in answer ? answer.operation.id : answer.result)));
  assert.equal(ids.size, 1);
  assert.equal(answers.filter(({ result }) => result === "started").length, 1);
});

test("one that the database refuses does not fail those that were asked with it", async () => {
  const uids = await Promise.all(
    ["refused", "other-1", "other-2"].map((name) => world.declare({ name, accounts: [world.accountId] })),
  );
  const [refused = "", ...others] = uids;
  const first = await stores.operationIntents.startOperation(request(others[0] ?? ""));
  assert.ok("operation" in first);
  const ended = "update setpoint.operation set ended_at_ms = 1, state = 'cancelled' where id = $1";
  await query(stores.url, ended, [first.operation.id]);
  await query(stores.url, "update setpoint.subject set hold_operation_id = null where hold_operation_id = $1", [
    first.operation.id,
  ]);
  const answers = await Promise.allSettled([
    // An id that is taken.
    stores.operationIntents.startOperation(request(refused, { operationId: first.operation.id })),
    ...others.map((uid) => stores.operationIntents.startOperation(request(uid))),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
});
