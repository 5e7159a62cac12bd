import { fileURLToPath } from "node:url";
import { startSeededServer } from "../harness/bench-server.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { type BenchChild, startChild } from "../harness/child.ts";
import { median, percentile } from "../harness/statistics.ts";
import type { ApiCalls } from "./api-process.ts";
import { type ApiGeometry, operatorToken, organization, teams } from "./geometry.ts";
import type { LoadCalls } from "./load-process.ts";
import { seed } from "./seed.ts";

interface Size {
  readonly geometry: ApiGeometry;
  /** Rounds of creates and floor, one after the other, and creates in each. */
  readonly rounds: number;
  readonly creates: number;
  readonly paced: number;
  /** How often each query is asked, with another part of the list each time. */
  readonly listRounds: number;
  readonly questions: number;
}
const FULL: Size = {
  geometry: { resources: 1_000_000, grants: 100_000 },
  rounds: 5,
  creates: 20_000,
  paced: 20_000,
  listRounds: 20,
  questions: 200_000,
};
const QUICK: Size = {
  geometry: { resources: 200_000, grants: 100_000 },
  rounds: 2,
  creates: 4_000,
  paced: 4_000,
  listRounds: 5,
  questions: 100_000,
};
const AT_ONCE = 64;
const CREATES_PER_SECOND = 1_000;

export const apiBenchmark: Benchmark = {
  name: "api",
  about: "the Control API: creates against the bare rows, lists among a million, deciding who may",
  limits: [
    { figure: "creates_enough", atLeast: 1 },
    { figure: "create_p99_ms", atMost: 25 },
    { figure: "list_p99_ms", atMost: 50 },
    { figure: "can_p99_us", atMost: 50 },
  ],
  run,
};

async function run(context: BenchContext): Promise<Readonly<Record<string, number>>> {
  const { cleanup, progress, quick } = context;
  const size = quick ? QUICK : FULL;
  const server = await startSeededServer(cleanup, (url) => seed(url, size.geometry, progress));
  const api = await startChild<ApiCalls>(cleanup, { file: fileOf("api-process.ts"), words: [server.url] });
  const origin = await api.call("ready");
  const token = await serviceToken(origin);
  const load = await startChild<LoadCalls>(cleanup, { file: fileOf("load-process.ts"), words: [origin, token] });
  await load.call("ready");
  progress.say("warming up");
  await load.call("createAll", { count: 1_000, atOnce: AT_ONCE, name: "warm" });
  const creates = await measureCreates(context, size, api, load);
  const lists = await measureLists(context, size, load);
  progress.say(`asking ${size.questions} times who may`);
  const can = await api.call("can", { grants: size.geometry.grants, questions: size.questions });
  return {
    resources: size.geometry.resources,
    ...creates,
    ...lists,
    can_p50_us: percentile([...can], 50),
    can_p99_us: percentile([...can], 99),
  };
}

async function measureCreates(
  { progress }: BenchContext,
  size: Size,
  api: BenchChild<ApiCalls>,
  load: BenchChild<LoadCalls>,
): Promise<Readonly<Record<string, number>>> {
  const perSecond: number[] = [];
  const floorPerSecond: number[] = [];
  for (let round = 0; round < size.rounds; round++) {
    progress.say(`round ${round + 1} of ${size.rounds}: ${size.creates} creates, and their bare rows`);
    const options = { count: size.creates, atOnce: AT_ONCE };
    const floorMs = await api.call("floor", { ...options, name: `floor-${round}` });
    await api.call("sealed");
    const createMs = await load.call("createAll", { ...options, name: `made-${round}` });
    await api.call("sealed");
    floorPerSecond.push((size.creates * 1_000) / floorMs);
    perSecond.push((size.creates * 1_000) / createMs);
    progress.say(
      `bare rows ${Math.round(floorPerSecond.at(-1) ?? 0)} a second, creates ${Math.round(perSecond.at(-1) ?? 0)}`,
    );
  }
  progress.say(`${size.paced} creates at ${CREATES_PER_SECOND} a second`);
  const paced = await load.call("createAtRate", { count: size.paced, perSecond: CREATES_PER_SECOND, name: "paced" });
  const versus = median(perSecond.map((rate, round) => rate / (floorPerSecond[round] ?? rate)));
  const rate = median(perSecond);
  return {
    creates_per_second: rate,
    floor_per_second: median(floorPerSecond),
    creates_vs_floor: versus,
    // Either is enough: so many a second, or half of what this machine can write at all.
    creates_enough: rate >= 3_000 || versus >= 0.5 ? 1 : 0,
    create_p50_ms: percentile([...paced], 50),
    create_p99_ms: percentile([...paced], 99),
  };
}

async function measureLists(
  { progress }: BenchContext,
  { listRounds, geometry }: Size,
  load: BenchChild<LoadCalls>,
): Promise<Readonly<Record<string, number>>> {
  progress.say(`filtered pages of 100 among ${geometry.resources}`);
  const queries = Array.from({ length: listRounds }, (_, round) => queriesOf(round, geometry.resources)).flat();
  const { tookMs, items } = await load.call("list", { queries, pages: 3 });
  return {
    list_pages: tookMs.length,
    list_items_per_page: items / tookMs.length,
    list_p50_ms: percentile([...tookMs], 50),
    list_p99_ms: percentile([...tookMs], 99),
  };
}

/** Every filter and every order, each time at another place of the list. */
function queriesOf(round: number, resources: number): readonly string[] {
  const prefix = `zone-${String(Math.floor((round * 7919) % Math.max(1, resources / 1_000))).padStart(4, "0")}`;
  const team = `team-${(round * 31) % teams}`;
  const labels = (selector: string) => `pageSize=100&labels=${encodeURIComponent(selector)}`;
  return [
    labels(`team=${team}`),
    labels(`team in (${team},team-1),!legacy`),
    labels("team,team!=team-3"),
    `${labels(`team=${team}`)}&ready=false`,
    `${labels(`team=${team}`)}&sort=-declaredAt`,
    "pageSize=100&ready=false",
    "pageSize=100&held=true",
    "pageSize=100&drifted=true&mode=enforce",
    `pageSize=100&namePrefix=${prefix}`,
    "pageSize=100&mode=enforce&sort=-declaredAt",
    "pageSize=100&sort=-updated",
    "pageSize=100&mode=observe&sort=-name",
  ];
}

/** A machine's token, as a pipeline would have it: looked up by its hash, with rights of its own. */
async function serviceToken(origin: string): Promise<string> {
  const answer = await fetch(`${origin}/v1/organizations/${organization}/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      type: "service-token",
      name: "bench",
      expiresInDays: 1,
      access: [{ rules: [{ key: "project.dns_zone", actions: ["read", "create"] }] }],
    }),
  });
  const body = (await answer.json()) as { token?: string };
  if (body.token === undefined) throw new Error(`No token was made: ${JSON.stringify(body)}`);
  return body.token;
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
