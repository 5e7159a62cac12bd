import type { Binding } from "../../ports/access.ts";
import type { TokenType } from "../../ports/credential-store.ts";
import { statement } from "../statement.ts";

export interface CredentialRow {
  readonly id: string;
  readonly organization_id: string | null;
  readonly type: TokenType;
  readonly name: string;
  readonly scope: string;
  readonly bindings: readonly Binding[] | null;
  readonly person_id: string | null;
  readonly maker: string;
  readonly made_at_ms: number;
  readonly expires_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly redeemed_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  readonly now_ms: number;
}
const columns = `id, organization_id, type, name, scope, bindings, person_id, maker, made_at_ms, expires_at_ms,
  last_used_at_ms, redeemed_at_ms, revoked_at_ms, setpoint.now_ms() as now_ms`;

export const insertCredential = statement<CredentialRow>(
  "insert credential",
  "tenants",
  `with clock as materialized (select setpoint.now_ms() as at_ms)
   insert into setpoint.credential (id, organization_id, type, name, hash, scope, bindings, person_id, maker, made_at_ms,
     expires_at_ms)
   select $1, $2::uuid, $3, $4, $5, $6, $7::json, $8, $9, clock.at_ms, clock.at_ms + $10::bigint from clock
   returning ${columns}`,
);

/** $2, $3: one scope and one type, or null for all of the organization. */
export const listCredentials = statement<CredentialRow>(
  "list credentials",
  "tenants",
  `select ${columns} from setpoint.credential
   where organization_id = $1 and ($2::text is null or scope = $2) and ($3::text is null or type = $3)
   order by made_at_ms desc, id desc limit 1000`,
);
export const listPersonalCredentials = statement<CredentialRow>(
  "list personal credentials",
  "tenants",
  `select ${columns} from setpoint.credential
   where organization_id is null and person_id is not distinct from $1 order by made_at_ms desc, id desc limit 1000`,
);
export const findCredential = statement<CredentialRow>(
  "find credential",
  "tenants",
  `select ${columns} from setpoint.credential where hash = $1`,
);

const revoked = `revoked_at_ms = coalesce(revoked_at_ms, setpoint.now_ms()), revoked_by = coalesce(revoked_by, $2)`;
export const revokeCredential = statement<CredentialRow>(
  "revoke credential",
  "tenants",
  `update setpoint.credential set ${revoked}
   where id = $1 and organization_id = $3 and ($4::text is null or scope = $4)
     and ($5::text is null or type = $5)
   returning ${columns}`,
);
export const revokePersonalCredential = statement<CredentialRow>(
  "revoke personal credential",
  "tenants",
  `update setpoint.credential set ${revoked}
   where id = $1 and organization_id is null and person_id is not distinct from $3 returning ${columns}`,
);
export const revokeCredentialByHash = statement<CredentialRow>(
  "revoke credential by hash",
  "tenants",
  `update setpoint.credential set ${revoked} where hash = $1 returning ${columns}`,
);
/** One write per token and minute, however many processes see it used. */
export const noteCredentialUses = statement<never>(
  "note credential uses",
  "tenants",
  `update setpoint.credential set last_used_at_ms = setpoint.now_ms() where id in (
     select id from setpoint.credential
     where id = any ($1::text[]) and coalesce(last_used_at_ms, 0) < setpoint.now_ms() - 55000
     order by id for no key update)`,
);

export const redeemCredential = statement<CredentialRow>(
  "redeem credential",
  "tenants",
  `update setpoint.credential set redeemed_at_ms = setpoint.now_ms(), last_used_at_ms = setpoint.now_ms()
   where hash = $1 and type = 'agent-enrolment' and redeemed_at_ms is null and revoked_at_ms is null
     and expires_at_ms > setpoint.now_ms()
   returning ${columns}`,
);
