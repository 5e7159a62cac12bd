import { Client } from "pg";
import { canonical, digestOf } from "../../src/kernel/hash.ts";
import { migrate } from "../../src/store/migrate.ts";
import type { Progress } from "../harness/progress.ts";
import { benchLog } from "./bench-engine.ts";
import {
  accountOf,
  accountsOf,
  type Geometry,
  installationId,
  itemCount,
  itemExternalId,
  itemName,
  itemSpec,
  itemUid,
  organizationCount,
  organizationId,
  subjectIdOf,
} from "./geometry.ts";
import { makeSample } from "./sample.ts";

/** SQL of an item's names by its number `n`; the same as in geometry.ts, which the sample proves. */
const named = `select 'item-' || lpad(n::text, 7, '0') as name,
  '00000000-0000-4000-b000-' || lpad(to_hex(n), 12, '0') as uid,
  'thing-' || lpad(n::text, 7, '0') as external_id,
  repeat(lpad(to_hex((n::bigint * 2654435761) % 4294967296), 8, '0'), 13) as value`;

const CONNECTIONS = 2;

/** The product's schema with this many subjects in it, all as the kernel would have left them: converged and idle. */
export async function seed(url: string, geometry: Geometry, progress: Progress): Promise<void> {
  await migrate({ url, log: benchLog });
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)));
  const [client] = clients as [Client];
  try {
    await client.query("update setpoint.installation set id = $1", [installationId]);
    await makeSample(url, geometry);
    await requireSameHashes(client);
    await seedAccounts(client, geometry);
    const indexes = await dropIndexes(client);
    progress.say(`multiplying one converged subject by ${itemCount(geometry)}`);
    await fillTables(clients, geometry);
    await inTurn(clients, indexes);
    await client.query("select setval('setpoint.subject_id_seq', (select max(id) from setpoint.subject))");
    await inTurn(
      clients,
      ["subject", "subject_summary", "resource", "subject_state", "subject_observation", "claim", "subject_due"].map(
        (table) => `vacuum analyze setpoint.${table}`,
      ),
    );
  } finally {
    await Promise.all(clients.map((each) => each.end()));
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  // The seed writes the rows of all tenants, and nobody counts them meanwhile.
  await client.query("set row_security = off; set session_replication_role = replica");
  return client;
}

/** Secondary indexes are made after the rows: sorting once is several times quicker than inserting a million times. */
async function dropIndexes(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index as i join pg_class as c on c.oid = i.indrelid
     where c.relnamespace = 'setpoint'::regnamespace and c.relname in ('subject', 'subject_summary', 'resource', 'subject_state', 'subject_observation', 'claim')
       and not i.indisprimary`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

async function inTurn(clients: readonly Client[], statements: readonly string[]): Promise<void> {
  const left = [...statements];
  const work = async (client: Client) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await client.query(next);
  };
  await Promise.all(clients.map(work));
}

async function seedAccounts(client: Client, geometry: Geometry): Promise<void> {
  const accounts = accountsOf(geometry).slice(1);
  const organizations = Array.from({ length: organizationCount(geometry) }, (_, number) =>
    organizationId(number),
  ).slice(1);
  const ofOrganization = "from unnest($1::uuid[]) as o (id)";
  await client.query(
    `insert into setpoint.organization select (s).* from (
       select jsonb_populate_record(t, jsonb_build_object('id', o.id, 'name', o.id)) as s ${ofOrganization},
         (select t from setpoint.organization as t limit 1) as one (t)) as made`,
    [organizations],
  );
  await client.query(
    `insert into setpoint.scope select (s).* from (
       select jsonb_populate_record(t, jsonb_build_object('organization_id', o.id, 'scope', 'organization/' || o.id,
         'path', jsonb_build_array('platform', 'organization/' || o.id))) as s ${ofOrganization},
         (select t from setpoint.scope as t limit 1) as one (t)) as made`,
    [organizations],
  );
  const values = [
    accounts.map(({ id }) => id),
    accounts.map((account) => account.organizationId),
    accounts.map(({ firstItem }) => firstItem),
  ];
  const ofAccount = "from unnest($1::text[], $2::uuid[], $3::bigint[]) as a (id, organization_id, first_item)";
  await client.query(
    `insert into setpoint.account select (s).* from (
       select jsonb_populate_record(t, jsonb_build_object('organization_id', a.organization_id, 'id', a.id, 'name', a.id,
         'settings', jsonb_build_object('firstItem', a.first_item), 'fingerprint', 'bench/' || a.id)) as s ${ofAccount},
         (select t from setpoint.account as t limit 1) as one (t)) as made`,
    values,
  );
  await client.query(
    `insert into setpoint.account_budget select (s).* from (
       select jsonb_populate_record(t, jsonb_build_object('organization_id', a.organization_id, 'account_id', a.id)) as s
       ${ofAccount}, (select t from setpoint.account_budget as t limit 1) as one (t)) as made`,
    values,
  );
}

/** What is computed of each row; the rest is as in the sample. The tables that take longest come first. */
function computedColumns(
  geometry: Geometry,
  { spec, memory, observation, accountKey }: SampleTexts,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const text = (sample: string) => textOf(geometry, sample);
  return {
    subject_state: {
      organization_id: "a.organization_id",
      subject_id: "n + 1",
      memory: `${text(memory)}::json`,
      observation_hash: "h.observed",
    },
    resource: {
      organization_id: "a.organization_id",
      uid: "v.uid",
      name: "v.name",
      scope: "'organization/' || a.organization_id",
      path: "array['platform', 'organization/' || a.organization_id]",
      spec: `${text(spec)}::json`,
    },
    subject: {
      id: "n + 1",
      organization_id: "a.organization_id",
      resource_uid: "v.uid",
      account_id: "a.id",
      name: "v.name",
      shard: "a.shard",
    },
    subject_summary: {
      subject_id: "n + 1",
      organization_id: "a.organization_id",
      resource_uid: "v.uid",
      scope: "'organization/' || a.organization_id",
      name: "v.name",
    },
    subject_observation: {
      organization_id: "a.organization_id",
      subject_id: "n + 1",
      observation: `${text(observation)}::json`,
    },
    claim: {
      organization_id: "a.organization_id",
      account_key: text(accountKey),
      external_id: "v.external_id",
      subject_id: "n + 1",
      key: "v.name",
    },
  };
}

/** Each connection takes the next table and multiplies its sample. */
async function fillTables(clients: readonly Client[], geometry: Geometry): Promise<void> {
  const [client] = clients as [Client];
  const tables = Object.entries(computedColumns(geometry, await sampleTexts(client)));
  const accounts = accountsOf(geometry);
  const values = [
    accounts.map(({ id }) => id),
    accounts.map((account) => account.organizationId),
    accounts.map(({ shard }) => shard),
    accounts.map(({ firstItem }) => firstItem),
    geometry.itemsPerAccount,
  ];
  const work = async (each: Client) => {
    for (let next = tables.shift(); next !== undefined; next = tables.shift())
      await fillTable(each, next[0], await copyStatement(each, geometry, ...next), values);
  };
  await Promise.all(clients.map(work));
}

/** Emptied and filled in one transaction: what goes into a table that nobody else has seen yet is not logged. */
async function fillTable(client: Client, table: string, statement: string, values: readonly unknown[]): Promise<void> {
  await client.query("begin");
  await client.query(`create temporary table sample on commit drop as select * from setpoint.${table}`);
  await client.query(`truncate setpoint.${table}`);
  await client.query(`insert into setpoint.${table} select * from sample`);
  await client.query(statement, [...values]);
  await client.query("commit");
}

interface SampleTexts {
  readonly spec: string;
  readonly memory: string;
  readonly observation: string;
  readonly accountKey: string;
}

async function sampleTexts(client: Client): Promise<SampleTexts> {
  const { rows } = await client.query<SampleTexts>(
    `select r.spec::text, t.memory::text, o.observation::text, c.account_key as "accountKey"
     from setpoint.resource as r, setpoint.subject_state as t, setpoint.subject_observation as o, setpoint.claim as c`,
  );
  if (rows.length !== 1 || rows[0] === undefined)
    throw new Error(`The sample left ${rows.length} combinations of rows; expected one resource, one state, one claim`);
  return rows[0];
}

/** Copies the table's one sample row, with some columns computed from the item's number and its account. */
async function copyStatement(
  client: Client,
  geometry: Geometry,
  table: string,
  computed: Readonly<Record<string, string>>,
): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'setpoint.${table}'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  const columns = rows.map(({ name }) => name);
  const unknown = Object.keys(computed).filter((name) => !columns.includes(name));
  if (unknown.length > 0)
    throw new Error(`The table ${table} has no ${unknown.join(", ")}; the seed must follow the schema`);
  const expressions = columns.map((name) => computed[name] ?? `s.${name}`);
  const hashes = `select ${hashOf(geometry, contentOf(0))} as wanted, ${observedHash(geometry)} as observed`;
  // "offset 0" keeps the planner from pulling these up and computing them once per mention.
  return `insert into setpoint.${table} (${columns.join(", ")})
    select ${expressions.join(", ")}
    from unnest($1::text[], $2::uuid[], $3::smallint[], $4::bigint[]) as a (id, organization_id, shard, first_item)
    cross join lateral generate_series(a.first_item, a.first_item + $5::bigint - 1) as n
    cross join lateral (${named} offset 0) as v
    cross join lateral (${expressions.some((sql) => sql.includes("h.")) ? hashes : "select 0"} offset 0) as h
    cross join sample as s
    where n > 0`;
}

/** The sample's text with everything that names the sample replaced by what names the item, joined in one pass. */
function textOf(geometry: Geometry, sample: string): string {
  const columns = new Map([
    [itemName(0), "v.name"],
    [itemUid(0), "v.uid"],
    [itemExternalId(0), "v.external_id"],
    [itemSpec(0, "").value, "v.value"],
    [accountOf(geometry, 0).id, "a.id"],
    [digestOf(contentOf(0)), "h.wanted"],
    [digestOf(observed()), "h.observed"],
  ]);
  const parts = sample.split(new RegExp(`(${[...columns.keys()].join("|")})`));
  return `concat(${parts.map((part) => columns.get(part) ?? `'${part}'`).join(", ")})`;
}

/** A digest as the kernel makes it, over the canonical text of the item instead of the sample's. */
function hashOf(geometry: Geometry, ofSample: unknown): string {
  return hashOfText(textOf(geometry, canonical(ofSample)));
}

function hashOfText(text: string): string {
  return `left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 32)`;
}

/** The digest of an observation has the digest of its list in it. */
function observedHash(geometry: Geometry): string {
  const [before = "", behind = ""] = canonical(observed()).split(digestOf(listed()));
  return hashOfText(`concat('${before}', ${hashOf(geometry, listed())}, '${behind}')`);
}

function contentOf(item: number) {
  const { value, region, tier } = itemSpec(item, "");
  return { value, region, tier };
}
function listed(): unknown {
  return [[itemName(0), itemExternalId(0), contentOf(0)]];
}
/** What the kernel digests of an observation: the list, and which of it is ours. */
function observed(): unknown {
  return ["complete", digestOf(listed()), "+"];
}

/** When the kernel digests something else one day, the seed must fail here and not measure a million first writes. */
async function requireSameHashes(client: Client): Promise<void> {
  const { rows } = await client.query<{ hash: string; memory: string }>(
    "select observation_hash as hash, memory::text from setpoint.subject_state where subject_id = $1",
    [subjectIdOf(0)],
  );
  const [row] = rows;
  if (row?.hash !== digestOf(observed()) || !row.memory.includes(digestOf(contentOf(0))))
    throw new Error("The kernel's digests are not what the seed computes; bring bench/scheduler/seed.ts up to date");
  const { rows: names } = await client.query<{ name: string; uid: string; external_id: string; value: string }>(
    `${named} from (values (54321::bigint)) as item (n)`,
  );
  const [one] = names;
  const expected = [itemName(54321), itemUid(54321), itemExternalId(54321), itemSpec(54321, "").value];
  if (one === undefined || [one.name, one.uid, one.external_id, one.value].join() !== expected.join())
    throw new Error("The seed names items differently in SQL; bring bench/scheduler/seed.ts up to date");
}
