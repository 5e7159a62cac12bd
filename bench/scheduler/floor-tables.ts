import type { Client } from "pg";

/** Tables of the floor, shaped like those that a heal touches in the product. */
export async function makeFloorTables(client: Client, subjects: number): Promise<void> {
  await client.query(`
    create schema bench_floor;
    create table bench_floor.subject (
      id bigint primary key, permit_id text, permit_until_ms bigint, memory json, status json
    ) with (fillfactor = 70);
    create table bench_floor.change (id text primary key, subject_id bigint not null, record json, outcome json);
    create index on bench_floor.change (subject_id);
    create table bench_floor.due (id bigint primary key, due_at_ms bigint not null);
    create table bench_floor.event (id bigint generated always as identity primary key, payload json)`);
  const text = (bytes: number) => `'{"text":"${"x".repeat(bytes)}"}'`;
  await client.query(
    `insert into bench_floor.subject (id, memory, status) select n, ${text(1_000)}, ${text(400)} from generate_series(1, $1::bigint) as n`,
    [subjects],
  );
  // As the rows of the product are: else the server would do it by itself some time later, while something is measured.
  await client.query("vacuum analyze bench_floor.subject");
}
