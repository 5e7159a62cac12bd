import { statement } from "../statement.ts";
import { sealedColumns, type SealedRow } from "./reads.ts";

/** What did not come about, by how the type of its entry ends. */
const notDone = "type ~ '\\.(refused|rejected|withdrawn|stalled|overdue|attention|not-run|cancelled)$'";
/** $2 actor, $3 beginning of the type, $4 uid or name, $5 and $6 times, $7 whether it came about: null for all. */
const filtered = `($2::text is null or actor = $2) and ($3::text is null or starts_with(type, $3))
  and ($4::text is null or uid = $4 or data ->> 'name' = $4 or concat_ws('/', data ->> 'kind', data ->> 'name') = $4)
  and ($5::bigint is null or at_ms >= $5) and ($6::bigint is null or at_ms < $6)
  and ($7::text is null or ($7 = 'not-done') = (${notDone}))`;
const ofTenant = "organization_id = $1::uuid";
/** So that both take the same values. */
const ofAnybody = "$1::uuid is null";

const list = (name: string, whose: string) =>
  statement<SealedRow>(
    name,
    "tenants",
    `select ${sealedColumns} from setpoint.sealed_entry
     where ${whose} and ${filtered} and ($8::bigint is null or position < $8) order by position desc limit $9`,
  );
export const listAudit = list("list audit", ofTenant);
export const listPlatformAudit = list("list platform audit", ofAnybody);

const page = (name: string, whose: string) =>
  statement<SealedRow>(
    name,
    "tenants",
    `select ${sealedColumns} from setpoint.sealed_entry
     where ${whose} and ${filtered} and position > $8 and position <= $9 order by position limit $10`,
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
