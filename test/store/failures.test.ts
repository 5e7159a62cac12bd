import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { StoreError } from "../../src/store/errors.ts";
import { query } from "../support/postgres.ts";
import { openStores, type StoreServer, startStoreServer } from "./support/stores.ts";
import { changeRecord, makeWorld, permitFor } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

function isStoreError(code: StoreError["code"], retryable: boolean) {
  return (thrown: unknown) => thrown instanceof StoreError && thrown.code === code && thrown.retryable === retryable;
}

test("a full disk is called by its name, and nothing is half-written", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const input = await world.subject("full");
  await query(
    url,
    `create function public.no_space() returns trigger language plpgsql as $$
     begin raise exception using errcode = '53100', message = 'No space left on device'; end $$`,
  );
  await query(url, "create trigger no_space before insert on setpoint.change execute function public.no_space()");
  const memory = { ...input.memory, attempts: 4 };
  const permit = permitFor(world, input, { changes: [changeRecord()], memory });
  await assert.rejects(stores.engine.permit(permit), isStoreError("DISK_FULL", true));
  assert.equal((await world.reload(input)).memory.attempts, 0);
  await query(url, "drop trigger no_space on setpoint.change");
  assert.deepEqual(await stores.engine.permit(permit), { granted: true });
});

test("connections that the server closes are made again", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const input = await world.subject("closed");
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  // The first calls may still meet the closed connections, and say so.
  for (let attempt = 0; ; attempt++) {
    try {
      assert.equal((await world.reload(input)).subject.id, input.subject.id);
      break;
    } catch (thrown) {
      assert.ok(isStoreError("DATABASE_UNREACHABLE", true)(thrown), String(thrown));
      assert.ok(attempt < 10, "the pool never recovered");
    }
  }
  assert.equal((await stores.read.listScopes(world.organizationId)).length, 1);
});

test("a transaction that loses a race runs again by itself", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  await query(
    url,
    `create function public.deadlock() returns trigger language plpgsql as $$
     begin
       if nextval('public.tries') < 3 then raise exception using errcode = '40P01', message = 'deadlock detected'; end if;
       return new;
     end $$`,
  );
  await query(url, "create sequence public.tries");
  await query(url, "grant usage on sequence public.tries to setpoint_api");
  await query(
    url,
    "create trigger lost before insert on setpoint.resource for each row execute function public.deadlock()",
  );
  const uid = await world.declare({ name: "tried-again" });
  const { organizationId, scope } = world;
  const view = await stores.read.getResource({ organizationId, scope, kind: "Zone", name: "tried-again" });
  assert.deepEqual([view?.resource.uid, view?.revision], [uid, 1]);
});

test("a batch of loads that would be huge is loaded one by one", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const inputs = [await world.subject("huge"), await world.subject("small")];
  await query(
    url,
    `insert into setpoint.resource select organization_id, uid || n, 'Record', 'r' || n, scope, path, '{}', '{}', 'ada',
       'person', null, null, 1, 1, 0, null, '{}' from setpoint.resource, generate_series(1, 50100) n where name = 'huge'`,
  );
  await query(
    url,
    `insert into setpoint.link select organization_id, uid, scope, 'Zone', 'huge' from setpoint.resource where kind = 'Record'`,
  );
  const loaded = await Promise.all(inputs.map(({ subject }) => stores.engine.load(subject.id)));
  assert.deepEqual(
    loaded.map((input) => input?.inputs.length),
    [50_100, 0],
  );
});
