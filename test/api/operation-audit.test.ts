import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ExportVerifier } from "../../src/control-api/schemas/audit-export.ts";
import type { OperationMove } from "../../src/ports/operation-store.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { startTestApi, type TestApi, token } from "../support/api.ts";
import { memberOf, type TestPerson } from "../support/people.ts";
import { query } from "../support/postgres.ts";

const base = "/v1/organizations/default";
const log = { debug() {}, info() {}, warn() {}, error() {} };
const holder = "worker";
const undo = new AsyncDisposableStack();
let api: TestApi;
let workers: PostgresOperationStore;
let epochOf: (shard: number) => number;

before(async () => {
  api = undo.use(await startTestApi());
  const options = { url: api.url, role: "setpoint_engine" as const, log };
  const database = undo.adopt(new Database(options), (it) => it.end());
  workers = new PostgresOperationStore({ database, clock: systemClock });
  const leases = await workers.takeWorkerShards({ holder, wanted: 64, leaseMs: 600_000 });
  epochOf = (shard) => leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
});
after(() => undo.disposeAsync());

/** A zone that an operation is to make; the answer is the operation's id. */
async function begun(name: string, by: Pick<TestPerson, "send">): Promise<string> {
  const spec = { account: "lab", zone: `${name}.test`, nameservers: ["ns1.example.test"], makesZone: true };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name, mode: "enforce" }, spec };
  const answer = await by.send("POST", `${base}/dnszones`, manifest);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return String(answer.headers["location"]).split("/").at(-1) ?? "";
}

/** The worker says how it stands. */
async function move(operationId: string, how: Pick<OperationMove, "state" | "message">): Promise<void> {
  const [row] = await query<{ organization_id: string; shard: number; journal_length: number }>(
    api.url,
    "select organization_id, shard, journal_length from setpoint.operation where id = $1",
    [operationId],
  );
  assert.ok(row);
  const answer = await workers.recordMove({
    actor: { holder, shard: row.shard, epoch: epochOf(row.shard), operationId },
    organizationId: row.organization_id,
    journalLength: row.journal_length,
    entries: [],
    turnMs: 0,
    yieldsTo: { cancel: false, leaving: false },
    direction: "forward",
    step: "admit",
    attempts: 0,
    dueInMs: undefined,
    ...how,
  });
  assert.equal(answer.kept, true);
}

type Item = Readonly<Record<string, unknown>>;

async function told(type: string, name: string): Promise<Item> {
  await api.seal();
  const answer = await api.send("GET", `${base}/audit?type=${type}&resource=DnsZone/${name}`);
  const [entry] = answer.body["items"] as readonly Item[];
  return entry ?? assert.fail(`nothing of ${type} about ${name}`);
}

test("what an operation does is told of who asked for it, through the operation", async () => {
  const ada = await memberOf(api, "default", "ada@example.test", [{ role: "admin" }]);
  const id = await begun("hers", ada);
  assert.equal((await told("operation.started", "hers"))["actor"], "ada@example.test");
  await move(id, { state: "succeeded", message: "made" });
  const { actor, actorType, credential, data } = await told("operation.succeeded", "hers");
  assert.deepEqual([actor, actorType, credential], ["ada@example.test", "person", `operation/${id}`]);
  assert.deepEqual([(data as Item)["operation"], (data as Item)["message"]], [id, "made"]);
  const found = await api.send("GET", `${base}/audit?actor=ada@example.test&type=operation.`);
  assert.deepEqual(
    (found.body["items"] as readonly Item[]).map(({ type }) => type),
    ["operation.succeeded", "operation.started"],
    "both are found under her name",
  );
});

test("a machine is named as one, and who cancelled stands beside who asked", async () => {
  const made = await api.send("POST", `${base}/tokens`, {
    name: "pipeline",
    type: "service-token",
    access: [{ rules: [{ key: "project.dns_zone", actions: ["read", "create", "update"] }] }],
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const authorization = `Bearer ${String(made.body["token"])}`;
  const id = await begun("built", { send: (method, url, body) => api.send(method, url, body, { authorization }) });
  const bob = await memberOf(api, "default", "bob@example.test", [{ role: "admin" }]);
  const cancelled = await bob.send("POST", `${base}/operations/${id}:cancel`, { reason: "not today" });
  assert.equal(cancelled.status, 202, JSON.stringify(cancelled.body));
  await move(id, { state: "cancelled", message: "taken back" });
  const { actor, actorType, credential, data } = await told("operation.cancelled", "built");
  assert.deepEqual([actor, actorType, credential], ["operator", "machine", `operation/${id}`]);
  assert.equal((data as Item)["cancelledBy"], "bob@example.test");
});

test("an entry of an earlier release stays as it was sealed, and the chain over both is whole", async () => {
  const ids = await query<{ id: string; organization_id: string }>(
    api.url,
    "select id, organization_id from setpoint.operation order by created_at_ms limit 1",
  );
  const [old] = ids;
  assert.ok(old);
  await query(
    api.url,
    `insert into setpoint.log_entry (organization_id, type, uid, actor, data, at_ms)
     values ($1, 'operation.succeeded', 'u', $2, json_build_object('operation', $2::text, 'kind', 'DnsZone', 'name', 'old', 'step', null), 1)`,
    [old.organization_id, old.id],
  );
  assert.equal((await told("operation.succeeded", "old"))["actor"], old.id);
  await move(await begun("after", api), { state: "succeeded", message: "made" });
  assert.equal((await told("operation.succeeded", "after"))["actor"], "operator");
  const headers = { authorization: `Bearer ${token}` };
  const taken = await api.app.inject({ method: "GET", url: `${base}/audit/export`, headers });
  const verifier = new ExportVerifier();
  for (const line of taken.body.replace(/\n$/, "").split("\n")) verifier.take(line);
  const checked = verifier.result();
  assert.ok(checked.holds && checked.complete, JSON.stringify(checked));
});
