import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Document {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly bars: readonly {
    readonly name: string;
    readonly value: number;
    readonly limit: number;
    readonly holds: boolean;
  }[];
}

function bench(...words: readonly string[]) {
  return spawnSync("npm", ["run", "--silent", "bench", "--", ...words], { cwd: root, encoding: "utf8" });
}

/** The document, or what the benchmark said instead. */
function documentOf({ status, stdout, stderr }: ReturnType<typeof bench>): Document {
  assert.notEqual(stdout, "", `the benchmark ended with ${status} and printed no document:\n${stderr}`);
  return JSON.parse(stdout) as Document;
}

/** Times depend on the machine and decide nothing here; counts do not. */
test("the scheduler's benchmark prints one document, and its idle cycles share their commits", () => {
  const said = bench("scheduler", "--quick", "--json");
  const document = documentOf(said);
  assert.deepEqual(Object.keys(document), ["name", "figures", "bars"]);
  assert.equal(document.name, "scheduler");
  for (const [figure, value] of Object.entries(document.figures)) assert.ok(Number.isFinite(value), figure);
  assert.deepEqual(
    document.bars.map(({ name, limit }) => [name, limit]),
    [
      ["idle_core_percent", 5],
      ["idle_commits_per_cycle", 0.01],
      ["rss_mb", 400],
      ["heals_per_second", 833],
      ["event_to_cycle_p50_ms", 5],
      ["event_to_cycle_p99_ms", 50],
      ["event_to_cycle_vs_graphile", 0.6],
      ["noisy_tenant_ratio", 2],
    ],
  );
  for (const bar of document.bars) {
    assert.equal(bar.value, document.figures[bar.name]);
    assert.equal(bar.holds, bar.name === "heals_per_second" ? bar.value >= bar.limit : bar.value <= bar.limit);
  }
  assert.equal(document.figures["subjects"], 200_000);
  assert.equal(document.figures["heals"], 10_000);
  // Leases are renewed and idle cycles counted by time, so a busy machine, which has fewer cycles, commits as often: the bar at the
  // 278 cycles a second that are due.
  const { idle_commits_per_cycle: perCycle = 1, idle_cycles_per_second: perSecond = 278 } = document.figures;
  assert.ok(perCycle * perSecond <= 0.01 * 278, `${perCycle} commits per idle cycle\n${said.stderr}`);
});

test("the worker's benchmark compares two steps with the bare rows and with DBOS, and shares turns between tenants", () => {
  const said = bench("worker", "--quick", "--json");
  const { name, figures, bars } = documentOf(said);
  assert.equal(name, "worker");
  for (const [figure, value] of Object.entries(figures)) assert.ok(Number.isFinite(value), figure);
  assert.deepEqual(
    bars.map((bar) => [bar.name, bar.limit]),
    [
      ["commits_per_two_step", 5],
      ["cpu_vs_floor", 3],
      ["cpu_vs_dbos", 0.6],
      ["longest_wait_vs_share", 2],
    ],
  );
  for (const bar of bars) assert.equal(bar.holds, bar.value <= bar.limit);
  for (const counted of ["commits_per_two_step", "longest_wait_vs_share"]) {
    const bar = bars.find((one) => one.name === counted);
    assert.equal(bar?.holds, true, `${counted} is ${bar?.value}\n${said.stderr}`);
  }
});

test("the console's benchmark looks at 100,000 resources in a real browser", () => {
  const said = bench("console", "--quick", "--json");
  const { name, figures, bars } = documentOf(said);
  assert.equal(name, "console");
  for (const [figure, value] of Object.entries(figures)) assert.ok(Number.isFinite(value), figure);
  assert.deepEqual(
    bars.map((bar) => [bar.name, bar.limit]),
    [
      ["inventory_first_rows_ms", 500],
      ["scroll_blank_frames", 0],
      ["map_choose_p95_ms", 200],
      ["main_thread_busy_percent", 50],
    ],
  );
  assert.equal(figures["resources"], 100_000);
  assert.ok((figures["map_cards"] ?? 0) > 250, `${figures["map_cards"]} cards`);
  assert.ok((figures["scroll_rows"] ?? 0) > 100, `${figures["scroll_rows"]} rows`);
});

test("the clouds' benchmark counts calls at both clouds, and nothing is written while nothing changes", () => {
  const said = bench("clouds", "--quick", "--json");
  const { name, figures, bars } = documentOf(said);
  assert.equal(name, "clouds");
  for (const [figure, value] of Object.entries(figures)) assert.ok(Number.isFinite(value), figure);
  for (const cloud of ["", "ionos_"])
    for (const figure of ["writes_per_pass_1000", "covered_writes_per_pass_1000"])
      assert.equal(figures[`${cloud}${figure}`], 0, `${cloud}${figure}\n${said.stderr}`);
  const counted = ["calls_per_1000_per_pass_1000", "ionos_calls_per_1000_per_pass_1000"].map(
    (figure) => figures[figure] ?? Number.NaN,
  );
  assert.deepEqual(bars, [{ name: "calls_per_1000_per_pass", value: Math.max(...counted), limit: 25, holds: true }]);
});

test("an unknown benchmark lists the names", () => {
  const { status, stdout, stderr } = bench("nothing-like-it");
  assert.notEqual(status, 0);
  assert.equal(stdout, "");
  assert.match(stderr, /Names: scheduler/);
});
