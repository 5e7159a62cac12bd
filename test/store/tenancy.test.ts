import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Client } from "pg";
import type { Actor } from "../../src/ports/engine-store.ts";
import type { CycleInput } from "../../src/ports/records.ts";
import { removeOldHistory } from "../../src/store/retention.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { query } from "../support/postgres.ts";
import { allStatements } from "./support/all-statements.ts";
import { openStores, type StoreServer, type Stores, silentLog, startStoreServer } from "./support/stores.ts";
import { useMembers } from "./support/use-members.ts";
import { usePool } from "./support/use-pool.ts";
import { useDeclaring } from "./support/use-declaring.ts";
import { useGoverning } from "./support/use-governing.ts";
import { useAudit, useCredentials } from "./support/use-credentials.ts";
import { type Attempt, SuspiciousDatabase } from "./support/suspicious-database.ts";
import {
  ada,
  changeRecord,
  grace,
  heldGroup,
  makeWorld,
  outcomeFor,
  permitFor,
  settlementFor,
  type World,
} from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

/** Calls every method of the three stores, the sealer and retention, in an order in which each finds rows to work on. */
async function useEverything(stores: Stores, world: World): Promise<void> {
  await useMembers(stores);
  const zone = await world.subject("zone", { mode: "enforce" });
  const record = { name: "record", kind: "Record", accounts: [], links: [{ kind: "Zone", name: "zone" }] };
  const recordUid = await world.declare(record);
  await world.declare({ ...record, spec: { size: 5 } });
  for (const name of ["one", "two"]) await world.declare({ name });
  await Promise.all(["one", "two"].map((name) => world.declare({ name, spec: { size: 2 } })));
  await useGovernance(stores, world, zone);
  await useDecisions(stores, world, zone);
  await useFence(stores, world, zone);
  await useReads(stores, world, zone);
  await useCredentials(stores, world);
  await useAudit(stores, world);
  await useGoverning(stores, world, zone);
  await useDeclaring(stores, world, zone);
  await useOperations(stores, world);
  await usePool(stores, world);
  await useDeletion(stores, world, zone, recordUid);
  await stores.intent.markRestored();
  await removeOldHistory({ administration: stores.administration });
}

async function useGovernance({ intent, read }: Stores, world: World, zone: CycleInput): Promise<void> {
  const { organizationId, accountId, scope } = world;
  const author = ada;
  await intent.createScope({ organizationId, scope: "project/p", parent: scope });
  const account = { id: "second", name: "second", provider: "memory", settings: {}, callsPerSecond: 1 };
  await intent.createAccount({ ...account, organizationId, credentialRef: undefined });
  await world.declare({ name: "zone", accounts: ["second"], mode: "observe" });
  await world.declare({ name: "zone", accounts: [accountId], mode: "enforce" });
  await intent.setPolicy({ organizationId, policy: { scope, mode: "enforce" }, author });
  await intent.setPolicy({ organizationId: undefined, policy: { scope: "platform" }, author });
  for (const place of [organizationId, undefined]) {
    const request = { author, reason: "test", level: "all" as const, forMs: 60_000 };
    const id = randomUUID();
    await intent.pause({ ...request, id, organizationId: place, scope: place === undefined ? "platform" : scope });
    assert.equal((await read.listPauses(organizationId)).length, 1);
    assert.equal((await world.reload(zone)).pauses.length, 1);
    await intent.endPause({ id, organizationId: place, author });
  }
}

/** Something of the subject waits for a person: what approves it. */
async function held(
  { engine, read }: Stores,
  world: World,
  zone: CycleInput,
  [guard, digest]: readonly ["delete-budget" | "account-identity", string],
  rest: { readonly actor?: Actor } = {},
) {
  const { organizationId, accountId } = world;
  const [item] = heldGroup("account", [digest]).items;
  assert.ok(item);
  const groups = [heldGroup("account", [], { guard, items: [{ ...item, externalId: accountId }] })];
  const open = () => read.listHeldChanges({ organizationId, states: ["open"], limit: 50 });
  const before = new Set((await open()).map((one) => one.digest));
  await engine.settle(settlementFor(world, await world.reload(zone), { held: { digest, groups }, ...rest }));
  // What waits under one limit of an account is one held change, whoever's it is.
  const found = (await open()).find((one) => !before.has(one.digest));
  assert.ok(found);
  return { organizationId, heldChangeId: found.id, digest: found.digest, approver: grace, grantForMs: 60_000 };
}

async function useDecisions(stores: Stores, world: World, zone: CycleInput): Promise<void> {
  const { organizationId } = world;
  const { intent } = stores;
  const hold = (guard: "delete-budget" | "account-identity", digest: string) =>
    held(stores, world, zone, [guard, digest]);
  await intent.reject({ organizationId, heldChangeId: (await hold("delete-budget", "a")).heldChangeId, author: ada });
  assert.equal((await intent.approve(await hold("account-identity", "b"))).result, "approved");
  assert.equal((await intent.approve(await hold("delete-budget", "c"))).result, "approved");
  await intent.reconcileNow({ organizationId, uid: zone.resource.uid });
}

async function useFence({ engine }: Stores, world: World, zone: CycleInput): Promise<void> {
  const { accountId } = world;
  const input = await world.reload(zone);
  const permit = permitFor(world, input, { changes: [changeRecord()], grantIds: input.grants.map(({ id }) => id) });
  assert.deepEqual(await engine.permit(permit), { granted: true });
  const claims = [{ externalId: "x", key: "k" }];
  assert.ok(await engine.recordOutcome(outcomeFor(world, input, { permitId: permit.permitId, claims })));
  assert.deepEqual(
    (await engine.recordedThings({ accountId, atMost: 10 })).map(({ externalId }) => externalId),
    ["x"],
  );
  await engine.recordAccount({ accountId, fingerprint: "f", claimedIncarnation: 1 });
  const verdicts = [heldGroup("subject", []).verdict];
  const observation = { hash: "h", completeness: "complete", observedAtMs: 1, items: [], truncated: false } as const;
  await engine.settle(settlementFor(world, input, { verdicts, observation, nextInMs: 5 }));
}

async function useOperations(stores: Stores, world: World): Promise<void> {
  const { organizationId } = world;
  const operated = await world.subject("operated");
  const { resource } = operated;
  const { operations, operationIntents, operationReads } = stores;
  const leases = await operations.takeWorkerShards({ holder: "worker", wanted: 64, leaseMs: 60_000 });
  await operations.renewWorkerShards({ holder: "worker", leaseMs: 60_000, shards: leases });
  await operations.workerShardHolders();
  const what = { organizationId, resourceUid: resource.uid, pipeline: "p", version: 1, input: {} };
  const start = async () => {
    const who = { operationId: randomUUID(), author: ada, priority: "person" as const, ends: false };
    const answer = await operationIntents.startOperation({ ...what, ...who });
    assert.equal(answer.result, "started");
    return { organizationId, operationId: who.operationId };
  };
  const first = await start();
  const again = { operationId: randomUUID(), author: ada, priority: "event" as const, ends: false };
  assert.equal((await operationIntents.startOperation({ ...what, ...again })).result, "running");
  assert.equal((await operations.dueOperations({ shards: leases.map(({ shard }) => shard), limit: 10 })).length, 1);
  const loaded = await operations.loadOperation(first);
  assert.ok(loaded);
  assert.equal(await operations.findAccount({ organizationId, name: "nobody's" }), undefined);
  const around = { organizationId, subjectId: loaded.operation.subjectId, kind: resource.kind };
  assert.ok((await operations.subjectsAround(around)).includes(loaded.operation.subjectId));
  await operations.wakeAround(around);
  const { shard } = loaded.operation;
  const epoch = leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
  const entry = { step: "s", version: 1, direction: "forward", result: "done" } as const;
  const move = async (operationId: string, state: "held" | "succeeded", dueInMs: number | undefined) =>
    await operations.recordMove({
      actor: { holder: "worker", shard, epoch, operationId },
      organizationId,
      journalLength: 0,
      entries: [entry],
      turnMs: 0,
      state,
      yieldsTo: { cancel: true, leaving: true },
      direction: "forward",
      step: "s",
      attempts: 0,
      message: "done",
      dueInMs,
    });
  assert.ok((await move(first.operationId, "succeeded", undefined)).kept);
  const second = await start();
  assert.ok((await move(second.operationId, "held", 60_000)).kept);
  const actor = { holder: "worker", shard, epoch, operationId: second.operationId };
  const approval = await held(stores, world, operated, ["delete-budget", "o"], { actor });
  assert.equal((await stores.intent.approve(approval)).result, "approved");
  const shards = leases.map((lease) => lease.shard);
  assert.equal((await operations.dueOperations({ shards, limit: 10 })).length, 1, "an approval wakes the operation");
  const said = { author: ada, reason: "test" };
  assert.equal(
    (await operationIntents.steerOperation({ ...second, ...said, command: { verb: "release" } })).result,
    "done",
  );
  assert.equal((await operationReads.listOperations({ organizationId, limit: 5 })).length, 2);
  assert.equal((await operationReads.findOperation(first))?.journal.length, 1);
  assert.equal((await operationReads.queuePlaces([first.operationId])).size, 0, "it is not in the queue any more");
  const third = await start();
  const deletion = { organizationId, uid: resource.uid, ifRevision: undefined, author: ada };
  await stores.intent.requestDeletion({ ...deletion, orphan: false, confirmedCount: undefined });
  assert.equal((await operationReads.findOperation(third))?.revision, 2, "it is told to stop");
  await operations.releaseWorkerShards({ holder: "worker", shards: leases });
}

async function useReads({ read, administration }: Stores, world: World, zone: CycleInput): Promise<void> {
  const { organizationId, scope } = world;
  const { uid } = zone.resource;
  await read.listOrganizations();
  await read.listScopes(organizationId);
  await read.listAccounts(organizationId);
  await read.accountUse(organizationId);
  await read.listPolicies(organizationId);
  await read.getResource({ organizationId, scope, kind: "Zone", name: "zone" });
  await read.history({ organizationId, uid, limit: 5 });
  await read.observation({ organizationId, uid });
  await read.summary();
  const sealer = new Sealer({ administration, clock: systemClock, log: silentLog });
  await sealer.sealAll();
  assert.equal((await sealer.check()).holds, true);
  await read.sealedEntries({ organizationId, afterPosition: 0, limit: 5 });
}

async function useDeletion({ engine, intent }: Stores, world: World, zone: CycleInput, source: string): Promise<void> {
  const { organizationId } = world;
  const deletion = { organizationId, author: ada, ifRevision: undefined, orphan: false, confirmedCount: undefined };
  const loner = await world.declare({ name: "loner", kind: "Record", accounts: [] });
  for (const uid of [loner, source, zone.resource.uid]) await intent.requestDeletion({ ...deletion, uid });
  const leaving = await world.reload(zone);
  const answer = await engine.settle(settlementFor(world, leaving, { gone: true, forgetSources: [source] }));
  assert.deepEqual(answer, { kept: true, dueAgain: false });
}

test("every statement that touches tenants' rows fails without a tenant", async () => {
  const url = await server.createDatabase();
  const attempts: Attempt[] = [];
  const makeDatabase = (role: "setpoint_api" | "setpoint_engine" | "setpoint_admin") =>
    new SuspiciousDatabase({ url, role, log: silentLog }, attempts);
  await using stores = openStores(url, { makeDatabase, together: true });
  // Rows of another tenant, so that there is something to be hidden or shown.
  await useEverythingElse(stores);
  const world = await makeWorld(stores);
  await useEverything(stores, world);

  assert.deepEqual(
    attempts.filter(({ role, outcome }) => role === "setpoint_api" && outcome === "rows"),
    [],
    "the API reads and writes nothing without a tenant",
  );
  const tried = new Map<string, boolean>();
  for (const { role, statement, outcome } of attempts) {
    const key = `${statement} as ${role}`;
    tried.set(key, tried.get(key) === true || outcome === "error");
  }
  const never = [...tried].filter(([, hasFailed]) => !hasFailed).map(([key]) => key);
  assert.deepEqual(never, [], "each statement failed where it had rows to find");
  const statements = (await allStatements()).filter(({ touches }) => touches === "tenants");
  assert.ok(statements.length > 40);
  const seen = new Set(attempts.map(({ statement }) => statement));
  const untried = statements.map(({ name }) => name).filter((name) => !seen.has(name));
  assert.deepEqual(untried, [], "a statement that this test does not reach proves nothing");
  const reasons = attempts.filter(({ outcome }) => outcome === "error").map(({ detail }) => detail);
  const unexpected = reasons.filter((detail) => !/names no tenant|permission denied|row-level security/.test(detail));
  assert.deepEqual(unexpected, []);
});

/** History of another tenant: some of everything stays behind. */
async function useEverythingElse(stores: Stores): Promise<void> {
  const world = await makeWorld(stores);
  const input = await world.subject("other");
  await world.declare({ name: "input", kind: "Record", accounts: [], links: [{ kind: "Zone", name: "other" }] });
  const { organizationId, scope } = world;
  await stores.intent.pause({
    id: randomUUID(),
    organizationId,
    scope,
    level: "deletes",
    author: ada,
    reason: "test",
    forMs: 60_000,
  });
  for (const digest of ["approved", "open"]) {
    const held = { digest, groups: [heldGroup("subject", [digest])] };
    const verdicts = [heldGroup("subject", []).verdict];
    await stores.engine.settle(settlementFor(world, await world.reload(input), { held, verdicts }));
    const [change] = await stores.read.listHeldChanges({ organizationId, states: ["open"], limit: 1 });
    const request = { organizationId, heldChangeId: change?.id ?? "", digest: change?.digest ?? "" };
    if (digest === "approved") await stores.intent.approve({ ...request, approver: grace, grantForMs: 60_000 });
  }
}

test("each statement has a name of its own: under a name that is taken it would not be prepared", async () => {
  const names = (await allStatements()).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test("a tenant's ids mean nothing under another tenant", async () => {
  await using stores = openStores(await server.createDatabase());
  const [mine, theirs] = [await makeWorld(stores), await makeWorld(stores)];
  const input = await mine.subject("secret");
  const held = { digest: "d", groups: [heldGroup("subject", ["d"])] };
  await stores.engine.settle(settlementFor(mine, input, { held, verdicts: [heldGroup("subject", []).verdict] }));
  const [change] = await stores.read.listHeldChanges({
    organizationId: mine.organizationId,
    states: ["open"],
    limit: 1,
  });
  assert.ok(change);
  const pauseId = randomUUID();
  const pause = {
    id: pauseId,
    organizationId: mine.organizationId,
    scope: mine.scope,
    level: "all" as const,
    author: ada,
  };
  await stores.intent.pause({ ...pause, reason: "r", forMs: 60_000 });

  const { read, intent } = stores;
  const { organizationId } = theirs;
  const { uid } = input.resource;
  const request = { organizationId, uid };
  const deletion = { ...request, author: ada, ifRevision: undefined, orphan: true, confirmedCount: undefined };
  assert.deepEqual(await intent.requestDeletion(deletion), { found: false, conflict: false });
  await intent.reconcileNow(request);
  const start = { operationId: "o", resourceUid: uid, pipeline: "zone.create", version: 1, input: {}, ends: false };
  const started = { ...start, organizationId, author: ada, priority: "person" as const };
  assert.deepEqual(await stores.operationIntents.startOperation(started), { result: "not-found" });
  const decision = { organizationId, heldChangeId: change.id };
  const approval = { ...decision, digest: change.digest, approver: grace, grantForMs: 1_000 };
  assert.deepEqual(await intent.approve(approval), { result: "not-found" });
  assert.equal(await intent.reject({ ...decision, author: ada }), false);
  assert.equal(await intent.endPause({ id: pauseId, organizationId, author: ada }), "not-found");
  assert.deepEqual(await read.history({ ...request, limit: 9 }), []);
  assert.deepEqual(await read.observation(request), []);
  assert.deepEqual(await read.listHeldChanges({ organizationId, states: ["open"], limit: 9 }), []);
  assert.deepEqual(await read.listPauses(organizationId), []);
  assert.equal(await read.getResource({ organizationId, scope: mine.scope, kind: "Zone", name: "secret" }), undefined);
  assert.equal((await mine.reload(input)).inputVersion, input.inputVersion);
});

test("the second wall stands by itself: no role of the product sees or writes past its tenant", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const [mine, theirs] = [await makeWorld(stores), await makeWorld(stores)];
  await mine.subject("secret");
  const client = new Client(url);
  await client.connect();
  const tables = await query<{ name: string }>(
    url,
    "select table_name as name from information_schema.columns where table_schema = 'setpoint' and column_name = 'organization_id'",
  );
  assert.ok(tables.length > 10);
  await client.query("set role setpoint_api");
  // A connection that never served a tenant; the statements' test has one that did.
  await assert.rejects(client.query("select from setpoint.resource"), /names no tenant/);
  for (const { name } of tables) {
    await client.query("begin");
    await client.query("select set_config('setpoint.organizations', $1, true)", [`{${theirs.organizationId}}`]);
    const text = `select from setpoint.${name} where organization_id = $1`;
    const seen = await client.query(text, [mine.organizationId]).catch((thrown: unknown) => thrown);
    await client.query("rollback");
    if (seen instanceof Error) assert.match(seen.message, /permission denied/);
    else assert.equal((seen as { rowCount: number }).rowCount, 0, name);
  }
  await client.query("begin");
  await client.query("select set_config('setpoint.organizations', $1, true)", [`{${theirs.organizationId}}`]);
  const insert = "insert into setpoint.link values ($1, 'u', 's', 'k', 'n')";
  await assert.rejects(client.query(insert, [mine.organizationId]), /row-level security/);
  await client.query("rollback");
  await client.end();
});

test("row-level security is forced on every table with a tenant, and the roles own nothing", async () => {
  const url = await server.createDatabase();
  const open = await query<{ name: string }>(
    url,
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'setpoint' and c.relkind = 'r' and not (c.relrowsecurity and c.relforcerowsecurity)
     order by name`,
  );
  // None of these has a row that belongs to one tenant.
  const shared = ["delete_budget", "delete_charge", "idle_cycle", "installation", "log_head", "loop_seen", "migration"];
  assert.deepEqual(
    open.map(({ name }) => name),
    [...shared, "notification_cursor", "shard", "shard_holder", "shard_seen", "worker_holder", "worker_shard"],
  );
  const powers = await query<{ role: string; owned: string }>(
    url,
    `select r.rolname as role, (select count(*) from pg_class c where c.relowner = r.oid) as owned from pg_roles r
     where r.rolname in ('setpoint_api', 'setpoint_engine')
       and not (r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcanlogin) order by role`,
  );
  assert.deepEqual(powers, [
    { role: "setpoint_api", owned: "0" },
    { role: "setpoint_engine", owned: "0" },
  ]);
});
