import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { DeclareRequest } from "../../src/ports/intent-store.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { StoreError } from "../../src/store/errors.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { query } from "../support/postgres.ts";
import { openScene, type Scene } from "./support/scene.ts";
import type { Stores } from "./support/stores.ts";
import { ada, robot, type World } from "./support/world.ts";

let scene: Scene;
let stores: Stores;
let world: World;
let sent: string[] = [];
before(async () => {
  scene = await openScene((name) => sent.push(name));
  ({ stores, world } = scene);
});
after(() => scene[Symbol.asyncDispose]());

function request(name: string, changes: Partial<DeclareRequest> = {}): DeclareRequest {
  const { organizationId, scope, accountId } = world;
  return {
    uid: randomUUID(),
    organizationId,
    kind: "Zone",
    name,
    scope,
    spec: { size: 2 },
    labels: {},
    author: robot,
    ifRevision: undefined,
    mode: undefined,
    protect: undefined,
    accounts: [accountId],
    links: [],
    ...changes,
  };
}

function storeTogether(due: number[]): PostgresIntentStore {
  return new PostgresIntentStore({
    database: stores.api,
    administration: stores.administration,
    ids: { next: () => randomUUID() },
    clock: systemClock,
    poke: (_shards, edges) => due.push(...edges.map(({ subjectId }) => subjectId)),
  });
}

async function dump(): Promise<readonly unknown[]> {
  return await query(
    stores.url,
    `select r.name, r.spec, r.revision, r.generation, r.author_name, r.field_owners, s.input_version, d.priority,
       (select json_agg(json_build_array(e.type, e.revision, e.actor, e.data) order by e.id) from setpoint.log_entry as e
        where e.uid = r.uid) as told
     from setpoint.resource as r join setpoint.subject as s on s.resource_uid = r.uid
     join setpoint.subject_due as d on d.subject_id = s.id order by r.name`,
  );
}

test("edits at the same time leave what the same edits one after the other leave, in fewer transactions", async () => {
  const edits = (prefix: string) => [
    request(`${prefix}-a`, { spec: { size: 3, text: "Grüße\n\u2028" } }),
    request(`${prefix}-b`, { author: ada, labels: { tier: "one" } }),
    request(`${prefix}-c`, { spec: { size: 1 } }),
    request(`${prefix}-d`, { ifRevision: 7 }),
    request(`${prefix}-e`, { mode: "observe" }),
    request(`${prefix}-f`, { owner: "console" }),
    request(`${prefix}-new`),
  ];
  const results: string[][] = [];
  const left: unknown[] = [];
  for (const prefix of ["apart", "together"]) {
    await query(stores.url, "truncate setpoint.resource, setpoint.subject, setpoint.subject_due, setpoint.log_entry");
    for (const name of ["a", "b", "c", "d", "e", "f"])
      await world.declare({ name: `${prefix}-${name}`, author: robot });
    sent = [];
    const due: number[] = [];
    const store = storeTogether(due);
    const answers = [];
    if (prefix === "together") answers.push(...(await Promise.all(edits(prefix).map((edit) => store.declare(edit)))));
    else for (const edit of edits(prefix)) answers.push(await store.declare(edit));
    results.push(answers.map(({ result }) => result));
    left.push(JSON.parse(JSON.stringify(await dump()).replaceAll(`${prefix}-`, "each-")));
    assert.equal(new Set(due).size, 5, "each changed subject is told of");
    const commits = sent.filter((name) => name === "setpoint commit").length;
    assert.equal(commits, prefix === "together" ? 3 : 7, "what is more than an edit has a transaction of its own");
  }
  assert.deepEqual(results[1], results[0]);
  assert.deepEqual(results[0], ["changed", "changed", "unchanged", "conflict", "changed", "changed", "created"]);
  assert.deepEqual(left[1], left[0]);
});

test("what one is refused for does not concern the others", async () => {
  const store = storeTogether([]);
  for (const name of ["x", "y", "z"]) await world.declare({ name });
  const [bad, refused, good] = await Promise.allSettled([
    store.declare(request("x", { author: { name: "nobody\u0000", type: "machine" } })),
    store.declare(request("y", { accounts: ["nowhere"] })),
    store.declare(request("z")),
  ]);
  assert.ok(bad?.status === "rejected" && bad.reason instanceof StoreError && bad.reason.code === "BAD_VALUE");
  assert.ok(refused?.status === "rejected" && refused.reason instanceof StoreError);
  assert.equal(refused.reason.code, "NOT_FOUND");
  assert.equal(good?.status === "fulfilled" && good.value.result, "changed");
});

test("changes of one resource at the same time are all counted, in the order they came", async () => {
  await world.declare({ name: "counted" });
  const store = storeTogether([]);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => store.declare(request("counted", { spec: { size: 10 + index } }))),
  );
  assert.deepEqual(
    answers.map((answer) => answer.result === "changed" && answer.revision),
    [2, 3, 4, 5, 6, 7, 8, 9],
  );
});
