import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { migrate } from "../../src/store/migrate.ts";
import { pageStatements } from "../../src/store/sql/listing.ts";
import { tenantEnds } from "../../src/store/sql/sealing.ts";
import { allStatements } from "./support/all-statements.ts";
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

/** Queues: empty at one moment, with a hundred thousand rows in them at the next. */
const QUEUES = /^(subject_due|operation_due)$/;
/** These count or choose among all that wait. */
const READ_WHOLE = ["left by organization", "not looked at", "due operations", "queue places"];

/** Tables that a plan reads without a condition on the index. */
function readWhole(plan: string): readonly string[] {
  const nodes = plan.split(/^ *(?:->|[A-Z]\w*Plan \d)/m);
  const scans = nodes.filter((node) => !/^ +Index Cond:/m.test(node));
  return scans.flatMap((node) => /Scan(?: Backward)?(?: using \w+)? on (\w+)/.exec(node)?.[1] ?? []);
}

test("a plan made while a queue was empty never reads the whole queue for each of its rows when it is full", async () => {
  const url = await server.createDatabase();
  await migrate({ url, log: silentLog });
  const empty = new Client(url);
  await empty.connect();
  try {
    // What the server itself does from time to time: from now on it believes that everything is empty.
    await empty.query("vacuum analyze");
    await empty.query("set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off");
    const found: string[] = [];
    for (const { name, text } of await allStatements()) {
      const { rows } = await empty.query<{ "QUERY PLAN": string }>(`explain (generic_plan, costs off) ${text}`);
      const whole = readWhole(rows.map((row) => row["QUERY PLAN"]).join("\n")).filter((table) => QUEUES.test(table));
      if (whole.length > 0 && !READ_WHOLE.includes(name.replace("setpoint ", "")))
        found.push(`${name}: ${whole.join(", ")}`);
    }
    assert.deepEqual(found, []);
  } finally {
    await empty.end();
  }
});
