import { runCycle } from "../../src/kernel/cycle.ts";
import type { Claim, CycleReport, Engine } from "../../src/kernel/claim.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { benchEngine, benchLog } from "./bench-engine.ts";
import { BenchWorld } from "./bench-world.ts";
import { accountOf, type Geometry, itemName, itemSpec, itemUid, organizationId, subjectIdOf } from "./geometry.ts";

/** The account's budget must not be what is measured. */
const CALLS_PER_SECOND = 100_000;
/** Short: as long as it lasts, its holder counts among those who share the shards. */
const LEASE_MS = 5_000;

/**
 * Declares the first item as a person would and lets the kernel make it outside, see it, and find it converged. The
 * rows that this leaves behind are what every other item's rows are copied from.
 */
export async function makeSample(url: string, geometry: Geometry): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  await declareSample(url, geometry, cleanup);
  const engine = benchEngine({ url, geometry, world: new BenchWorld(geometry).empty(), cleanup });
  const holder = "bench-seed";
  const leases = await engine.store.takeShards({ holder, wanted: 64, leaseMs: LEASE_MS });
  const { shard } = accountOf(geometry, 0);
  const epoch = leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
  const results: string[] = [];
  let report = await cycle(engine, { holder, shard, epoch });
  for (let rounds = 0; rounds < 10 && !(report.idle && report.result === "converged"); rounds++) {
    results.push(`${report.result} (${report.message})`);
    report = await cycle(engine, { holder, shard, epoch });
  }
  if (!report.idle || report.result !== "converged")
    throw new Error(`The sample did not converge; its cycles ended: ${results.join(", ")}, ${report.result}`);
  // An orderly hand-over, so that what is measured next does not begin with a quiet start.
  await engine.store.releaseShards({ holder, shards: leases });
}

async function declareSample(url: string, geometry: Geometry, cleanup: AsyncDisposableStack): Promise<void> {
  const database = new Database({ url, role: "setpoint_api", log: benchLog });
  const administration = new Database({ url, role: "setpoint_admin", log: benchLog });
  cleanup.defer(() => Promise.all([database.end(), administration.end()]).then(() => undefined));
  const intents = new PostgresIntentStore({ database, administration, ids: createSystemIds() });
  const account = accountOf(geometry, 0);
  await intents.createOrganization({ id: organizationId(0), name: "organization-0" });
  await intents.createAccount({
    id: account.id,
    organizationId: account.organizationId,
    name: account.id,
    provider: "bench",
    settings: { firstItem: 0 },
    credentialRef: undefined,
    callsPerSecond: CALLS_PER_SECOND,
  });
  await intents.declare({
    uid: itemUid(0),
    organizationId: account.organizationId,
    kind: "BenchItem",
    name: itemName(0),
    scope: `organization/${account.organizationId}`,
    spec: itemSpec(0, account.id),
    labels: {},
    author: { name: "bench", type: "person" },
    ifRevision: 0,
    mode: "enforce",
    protect: undefined,
    accounts: [account.id],
    links: [],
  });
}

async function cycle(engine: Engine, actor: Claim["actor"]): Promise<CycleReport> {
  return await runCycle(engine, {
    subjectId: subjectIdOf(0),
    actor,
    quietSinceMonotonicMs: undefined,
    trigger: "person",
    leaseRemainingMs: () => 60_000,
    signal: new AbortController().signal,
  });
}
