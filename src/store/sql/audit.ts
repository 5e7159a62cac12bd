import { statement } from "../statement.ts";
import { sealedColumns, type SealedRow } from "./reads.ts";

/** $2 actor, $3 beginning of the type, $4 uid, $5 and $6 times: null for all. */
const filtered = `($2::text is null or actor = $2) and ($3::text is null or starts_with(type, $3))
  and ($4::text is null or uid = $4) and ($5::bigint is null or at_ms >= $5) and ($6::bigint is null or at_ms < $6)`;
const ofTenant = "organization_id = $1::uuid";
/** So that both take the same values. */
const ofAnybody = "$1::uuid is null";

const list = (name: string, whose: string) =>
  statement<SealedRow>(
    name,
    "tenants",
    `select ${sealedColumns} from setpoint.sealed_entry
     where ${whose} and ${filtered} and ($7::bigint is null or position < $7) order by position desc limit $8`,
  );
export const listAudit = list("list audit", ofTenant);
export const listPlatformAudit = list("list platform audit", ofAnybody);

const page = (name: string, whose: string) =>
  statement<SealedRow>(
    name,
    "tenants",
    `select ${sealedColumns} from setpoint.sealed_entry
     where ${whose} and ${filtered} and position > $7 and position <= $8 order by position limit $9`,
  );
export const auditPage = page("audit page", ofTenant);
export const platformAuditPage = page("platform audit page", ofAnybody);

const ends = (name: string, whose: string) =>
  statement<SealedRow>(
    name,
    "tenants",
    `(select ${sealedColumns} from setpoint.sealed_entry where ${whose} order by position limit 1)
     union all
     (select ${sealedColumns} from setpoint.sealed_entry where ${whose} order by position desc limit 1)`,
  );
export const auditEnds = ends("audit ends", ofTenant);
export const platformAuditEnds = ends("platform audit ends", ofAnybody);
