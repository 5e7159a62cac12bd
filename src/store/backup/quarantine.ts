import type pg from "pg";
import { clearLeases, clearPermits, raiseIncarnation } from "../sql/governance.ts";

/** What a restore left out of force, for the operator to go through. */
export interface Quarantined {
  readonly incarnation: number;
  /** How many of each were ended: sessions, tokens, invites, links. */
  readonly ended: Readonly<Record<string, number>>;
  readonly memberships: readonly { readonly organization: string; readonly person: string; readonly roles: string }[];
}

const frozenForMs = 30 * 24 * 3_600_000;

/** What let somebody in at the time of the backup may have been taken away from them since. */
const endings: readonly { readonly what: string; readonly table: string; readonly text: string }[] = [
  { what: "sessions", table: "session", text: "delete from setpoint.session" },
  { what: "links", table: "one_time_link", text: "delete from setpoint.one_time_link" },
  {
    what: "tokens",
    table: "credential",
    text: `update setpoint.credential set revoked_at_ms = setpoint.now_ms(), revoked_by = 'setpoint (restored)'
           where revoked_at_ms is null`,
  },
  {
    what: "invites",
    table: "invite",
    text: `update setpoint.invite set revoked_at_ms = setpoint.now_ms()
           where accepted_at_ms is null and revoked_at_ms is null`,
  },
  {
    what: "memberships (until confirmed)",
    table: "membership",
    text: "update setpoint.membership set confirmed = false",
  },
  {
    what: "roles on the platform",
    table: "person",
    text: "update setpoint.person set platform_role = 'none' where platform_role <> 'none'",
  },
];

/**
 * Makes a restored database safe before anybody can use it: a new incarnation, frozen and observing, and nothing in it
 * opens a door. Part of the transaction that restores.
 */
export async function quarantine(client: pg.Client): Promise<Quarantined> {
  const ended: Record<string, number> = {};
  const members = await listMembers(client);
  for (const { what, table, text } of endings) {
    if (await exists(client, table)) ended[what] = (await client.query(text)).rowCount ?? 0;
  }
  const { rows } = await client.query<{ incarnation: string }>(raiseIncarnation.text);
  const incarnation = Number(rows[0]?.incarnation ?? 1);
  await client.query(clearLeases.text);
  await client.query(clearPermits.text);
  await freeze(client, incarnation);
  await observe(client);
  await client.query(
    `insert into setpoint.log_entry (organization_id, type, actor, data, at_ms)
     values (null, 'installation.restored', 'setpoint', $1::json, setpoint.now_ms())`,
    [JSON.stringify({ incarnation, ended })],
  );
  return { incarnation, ended, memberships: members };
}

async function freeze(client: pg.Client, incarnation: number): Promise<void> {
  await client.query(
    `insert into setpoint.pause (id, organization_id, scope, level, author, reason, expires_at_ms)
     values ($1, null, 'platform', 'writes', 'setpoint', $2, setpoint.now_ms() + $3::bigint)`,
    [`restored-${incarnation}`, "restored from a backup: look at what is there, then resume", frozenForMs],
  );
}

/** No scope below can be less strict than the platform. */
async function observe(client: pg.Client): Promise<void> {
  await client.query(
    `insert into setpoint.policy (organization_id, scope, body, four_eyes) values (null, 'platform', '{"mode":"observe"}', false)
     on conflict (scope, organization_id) do update set body = (policy.body::jsonb || '{"mode":"observe"}')::json`,
  );
}

/** A backup of an older version has fewer tables. */
async function exists(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>("select to_regclass($1) is not null as found", [
    `setpoint.${table}`,
  ]);
  return rows[0]?.found === true;
}

async function listMembers(client: pg.Client): Promise<Quarantined["memberships"]> {
  if (!(await exists(client, "membership"))) return [];
  const { rows } = await client.query<Quarantined["memberships"][number]>(
    `select o.name as organization, p.email as person,
       coalesce(string_agg(b.role || ' at ' || b.scope, ', ' order by b.scope, b.role), 'no role') as roles
     from setpoint.membership as m
     join setpoint.organization as o on o.id = m.organization_id
     join setpoint.person as p on p.id = m.person_id
     left join setpoint.role_binding as b on b.organization_id = m.organization_id and b.person_id = m.person_id
     group by o.name, p.email order by o.name, p.email`,
  );
  return rows;
}
