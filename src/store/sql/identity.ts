import type { PersonState, PlatformRole } from "../../ports/identity-store.ts";
import { statement } from "../statement.ts";

/** People belong to no organization: administration runs these, and no other role may. */
export interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly state: PersonState;
  readonly platform_role: PlatformRole;
  readonly verified: boolean;
  readonly person_created_at_ms: number;
}
export interface PersonProofsRow extends PersonRow {
  readonly password_hash: string | null;
  readonly has_totp: boolean;
  readonly passkeys: number;
  readonly recovery_codes: number;
}

const person = `p.id, p.email, p.name, p.state, p.platform_role, p.verified_at_ms is not null as verified,
     p.created_at_ms as person_created_at_ms`;
const proofs = `${person}, p.password_hash,
     exists (select from setpoint.totp as t where t.person_id = p.id and t.confirmed) as has_totp,
     (select count(*) from setpoint.passkey as k where k.person_id = p.id) as passkeys,
     (select count(*) from setpoint.recovery_code as r where r.person_id = p.id and r.used_at_ms is null) as recovery_codes`;

export const hasPeople = statement<{ found: boolean }>(
  "has people",
  "platform",
  "select exists (select from setpoint.person) as found",
);
export const personByEmail = statement<PersonProofsRow>(
  "person by email",
  "platform",
  `select ${proofs} from setpoint.person as p where p.email = $1`,
);
export const personById = statement<PersonProofsRow>(
  "person by id",
  "platform",
  `select ${proofs} from setpoint.person as p where p.id = $1`,
);
export const listPeople = statement<PersonRow>(
  "list people",
  "platform",
  `select ${person} from setpoint.person as p where p.email > $1 order by p.email limit $2`,
);
/** No row: somebody has that e-mail. */
export const insertPerson = statement<PersonRow>(
  "insert person",
  "platform",
  `insert into setpoint.person as p (id, email, name, password_hash, platform_role, verified_at_ms, created_at_ms)
   values ($1, $2, $3, $4, $5, case when $6::boolean then setpoint.now_ms() end, setpoint.now_ms())
   on conflict (email) do nothing returning ${person}`,
);
export const replaceUnverified = statement<{ email: string }>(
  "replace unverified",
  "platform",
  `with forgotten as (delete from setpoint.one_time_link where person_id = $1)
   update setpoint.person set name = $2, password_hash = $3 where id = $1 and verified_at_ms is null returning email`,
);
export const lockAdministrators = statement<{ id: string }>(
  "lock administrators",
  "platform",
  `select id from setpoint.person where platform_role = 'administrator' and state = 'active' order by id for no key update`,
);
export const updatePerson = statement<PersonRow>(
  "update person",
  "platform",
  `update setpoint.person as p set name = coalesce($2, p.name), state = coalesce($3, p.state),
     platform_role = coalesce($4, p.platform_role)
   where p.id = $1 returning ${person}`,
);
export const updatePassword = statement<{ email: string }>(
  "update password",
  "platform",
  `update setpoint.person set password_hash = $3 where id = $1 and password_hash is not distinct from $2 returning email`,
);
export const setPassword = statement<PersonRow>(
  "set password",
  "platform",
  `update setpoint.person as p set password_hash = $2, verified_at_ms = coalesce(p.verified_at_ms, setpoint.now_ms())
   where p.id = $1 and p.state = 'active' returning ${person}`,
);
export const markVerified = statement<never>(
  "mark verified",
  "platform",
  "update setpoint.person set verified_at_ms = setpoint.now_ms() where id = $1 and verified_at_ms is null",
);

export const takeAttempt = statement<{ wait_ms: number }>(
  "take attempt",
  "platform",
  "select setpoint.take_attempt($1, $2, $3) as wait_ms",
);
export const clearAttempts = statement<never>(
  "clear attempts",
  "platform",
  "delete from setpoint.attempt where bucket = any ($1::text[])",
);

export interface SessionRow extends PersonRow {
  readonly session_id: string;
  readonly created_at_ms: number;
  readonly last_seen_at_ms: number;
  readonly ends_at_ms: number;
  readonly proven_for_ms: number;
  readonly address: string;
  readonly user_agent: string;
  readonly now_ms: number;
}
const session = `s.id as session_id, s.created_at_ms, s.last_seen_at_ms, s.ends_at_ms,
     setpoint.now_ms() - s.proven_at_ms as proven_for_ms, s.address, s.user_agent, setpoint.now_ms() as now_ms, ${person}`;

/** No row: the person is not active, or signed in with a password that is no longer theirs. */
export const insertSession = statement<{ id: string }>(
  "insert session",
  "platform",
  `insert into setpoint.session
     (id, token_hash, person_id, created_at_ms, proven_at_ms, last_seen_at_ms, ends_at_ms, address, user_agent)
   select $2, $3, p.id, now.ms, now.ms, now.ms, now.ms + $4::bigint, $5, $6
   from setpoint.person as p cross join (select setpoint.now_ms() as ms) as now
   where p.id = $1 and p.state = 'active' and ($7::text is null or p.password_hash = $7)
   for share of p
   returning id`,
);
/** Judged by the store's clock: neither idle nor older than it may be, of somebody who is active. */
export const findSession = statement<SessionRow>(
  "find session",
  "platform",
  `select ${session} from setpoint.session as s join setpoint.person as p on p.id = s.person_id
   where s.token_hash = $1 and p.state = 'active'
     and s.ends_at_ms > setpoint.now_ms() and s.last_seen_at_ms + $2::bigint > setpoint.now_ms()`,
);
export const findSessionById = statement<SessionRow>(
  "find session by id",
  "platform",
  `select ${session} from setpoint.session as s join setpoint.person as p on p.id = s.person_id
   where s.id = $1 and p.state = 'active'
     and s.ends_at_ms > setpoint.now_ms() and s.last_seen_at_ms + $2::bigint > setpoint.now_ms()`,
);
export const readSession = statement<SessionRow>(
  "read session",
  "platform",
  `select ${session} from setpoint.session as s join setpoint.person as p on p.id = s.person_id where s.id = $1`,
);
export const listSessions = statement<SessionRow>(
  "list sessions",
  "platform",
  `select ${session} from setpoint.session as s join setpoint.person as p on p.id = s.person_id
   where s.person_id = $1 and p.state = 'active'
     and s.ends_at_ms > setpoint.now_ms() and s.last_seen_at_ms + $2::bigint > setpoint.now_ms()
   order by s.last_seen_at_ms desc, s.id`,
);
export const touchSession = statement<never>(
  "touch session",
  "platform",
  "update setpoint.session set last_seen_at_ms = setpoint.now_ms() where id = $1",
);
export const proveSession = statement<{ id: string }>(
  "prove session",
  "platform",
  "update setpoint.session set proven_at_ms = setpoint.now_ms() where id = $1 and person_id = $2 returning id",
);
export const deleteSession = statement<{ id: string }>(
  "delete session",
  "platform",
  "delete from setpoint.session where id = $1 and person_id = $2 returning id",
);
export const deleteSessionByHash = statement<never>(
  "delete session by hash",
  "platform",
  "delete from setpoint.session where token_hash = $1",
);
export const deleteOtherSessions = statement<{ id: string }>(
  "delete other sessions",
  "platform",
  "delete from setpoint.session where person_id = $1 and id is distinct from $2 returning id",
);
/** What ran out is of no use to anybody. A little at a time, whenever somebody signs in. */
export const deleteOldSessions = statement<never>(
  "delete old sessions",
  "platform",
  `delete from setpoint.session where id in (
     select id from setpoint.session where ends_at_ms < setpoint.now_ms() limit 100 for update skip locked)`,
);
export const deleteOldLinks = statement<never>(
  "delete old links",
  "platform",
  `delete from setpoint.one_time_link where token_hash in (
     select token_hash from setpoint.one_time_link where expires_at_ms < setpoint.now_ms() limit 100 for update skip locked)`,
);
export const deleteOldChallenges = statement<never>(
  "delete old challenges",
  "platform",
  `delete from setpoint.passkey_challenge where challenge in (
     select challenge from setpoint.passkey_challenge where expires_at_ms < setpoint.now_ms() limit 100
     for update skip locked)`,
);
export const deleteOldAttempts = statement<never>(
  "delete old attempts",
  "platform",
  `delete from setpoint.attempt where bucket in (
     select bucket from setpoint.attempt where full_at_ms < setpoint.now_ms() limit 100 for update skip locked)`,
);

export const rootKeyCheck = statement<{ sealed: string }>(
  "root key check",
  "platform",
  `with made as (
     insert into setpoint.root_key (sealed) values ($1) on conflict do nothing returning sealed
   )
   select sealed from made union all select sealed from setpoint.root_key limit 1`,
);
