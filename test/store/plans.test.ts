import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { migrate } from "../../src/store/migrate.ts";
import { pageStatements } from "../../src/store/sql/listing.ts";
import { tenantEnds } from "../../src/store/sql/sealing.ts";
import { type StoreServer, silentLog, startStoreServer } from "./support/stores.ts";

let server: StoreServer;
let client: Client;
before(async () => {
  server = await startStoreServer();
  const url = await server.createDatabase();
  await migrate({ url, log: silentLog });
  client = new Client(url);
  await client.connect();
  // As the sessions of the product are.
  await client.query("set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off");
});
after(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

async function planOf(role: string, text: string): Promise<string> {
  await client.query(`set role ${role}`);
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (generic_plan, costs off) ${text}`);
  await client.query("reset role");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

for (const [key, { text }] of pageStatements) {
  test(`a page by ${key} enters its index where the page begins, behind row-level security too`, async () => {
    const plan = await planOf("setpoint_api", text);
    const entered = /^\s+Index Cond: .*(\(name [<>] \$4\)|ROW\(\w+, \w+\) [<>] ROW\(\$5, )/m;
    assert.match(plan, entered);
  });
}

test("the platform's last entry is not looked for among those of everybody", async () => {
  const plan = await planOf("setpoint_admin", tenantEnds.text);
  assert.doesNotMatch(plan, /sealed_entry_pkey/);
  assert.match(plan, /Index Cond: \(organization_id IS NULL\)/);
});
