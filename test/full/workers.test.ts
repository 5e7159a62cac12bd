import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { CrateOutside } from "../support/crates/crate-outside.ts";
import { Fleet, type FleetProcess, until } from "../support/crates/fleet.ts";

const LEASE_MS = 15_000;
const TENANTS = 32;

let fleet: Fleet;
let organizations: readonly string[] = [];
let workers: [FleetProcess, FleetProcess];
let started = 0;
before(async () => {
  fleet = await Fleet.open();
  await fleet.api();
  organizations = await fleet.organizations(TENANTS);
  workers = [await fleet.worker(), await fleet.worker()];
  await evenly();
});
after(() => fleet[Symbol.asyncDispose]());

async function evenly(): Promise<void> {
  await until("both workers to have their share", async () => {
    const shares = await Promise.all(workers.map((worker) => fleet.shardsOf(worker)));
    return shares.every((share) => share === 32);
  });
}

/** Declares so many crates, spread over all tenants; answers with their names. */
async function pack(prefix: string, count: number): Promise<readonly string[]> {
  const crates = Array.from({ length: count }, (_, index) => ({
    organization: organizations[index % organizations.length] ?? "",
    name: `${prefix}-${index}`,
  }));
  await fleet.pack(crates);
  started += count;
  return crates.map(({ name }) => name);
}

/** Every crate is packed, labelled and told of, each of these exactly once. */
function assertWorld(outside: CrateOutside, names: readonly string[]): void {
  const wanted = names.flatMap((name) => [
    `pack ${name}`,
    `label ${name}`,
    `letter ${name} weighs ${100 + name.length}`,
  ]);
  const ours = new Set(names);
  const done = outside.effects.filter((effect) => ours.has(effect.split(" ")[1] ?? ""));
  assert.deepEqual([...done].sort(), wanted.sort());
  for (const name of names) assert.equal(outside.crates.get(name)?.label, name);
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

test("a worker is killed with 500 operations running: the other one goes on within 5 s, and all finish", {
  timeout: 400_000,
}, async (t) => {
  const { outside } = fleet;
  const [victim, survivor] = workers;
  const names = await pack("kill", 500);
  const atGate = () => new Set(outside.calls.flatMap(({ path }) => (path.startsWith("/gate/") ? [path.slice(6)] : [])));
  await until("500 operations to wait at the gate", async () => atGate().size >= 500);
  assert.equal((await fleet.states())["running"], 500);
  const lastCallOf = new Map(outside.calls.map(({ path, worker }) => [path, worker]));
  const left = names.map((name) => `/gate/${name}`).filter((path) => lastCallOf.get(path) === victim.pid);
  assert.ok(left.length > 50, `the victim had ${left.length} of the operations`);
  // Some more, so that the process dies in the middle of writes as well.
  const more = pack("late", 64);
  await until("writes of the victim", async () =>
    outside.callsOf(victim.pid).some(({ path }) => path.includes("late")),
  );
  const killedAtMs = performance.now();
  victim.kill("SIGKILL");
  await victim.ended;
  const resumed = new Map<string, number>();
  await until("the survivor to go on with all of them", async () => {
    for (const { path, worker, atMs } of outside.callsOf(survivor.pid))
      if (worker === survivor.pid && atMs > killedAtMs && !resumed.has(path)) resumed.set(path, atMs - killedAtMs);
    return left.every((path) => resumed.has(path));
  });
  const tookMs = left.map((path) => resumed.get(path) ?? Number.NaN);
  const figures = { first: percentile(tookMs, 0), p50: percentile(tookMs, 50), p99: percentile(tookMs, 99) };
  const shown = Object.entries(figures).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  t.diagnostic(`${left.length} operations of a killed worker were resumed: ${shown.join(", ")}`);
  outside.isOpen = () => true;
  await fleet.allSucceed(started - 64 + (await more).length);
  assertWorld(outside, [...names, ...(await more)]);
  assert.ok(figures.first < 5_000, `the first was resumed after ${figures.first} ms`);
  assert.ok(figures.p99 < 5_000, `the 99th percentile was ${figures.p99} ms`);
});

test("a worker is suspended for three leases: when it wakes it makes no call, and nothing was done twice", {
  timeout: 400_000,
}, async () => {
  const { outside } = fleet;
  workers = [await fleet.worker(), workers[1]];
  await evenly();
  const [sleeper, other] = workers;
  outside.isOpen = () => true;
  outside.holds = ({ worker }) => worker === sleeper.pid;
  const names = await pack("sleep", 128);
  // In the middle of calls, writes among them: their answers come while it sleeps.
  await until("calls of the sleeper to be under way", async () => outside.held >= 8);
  sleeper.kill("SIGSTOP");
  const asleepAtMs = performance.now();
  outside.letGo();
  await fleet.allSucceed(started);
  await sleep(Math.max(0, 3 * LEASE_MS - (performance.now() - asleepAtMs)));
  const before = outside.callsOf(sleeper.pid).length;
  sleeper.kill("SIGCONT");
  await until("it to lease shards again", async () => (await fleet.shardsOf(sleeper)) > 0);
  assert.equal(outside.callsOf(sleeper.pid).length, before, "calls of the worker that woke");
  assert.ok(outside.callsOf(other.pid).length > 0);
  assertWorld(outside, names);
});

test("PostgreSQL is restarted in the middle: all finish, each effect once", { timeout: 400_000 }, async () => {
  const { outside } = fleet;
  await evenly();
  outside.isOpen = (name) => !name.startsWith("restart") || Number(name.split("-")[1]) % 2 === 0;
  const names = await pack("restart", 200);
  await until("some to have been told of", async () =>
    outside.effects.some((effect) => effect.startsWith("letter restart")),
  );
  await fleet.restartDatabase();
  outside.isOpen = () => true;
  await fleet.allSucceed(started);
  assertWorld(outside, names);
});
