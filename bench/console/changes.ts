import { Client } from "pg";
import { organizationId, scope } from "../api/geometry.ts";

/** Several batches a second, as settlements come. */
const batchesPerSecond = 10;

/** Changes the status of zones at a steady rate, by the rows that a settlement writes, until it is stopped. */
export async function startChanges(
  url: string,
  options: {
    readonly perSecond: number;
    readonly among: number;
    /** Subjects that stay as they are. */
    readonly ready: number;
    readonly unready: number;
  },
): Promise<{ stop(): Promise<{ readonly changes: number }> }> {
  const client = new Client(url);
  await client.connect();
  await client.query("set row_security = off");
  const stopping = new AbortController();
  const where = [organizationId, scope];
  let changes = 0;
  const each = options.perSecond / batchesPerSecond;
  const run = async () => {
    const startedMs = performance.now();
    while (!stopping.signal.aborted) {
      // As many as are due, whatever the earlier ones took.
      const due = Math.floor(((performance.now() - startedMs) * options.perSecond) / 1_000) - changes;
      if (due < each) {
        await rest(1_000 / batchesPerSecond);
        continue;
      }
      const first = changes % options.among;
      const { rowCount } = await client.query(change, [
        ...where,
        first + 1,
        first + due,
        options.ready,
        options.unready,
      ]);
      changes += rowCount ?? 0;
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
      await client.end();
      return { changes };
    },
  };
}

/**
 * The first zones of the list, which are those on the screen, become ready and unready in turn. Their status is that of two others
 * which never change: $5 is one that is ready, $6 one that is not.
 */
const change = `with changed as (
    update setpoint.subject_summary as m
    set ready = case when m.ready = 'True' then 'False' else 'True' end, drifted = not m.drifted, version = m.version + 1,
      changed_at_ms = floor(extract(epoch from clock_timestamp()) * 1000)
    where m.organization_id = $1 and m.scope = $2 and m.subject_id between $3 and $4
    returning m.subject_id, m.ready
  )
  update setpoint.subject_state as s set status = other.status
  from changed as c
  join setpoint.subject_state as other
    on other.organization_id = $1 and other.subject_id = case when c.ready = 'True' then $5::bigint else $6::bigint end
  where s.organization_id = $1 and s.subject_id = c.subject_id`;

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
