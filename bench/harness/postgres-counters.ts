import type { Client } from "pg";

/** What the server counted so far, over all connections to the database. */
export interface PostgresCounters {
  /** Every transaction that committed, those that only read included. */
  readonly commits: number;
  /** Transactions that were given an id: those that wrote. */
  readonly writes: number;
  readonly walBytes: number;
  readonly walPageImages: number;
}

/**
 * Backends report their statistics at most once a second and an idle one after ten seconds, so a reading lags behind
 * what just happened by that much. The number of write transactions is read from the server's own state and never lags.
 */
export async function readCounters(client: Client): Promise<PostgresCounters> {
  const { rows } = await client.query<Record<keyof PostgresCounters, string>>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       pg_snapshot_xmax(pg_current_snapshot())::text as writes,
       wal_bytes as "walBytes", wal_fpi as "walPageImages"
     from pg_stat_wal`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The server answered without its statistics");
  return {
    commits: Number(row.commits),
    writes: Number(row.writes),
    walBytes: Number(row.walBytes),
    walPageImages: Number(row.walPageImages),
  };
}

export function countersSince(before: PostgresCounters, after: PostgresCounters): PostgresCounters {
  return {
    commits: after.commits - before.commits,
    writes: after.writes - before.writes,
    walBytes: after.walBytes - before.walBytes,
    walPageImages: after.walPageImages - before.walPageImages,
  };
}
