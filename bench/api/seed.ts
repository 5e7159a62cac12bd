import { Client } from "pg";
import { statusOf } from "../../src/kernel/status.ts";
import type { SubjectStatus } from "../../src/ports/records.ts";
import { migrate } from "../../src/store/migrate.ts";
import type { Progress } from "../harness/progress.ts";
import { accountId, type ApiGeometry, heldOneIn, organizationId, scope, teams, unreadyOneIn } from "./geometry.ts";
import { benchLog } from "../scheduler/bench-engine.ts";

/** Zones `zone-0000001` and so on: declared at different times, labelled, most of them ready. */
export async function seed(url: string, { resources }: ApiGeometry, progress: Progress): Promise<void> {
  await migrate({ url, log: benchLog });
  await using clients = new AsyncDisposableStack();
  const client = await seedingClient(url, clients);
  const another = await seedingClient(url, clients);
  await seedOrganization(client);
  const indexes = await dropIndexes(client);
  progress.say(`declaring ${resources} zones`);
  await Promise.all([seedZones(client, resources), seedSubjects(another, resources)]);
  const inTurn = async (one: Client) => {
    for (let next = indexes.shift(); next !== undefined; next = indexes.shift()) await one.query(next);
  };
  await Promise.all([inTurn(client), inTurn(another)]);
  await client.query("select setval('setpoint.subject_id_seq', (select max(id) from setpoint.subject))");
  await client.query("vacuum analyze");
}

async function seedingClient(url: string, clients: AsyncDisposableStack): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  clients.defer(() => client.end());
  // Triggers would count each of them; they are counted at once instead.
  await client.query("set row_security = off; set session_replication_role = replica");
  return client;
}

async function seedOrganization(client: Client): Promise<void> {
  await client.query("insert into setpoint.organization (id, name) values ($1, 'bench')", [organizationId]);
  await client.query(
    "insert into setpoint.scope (organization_id, scope, parent, path) values ($1, $2, 'platform', array['platform', $2])",
    [organizationId, scope],
  );
  await client.query(
    "insert into setpoint.account (organization_id, id, name, provider, settings) values ($1, $2, 'lab', 'powerdns', '{}')",
    [organizationId, accountId],
  );
  await client.query(
    `insert into setpoint.account_budget (account_id, organization_id, calls_per_second, tokens, tokens_at_ms)
     values ($2, $1, 10, 10, 0)`,
    [organizationId, accountId],
  );
  await client.query("insert into setpoint.quota (organization_id, kind, most) values ($1, '*', 1000000000)", [
    organizationId,
  ]);
}

const zone = `select n, 'zone-' || lpad(n::text, 7, '0') as name, '00000000-0000-4000-b000-' || lpad(to_hex(n), 12, '0') as uid,
  n % ${unreadyOneIn} = 0 as unready, n % ${heldOneIn} = 0 as held, (n::bigint * 7919) % 100000000 as mixed
  from generate_series(1, $1::integer) as n`;

async function seedZones(client: Client, count: number): Promise<void> {
  const labels = `jsonb_build_object('team', 'team-' || (z.n % ${teams}))`;
  await client.query(
    `insert into setpoint.resource (organization_id, uid, kind, name, scope, path, spec, labels, author_name, author_type,
       mode, generation, revision, declared_at_ms, field_owners)
     select $2, z.uid, 'DnsZone', z.name, $3, array['platform', $3], json_build_object('account', 'lab', 'zone', z.name || '.test'),
       ${labels}, 'bench', 'machine', case when z.n % 3 = 0 then 'enforce' else 'observe' end, 1, 1, 1700000000000 + z.mixed, '{}'
     from (${zone}) as z`,
    [count, organizationId, scope],
  );
  await client.query(
    `insert into setpoint.resource_label (organization_id, scope, kind, term, name)
     select $2, $3, 'DnsZone', term.text, z.name from (${zone}) as z
     cross join lateral (values ('team'), ('team=team-' || (z.n % ${teams}))) as term (text)`,
    [count, organizationId, scope],
  );
  await client.query(
    "insert into setpoint.resource_count (organization_id, kind, slot, count) values ($1, 'DnsZone', 0, $2)",
    [organizationId, count],
  );
}

async function seedSubjects(client: Client, count: number): Promise<void> {
  await client.query(
    `insert into setpoint.subject (id, organization_id, resource_uid, account_id, kind, name, shard)
     select z.n, $2, z.uid, $3, 'DnsZone', z.name, z.n % 64 from (${zone}) as z`,
    [count, organizationId, accountId],
  );
  await client.query(
    `insert into setpoint.subject_summary (subject_id, organization_id, resource_uid, scope, kind, name, ready, drifted, held,
       version, changed_at_ms)
     select z.n, $2, z.uid, $3, 'DnsZone', z.name, case when z.unready then 'False' else 'True' end, z.unready, z.held, 1,
       1700000000000 + z.mixed from (${zone}) as z`,
    [count, organizationId, scope],
  );
  await client.query(
    `insert into setpoint.subject_state (organization_id, subject_id, status)
     select $2, z.n, case when z.unready then $3::json else $4::json end from (${zone}) as z`,
    [count, organizationId, JSON.stringify(statusText("held")), JSON.stringify(statusText("converged"))],
  );
}

function statusText(result: "held" | "converged"): SubjectStatus {
  return statusOf({
    nowMs: Date.now(),
    generation: 1,
    result,
    message: result === "held" ? "3 deletes wait for a person" : "as declared",
    verdicts: [],
    differences: result === "held" ? 3 : 0,
    owned: 10,
    held: result === "held" ? 1 : 0,
    bad: false,
    lookedAtMs: Date.now(),
    flips: [],
    previous: undefined,
  });
}

/** Secondary indexes are made after the rows: sorting once is several times quicker than inserting a million times. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index as i join pg_class as c on c.oid = i.indrelid
     where c.relnamespace = 'setpoint'::regnamespace
       and c.relname in ('subject', 'subject_summary', 'resource', 'subject_state') and not i.indisprimary`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}
