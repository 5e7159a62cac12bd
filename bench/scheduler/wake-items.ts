import type { Client } from "pg";
import { subjectIdOf } from "./geometry.ts";

/** Makes subjects due as an event would, in one statement for many, and tells the schedulers. */
export async function wakeItems(client: Client, items: readonly number[]): Promise<void> {
  const { rows } = await client.query<{ shard: number }>(
    `with due as (
       insert into setpoint.subject_due (subject_id, organization_id, shard, priority, due_at_ms)
       select s.id, s.organization_id, s.shard, 1, setpoint.now_ms()
       from setpoint.subject as s where s.id = any ($1::bigint[])
       on conflict (subject_id) do nothing returning shard)
     select distinct shard from due`,
    [items.map(subjectIdOf)],
  );
  await client.query("select pg_notify('setpoint_due', $1)", [`${rows.map(({ shard }) => shard).join(",")};`]);
}
