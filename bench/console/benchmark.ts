import { fileURLToPath } from "node:url";
import { ensureConsole } from "../../scripts/console-build.mjs";
import type { ApiCalls } from "../api/api-process.ts";
import { account, operatorToken, organization } from "../api/geometry.ts";
import { seed } from "../api/seed.ts";
import { startSeededServer } from "../harness/bench-server.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { startChild } from "../harness/child.ts";
import { median, percentile } from "../harness/statistics.ts";
import { startChanges } from "./changes.ts";
import { Visitor } from "./visitor.ts";

/** Both sizes have the same resources: what is shorter in the quick one is how long is looked. */
const resources = 100_000;
/** Zones in a project of their own and their records, so that the map has as many cards as it draws at most. */
const mapped = { zones: 8, records: 280 } as const;
/** A hundred rows, or five screens, a second: nobody reads any more, but it shows what is drawn too late. */
const scrollPixelsPerSecond = 4_000;
const changesPerSecond = 200;
/** Rows that change: those on the screen are among them. */
const changedRows = 2_000;

interface Size {
  readonly loads: number;
  readonly scrollMs: number;
  readonly panMs: number;
  readonly clicks: number;
  readonly busyMs: number;
}
const FULL: Size = { loads: 9, scrollMs: 20_000, panMs: 8_000, clicks: 20, busyMs: 15_000 };
const QUICK: Size = { loads: 3, scrollMs: 4_000, panMs: 2_000, clicks: 5, busyMs: 3_000 };

export const consoleBenchmark: Benchmark = {
  name: "console",
  about: "the console in a real browser over 100,000 resources: first rows, scrolling, the map, and a busy stream",
  limits: [
    { figure: "inventory_first_rows_ms", atMost: 500 },
    { figure: "scroll_blank_frames", atMost: 0 },
    { figure: "map_choose_p95_ms", atMost: 200 },
    { figure: "main_thread_busy_percent", atMost: 50 },
  ],
  run,
};

async function run({ cleanup, progress, quick }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const size = quick ? QUICK : FULL;
  if (!(await ensureConsole({ say: (line) => progress.say(line) }))) throw new Error("The console could not be built");
  const server = await startSeededServer(cleanup, (url) => seed(url, { resources, grants: 0 }, progress));
  const file = fileURLToPath(new URL("../api/api-process.ts", import.meta.url));
  const api = await startChild<ApiCalls>(cleanup, { file, words: [server.url] });
  const origin = (await api.call("ready")).replace("127.0.0.1", "localhost");
  progress.say(`declaring ${mapped.records} records for the map`);
  await declareMapped(origin);
  await api.call("sealed");
  const visitor = await Visitor.arrive(origin, cleanup);
  const inventory = await measureInventory(visitor, size, progress);
  const map = await measureMap(visitor, size, progress);
  const busy = await measureBusy(visitor, server.url, size, progress);
  return { resources, ...inventory, ...map, ...busy };
}

async function measureInventory(visitor: Visitor, size: Size, progress: BenchContext["progress"]) {
  progress.say(`the inventory, ${size.loads} times`);
  const load = () => visitor.open("inventory", "tbody tr a");
  // The first time the browser also fetches and compiles the files of the page.
  const coldMs = await load();
  const loads: number[] = [];
  for (let index = 0; index < size.loads; index++) loads.push(await load());
  progress.say(`scrolling at ${scrollPixelsPerSecond} pixels a second`);
  const scrolled = await visitor.evaluate<{ rows: number; blank: number; waited: number; frames: number[] }>(
    `bench.scroll(${scrollPixelsPerSecond}, ${size.scrollMs})`,
  );
  return {
    inventory_first_rows_ms: median(loads),
    inventory_first_rows_worst_ms: Math.max(...loads),
    inventory_first_visit_ms: coldMs,
    scroll_rows: scrolled.rows,
    scroll_blank_frames: scrolled.blank,
    scroll_waiting_frames: scrolled.waited,
    scroll_frames: scrolled.frames.length,
    scroll_frame_p95_ms: percentile(scrolled.frames, 95),
  };
}

async function measureMap(visitor: Visitor, size: Size, progress: BenchContext["progress"]) {
  progress.say("the map");
  const firstMs = await visitor.open("map", ".react-flow__node-card");
  const cards = await visitor.evaluate<number>("document.querySelectorAll('.react-flow__node-card').length");
  const [frames] = await Promise.all([
    visitor.evaluate<number[]>(`bench.frames(${size.panMs})`),
    visitor.wheel(size.panMs),
  ]);
  const choices: number[] = [];
  for (let index = 0; index < size.clicks; index++)
    choices.push(await visitor.evaluate<number>(`bench.chooseCard(${(index * 37) % cards})`));
  return {
    map_first_cards_ms: firstMs,
    map_cards: cards,
    map_pan_frame_p95_ms: percentile(frames, 95),
    map_choose_p50_ms: percentile(choices, 50),
    map_choose_p95_ms: percentile(choices, 95),
  };
}

/** Each page that follows the stream, while much of what it shows changes. */
async function measureBusy(visitor: Visitor, url: string, size: Size, progress: BenchContext["progress"]) {
  const pages = [
    ["now", "main h1"],
    ["inventory", "tbody tr a"],
    ["map", ".react-flow__node-card"],
  ] as const;
  const busy: Record<string, number> = {};
  let told = 0;
  const startedMs = performance.now();
  const changing = await startChanges(url, {
    perSecond: changesPerSecond,
    among: changedRows,
    ready: resources - 1,
    unready: resources,
  });
  for (const [page, selector] of pages) {
    await visitor.open(page, selector);
    // What it does to come up is not what the stream costs.
    await visitor.busyPercent(1_500);
    progress.say(`${page} under ${changesPerSecond} changes a second`);
    busy[`busy_${page}_percent`] = await visitor.busyPercent(size.busyMs);
    told += await visitor.evaluate<number>("bench.told");
  }
  const tookMs = performance.now() - startedMs;
  const { changes } = await changing.stop();
  return {
    ...busy,
    main_thread_busy_percent: Math.max(...Object.values(busy)),
    changes_per_second: (changes * 1_000) / tookMs,
    told_per_second: (told * 1_000) / tookMs,
  };
}

async function declareMapped(origin: string): Promise<void> {
  const base = `/v1/organizations/${organization}`;
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${origin}${base}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
  };
  const manifest = (kind: string, name: string, spec: object) => {
    const metadata = kind === "DnsZone" ? { name, mode: "observe" } : { name };
    return { apiVersion: "setpoint/v1", kind, metadata, spec };
  };
  await post("/projects", { name: "web" });
  for (let zone = 0; zone < mapped.zones; zone++)
    await post("/projects/web/dnszones", manifest("DnsZone", `web-${zone}`, { account, zone: `web-${zone}.test` }));
  for (let record = 0; record < mapped.records; record++) {
    const spec = { zone: `web-${record % mapped.zones}`, name: `r-${record}`, type: "A", values: ["192.0.2.1"] };
    await post("/projects/web/dnsrecords", manifest("DnsRecord", `r-${record}`, spec));
  }
}
