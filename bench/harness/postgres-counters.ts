import type { Client } from "pg";

/** What the server counted so far, over all connections to the database. */
export interface PostgresCounters {
  /** Transactions that were given an id: those that wrote. */
  readonly writes: number;
  readonly walBytes: number;
}

/** Read from the server's own state, which never lags; its statistics, commits among them, are up to ten seconds late. */
export async function readCounters(client: Client): Promise<PostgresCounters> {
  const { rows } = await client.query<Record<keyof PostgresCounters, string>>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as writes,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as "walBytes"`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The server answered without its statistics");
  return {
    writes: Number(row.writes),
    walBytes: Number(row.walBytes),
  };
}

export function countersSince(before: PostgresCounters, after: PostgresCounters): PostgresCounters {
  return {
    writes: after.writes - before.writes,
    walBytes: after.walBytes - before.walBytes,
  };
}
