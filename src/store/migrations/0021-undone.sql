-- What declaring or deleting a resource had started, and the guards did not let run. The loop starts it again when it may run.
alter table setpoint.subject add column undone json;
update setpoint.subject as s
set undone = json_build_object(
  'operationId', o.id, 'pipeline', o.pipeline, 'author', json_build_object('name', o.author_name, 'type', o.author_type),
  'message', o.message, 'generation', r.generation, 'policyVersion', s.policy_version)
from setpoint.operation as o, setpoint.resource as r
where o.subject_id = s.id and o.state = 'not-run' and r.organization_id = s.organization_id and r.uid = s.resource_uid
  and not exists (select from setpoint.operation as later where later.subject_id = s.id and later.id > o.id);
