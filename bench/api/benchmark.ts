import { fileURLToPath } from "node:url";
import { startSeededServer } from "../harness/bench-server.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { type BenchChild, startChild } from "../harness/child.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
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
  /** Rounds of creates at a fixed rate, and creates in each. */
  readonly pacedRounds: number;
  readonly paced: number;
  /** How often each query is asked, with another part of the list each time. */
  readonly listRounds: number;
  readonly questions: number;
}
const FULL: Size = {
  geometry: { resources: 1_000_000, grants: 100_000 },
  rounds: 5,
  creates: 20_000,
  pacedRounds: 7,
  paced: 3_000,
  listRounds: 20,
  questions: 200_000,
};
const QUICK: Size = {
  geometry: { resources: 200_000, grants: 100_000 },
  rounds: 2,
  creates: 2_500,
  pacedRounds: 5,
  paced: 1_500,
  listRounds: 5,
  questions: 100_000,
};
const AT_ONCE = 64;
const CREATES_PER_SECOND = 1_000;
/** After about 10,000 creates most of what they run is compiled anew, all at once: that is behind us when it counts. */
const WARM_UP_CREATES = 12_000;

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

/** What is measured, and who works for it. */
interface Stage {
  readonly size: Size;
  readonly progress: BenchContext["progress"];
  readonly api: BenchChild<ApiCalls>;
  readonly load: BenchChild<LoadCalls>;
  /** CPU seconds of all of them, PostgreSQL included, so far. */
  readonly cpuSeconds: () => number;
}

async function run({ cleanup, progress, quick }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const size = quick ? QUICK : FULL;
  const server = await startSeededServer(cleanup, (url) => seed(url, size.geometry, progress));
  const api = await startChild<ApiCalls>(cleanup, { file: fileOf("api-process.ts"), words: [server.url] });
  const origin = await api.call("ready");
  const token = await serviceToken(origin);
  const load = await startChild<LoadCalls>(cleanup, { file: fileOf("load-process.ts"), words: [origin, token] });
  await load.call("ready");
  const roots = [api.pid, load.pid, server.postmasterPid];
  const stage: Stage = { size, progress, api, load, cpuSeconds: () => cpuSeconds(roots) };
  progress.say("warming up");
  await load.call("createAll", { count: WARM_UP_CREATES, atOnce: AT_ONCE, name: "warm" });
  // In this order: after the rounds at full speed PostgreSQL tidies up behind their rows for minutes, and whoever is measured
  // then would pay for it.
  const paced = await measurePaced(stage);
  const lists = await measureLists(stage);
  const creates = await measureCreates(stage);
  progress.say(`asking ${size.questions} times who may`);
  const can = await api.call("can", { grants: size.geometry.grants, questions: size.questions });
  return {
    resources: size.geometry.resources,
    ...creates,
    ...paced,
    ...lists,
    can_p50_us: percentile([...can], 50),
    can_p99_us: percentile([...can], 99),
  };
}

async function measureCreates({ size, progress, api, load }: Stage): Promise<Readonly<Record<string, number>>> {
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
  const versus = median(perSecond.map((rate, round) => rate / (floorPerSecond[round] ?? rate)));
  const rate = median(perSecond);
  return {
    creates_per_second: rate,
    floor_per_second: median(floorPerSecond),
    creates_vs_floor: versus,
    // Either is enough: so many a second, or half of what this machine can write at all.
    creates_enough: rate >= 3_000 || versus >= 0.5 ? 1 : 0,
  };
}

/** In rounds, so that one moment in which a neighbour keeps the disk busy does not decide: the middle one counts. */
async function measurePaced(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const { size, progress, api, load } = stage;
  const atRate = async (name: string, count: number) => {
    const took = [...(await load.call("createAtRate", { count, perSecond: CREATES_PER_SECOND, name }))];
    await api.call("sealed");
    return took;
  };
  progress.say(`${size.pacedRounds} times ${size.paced} creates at ${CREATES_PER_SECOND} a second`);
  // The pace is another one than before, and so is what is kept ready for it.
  await atRate("pace", CREATES_PER_SECOND);
  const cpuBefore = stage.cpuSeconds();
  const rounds: number[][] = [];
  for (let round = 0; round < size.pacedRounds; round++) {
    rounds.push(await atRate(`paced-${round}`, size.paced));
    progress.say(`p99 ${percentile(rounds.at(-1) ?? [], 99).toFixed(1)} ms`);
  }
  const cpu = stage.cpuSeconds() - cpuBefore;
  return {
    create_p50_ms: median(rounds.map((took) => percentile(took, 50))),
    create_p99_ms: median(rounds.map((took) => percentile(took, 99))),
    create_p99_of_all_ms: percentile(rounds.flat(), 99),
    create_cpu_us: (cpu * 1e6) / (size.pacedRounds * size.paced),
  };
}

async function measureLists(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const { progress, load } = stage;
  const { listRounds, geometry } = stage.size;
  progress.say(`filtered pages of 100 among ${geometry.resources}`);
  const queriesIn = (round: number) => queriesOf(round, geometry.resources);
  // Once by each way through the list, elsewhere: whatever runs for the first time is compiled and planned.
  await load.call("list", { queries: queriesIn(listRounds), pages: 3 });
  const queries = Array.from({ length: listRounds }, (_, round) => queriesIn(round)).flat();
  const cpuBefore = stage.cpuSeconds();
  const { tookMs, items } = await load.call("list", { queries, pages: 3 });
  const cpu = stage.cpuSeconds() - cpuBefore;
  return {
    list_pages: tookMs.length,
    list_items_per_page: items / tookMs.length,
    list_p50_ms: percentile([...tookMs], 50),
    list_p99_ms: percentile([...tookMs], 99),
    list_cpu_us: (cpu * 1e6) / tookMs.length,
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
