import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Database } from "../../src/store/database.ts";
import { StoreError } from "../../src/store/errors.ts";
import { call, statement } from "../../src/store/statement.ts";
import { type StoreServer, silentLog, startStoreServer } from "./support/stores.ts";
import { query } from "../support/postgres.ts";

let server: StoreServer;
let url: string;
before(async () => {
  server = await startStoreServer();
  url = await server.createDatabase();
  await query(url, "create table public.kept (number integer primary key)");
  await query(url, "grant all on public.kept to setpoint_admin");
});
after(() => server[Symbol.asyncDispose]());

const keep = statement<{ number: number }>(
  "test keep",
  "platform",
  "insert into public.kept (number) values ($1) returning number",
);
const count = statement<{ count: number }>("test count", "platform", "select count(*) from public.kept");

function openDatabase(sent: string[] = []): Database & AsyncDisposable {
  const database = new Database({
    url,
    role: "setpoint_admin",
    log: silentLog,
    max: 1,
    onStatement: ({ statement: { name } }) => void sent.push(name),
  });
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.end() });
}

test("the last calls of a transaction are committed with it, once", async () => {
  const sent: string[] = [];
  await using database = openDatabase(sent);
  const rows = await database.transaction("platform", async (tx) => {
    const [before] = await tx.run(count);
    const [first, second] = await tx.finish([call(keep, 1), call(keep, 2)]);
    return { before: before?.count, first, second };
  });
  assert.deepEqual(rows, { before: 0, first: [{ number: 1 }], second: [{ number: 2 }] });
  assert.equal(sent.filter((name) => name === "setpoint commit").length, 1);
  assert.deepEqual(await database.run("platform", call(count)), [{ count: 2 }]);
});

test("when one of the last calls fails, nothing is kept, the cause is named and the connection goes on", async () => {
  await using database = openDatabase();
  const failing = database.transaction("platform", (tx) => tx.finish([call(keep, 3), call(keep, 3), call(keep, 4)]));
  await assert.rejects(failing, (thrown) => thrown instanceof StoreError && thrown.code === "ALREADY_EXISTS");
  assert.deepEqual(await database.run("platform", call(count)), [{ count: 2 }]);
});
