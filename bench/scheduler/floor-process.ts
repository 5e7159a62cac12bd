import { Client } from "pg";
import { answerCalls } from "../harness/child.ts";
import { atRate, machineMs } from "../harness/pacing.ts";

/**
 * The floor: the same durable effect by bare SQL, without a product around it. Heals are three batched transactions each
 * (permit with intent, outcome, settlement) on rows of the same size; an event is one insert with a NOTIFY in it.
 */
const [, , url = ""] = process.argv;
const CONNECTIONS = 8;
const HEALS_PER_BATCH = 64;
const clients = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
const listener = await connect();
const text = (bytes: number) => `{"text":"${"x".repeat(bytes)}"}`;
const memory = text(1_000);
const status = text(400);
const record = text(500);
const outcome = text(150);

async function connect(): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}

const statements = {
  permit: `with permitted as (
      update bench_floor.subject as s set permit_id = q.permit_id, permit_until_ms = 1, memory = $3::json
      from unnest($1::bigint[], $2::text[]) as q (id, permit_id) where s.id = q.id)
    insert into bench_floor.change (id, subject_id, record)
    select q.permit_id, q.id, $4::json from unnest($1::bigint[], $2::text[]) as q (id, permit_id)`,
  outcome: `with ended as (
      update bench_floor.change as c set outcome = $3::json from unnest($2::text[]) as q (id) where c.id = q.id)
    update bench_floor.subject as s set memory = $4::json from unnest($1::bigint[]) as q (id) where s.id = q.id`,
  settle: `with cleared as (delete from bench_floor.due as d using unnest($1::bigint[]) as q (id) where d.id = q.id)
    update bench_floor.subject as s set permit_id = null, permit_until_ms = null, status = $2::json
    from unnest($1::bigint[]) as q (id) where s.id = q.id`,
} as const;

let heals = 0;

async function healBatch(client: Client, ids: readonly number[]): Promise<void> {
  const permits = ids.map(() => `permit-${++heals}`);
  await client.query({ name: "permit", text: statements.permit, values: [ids, permits, memory, record] });
  await client.query({ name: "outcome", text: statements.outcome, values: [ids, permits, outcome, memory] });
  await client.query({ name: "settle", text: statements.settle, values: [ids, status] });
}

let heard: number[] = [];
listener.on("notification", ({ payload }) => {
  heard[Number(payload)] = machineMs();
});
await listener.query("listen bench_floor");

const calls = {
  ready(): void {},
  async heal(count: number): Promise<{ readonly seconds: number }> {
    const startedMs = machineMs();
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const batches: number[][] = [];
    for (let from = 0; from < count; from += HEALS_PER_BATCH) batches.push(ids.slice(from, from + HEALS_PER_BATCH));
    const work = async (client: Client) => {
      for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) await healBatch(client, batch);
    };
    await Promise.all(clients.slice(0, 2).map(work));
    return { seconds: (machineMs() - startedMs) / 1_000 };
  },
  listen(): void {
    heard = [];
  },
  heard(): Float64Array {
    return Float64Array.from(heard);
  },
  async notify(options: { readonly count: number; readonly perSecond: number }): Promise<Float64Array> {
    const committedMs = new Float64Array(options.count);
    const free = [...clients];
    const waiting: ((client: Client) => void)[] = [];
    const take = () =>
      new Promise<Client>((resolve) => {
        const client = free.pop();
        if (client === undefined) waiting.push(resolve);
        else resolve(client);
      });
    await atRate(options, async (index) => {
      const client = await take();
      await client.query({
        name: "notify",
        text: "with made as (insert into bench_floor.event (payload) values ($2::json)) select pg_notify('bench_floor', $1)",
        values: [String(index), record],
      });
      committedMs[index] = machineMs();
      const next = waiting.shift();
      if (next === undefined) free.push(client);
      else next(client);
    });
    return committedMs;
  },
};
export type FloorCalls = typeof calls;

answerCalls(calls, async () => {
  await Promise.all([...clients, listener].map((client) => client.end()));
});
