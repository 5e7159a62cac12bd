import { query } from "./postgres.ts";

/** The look at a resource is over, as a scheduler that settles it would leave it: what was due is not any more. */
export async function settleLook(databaseUrl: string, name: string): Promise<void> {
  await query(
    databaseUrl,
    `delete from setpoint.subject_due as d using setpoint.subject as s, setpoint.resource as r
     where s.id = d.subject_id and r.uid = s.resource_uid and r.name = '${name}'`,
  );
}
