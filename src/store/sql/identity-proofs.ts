import type { LinkPurpose, PersonState, PlatformRole } from "../../ports/identity-store.ts";
import { statement } from "../statement.ts";

/** No row: codes are on already, and must be turned off first. */
export const startTotp = statement<{ person_id: string }>(
  "start totp",
  "platform",
  `insert into setpoint.totp as t (person_id, sealed_secret) values ($1, $2)
   on conflict (person_id) do update set sealed_secret = excluded.sealed_secret, last_step = 0 where not t.confirmed
   returning person_id`,
);
export const readTotp = statement<{ sealed_secret: string; confirmed: boolean }>(
  "read totp",
  "platform",
  "select sealed_secret, confirmed from setpoint.totp where person_id = $1",
);
export const confirmTotp = statement<{ person_id: string }>(
  "confirm totp",
  "platform",
  `update setpoint.totp set confirmed = true, last_step = $2
   where person_id = $1 and not confirmed and last_step < $2 returning person_id`,
);
/** The code of a step is good for one use: whoever comes second finds the step taken. */
export const useTotpStep = statement<{ person_id: string }>(
  "use totp step",
  "platform",
  "update setpoint.totp set last_step = $2 where person_id = $1 and confirmed and last_step < $2 returning person_id",
);
export const deleteTotp = statement<{ person_id: string }>(
  "delete totp",
  "platform",
  "delete from setpoint.totp where person_id = $1 returning person_id",
);

export const deleteRecoveryCodes = statement<never>(
  "delete recovery codes",
  "platform",
  "delete from setpoint.recovery_code where person_id = $1",
);
export const insertRecoveryCodes = statement<{ person_id: string }>(
  "insert recovery codes",
  "platform",
  `insert into setpoint.recovery_code (person_id, code_hash)
   select $1, code from unnest($2::text[]) as code
   where exists (select from setpoint.totp where person_id = $1 and confirmed) returning person_id`,
);
export const useRecoveryCode = statement<{ person_id: string }>(
  "use recovery code",
  "platform",
  `update setpoint.recovery_code set used_at_ms = setpoint.now_ms()
   where person_id = $1 and code_hash = $2 and used_at_ms is null returning person_id`,
);

export const insertChallenge = statement<never>(
  "insert challenge",
  "platform",
  `insert into setpoint.passkey_challenge (challenge, purpose, person_id, expires_at_ms)
   values ($1, $2, $3, setpoint.now_ms() + $4::bigint)`,
);
export const takeChallenge = statement<{ challenge: string }>(
  "take challenge",
  "platform",
  `delete from setpoint.passkey_challenge
   where challenge = $1 and purpose = $2 and person_id is not distinct from $3 and expires_at_ms > setpoint.now_ms()
   returning challenge`,
);

export interface PasskeyRow {
  readonly id: string;
  readonly person_id: string;
  readonly public_key: string;
  readonly counter: number;
  readonly relying_party: string;
  readonly transports: readonly string[];
  readonly label: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
}
const passkey = "id, person_id, public_key, counter, relying_party, transports, label, created_at_ms, last_used_at_ms";

export const insertPasskey = statement<{ id: string }>(
  "insert passkey",
  "platform",
  `insert into setpoint.passkey (id, person_id, public_key, counter, relying_party, transports, label, created_at_ms)
   values ($1, $2, $3, $4, $5, $6::text[], $7, setpoint.now_ms()) on conflict (id) do nothing returning id`,
);
export const listPasskeys = statement<PasskeyRow>(
  "list passkeys",
  "platform",
  `select ${passkey} from setpoint.passkey where person_id = $1 order by created_at_ms, id`,
);
export const readPasskey = statement<PasskeyRow>(
  "read passkey",
  "platform",
  `select ${passkey} from setpoint.passkey where id = $1`,
);
/** Authenticators that count only count up; those that do not always say 0. */
export const usePasskey = statement<{ id: string }>(
  "use passkey",
  "platform",
  `update setpoint.passkey set counter = $2, last_used_at_ms = setpoint.now_ms()
   where id = $1 and (counter < $2 or (counter = 0 and $2::bigint = 0)) returning id`,
);
export const deletePasskey = statement<{ label: string }>(
  "delete passkey",
  "platform",
  "delete from setpoint.passkey where id = $1 and person_id = $2 returning label",
);

export const insertLink = statement<never>(
  "insert link",
  "platform",
  `insert into setpoint.one_time_link (token_hash, purpose, person_id, expires_at_ms)
   values ($1, $2, $3, setpoint.now_ms() + $4::bigint)`,
);
export interface LinkRow {
  readonly purpose: LinkPurpose;
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly state: PersonState | null;
  readonly platform_role: PlatformRole | null;
  readonly verified: boolean;
  readonly person_created_at_ms: number | null;
}
export const readLink = statement<LinkRow>(
  "read link",
  "platform",
  `select l.purpose, p.id, p.email, p.name, p.state, p.platform_role, p.verified_at_ms is not null as verified,
     p.created_at_ms as person_created_at_ms
   from setpoint.one_time_link as l left join setpoint.person as p on p.id = l.person_id
   where l.token_hash = $1 and l.used_at_ms is null and l.expires_at_ms > setpoint.now_ms()`,
);
/** Of any number of attempts one gets the row. */
export const useLink = statement<{ purpose: LinkPurpose; person_id: string | null }>(
  "use link",
  "platform",
  `update setpoint.one_time_link set used_at_ms = setpoint.now_ms()
   where token_hash = $1 and purpose = any ($2::text[]) and used_at_ms is null and expires_at_ms > setpoint.now_ms()
   returning purpose, person_id`,
);
/** A password that was set anew makes links that were sent before it useless. */
export const forgetLinks = statement<never>(
  "forget links",
  "platform",
  "update setpoint.one_time_link set used_at_ms = setpoint.now_ms() where person_id = $1 and used_at_ms is null",
);
