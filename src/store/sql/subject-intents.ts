import type { SubjectMemory } from "../../ports/records.ts";
import { statement } from "../statement.ts";

export const lockSubjectsOf = statement<{ id: number }>(
  "lock subjects of",
  "tenants",
  `select s.id from setpoint.subject as s
   where s.organization_id = $1 and s.resource_uid = $2 order by s.id for no key update`,
);

export const readMemories = statement<{ subject_id: number; memory: SubjectMemory | null }>(
  "read memories",
  "tenants",
  "select subject_id, memory from setpoint.subject_state where organization_id = $1 and subject_id = any ($2::bigint[])",
);
export const writeMemories = statement<never>(
  "write memories",
  "tenants",
  `insert into setpoint.subject_state as t (organization_id, subject_id, memory)
   select $1, n.subject_id, n.memory from json_to_recordset($2::json) as n (subject_id bigint, memory json)
   on conflict (organization_id, subject_id) do update set memory = excluded.memory`,
);
