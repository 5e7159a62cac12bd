import { setImmediate as nextTurn } from "node:timers/promises";
import { defaultLimits } from "../../src/kernel/policy.ts";
import type { Limits } from "../../src/ports/records.ts";
import { ApiActor } from "./actors/api-actor.ts";
import { accountIds, type Cast, projectOf, tenantIds } from "./actors/cast.ts";
import { startChaos } from "./actors/chaos.ts";
import { startOperations } from "./actors/operation-actor.ts";
import { Crew } from "./actors/crew.ts";
import { Operator } from "./actors/operator.ts";
import { proveLiveness } from "./liveness.ts";
import { MemoryStore } from "./memory-store.ts";
import { Outside, OutsideAccount, Throttle } from "./outside/outside.ts";
import { SimProcess } from "./process.ts";
import { loadProduction } from "./production.ts";
import { SeededRandom } from "./random.ts";
import { Inspector } from "./referee/inspector.ts";
import { Ledger } from "./referee/ledger.ts";
import { OperationRules } from "./referee/operation-rules.ts";
import { Referee } from "./referee/referee.ts";
import { together } from "./referee/together.ts";
import { Violation, type Witness } from "./referee/witness.ts";
import { simKinds } from "./sim-kind.ts";
import { connectStore } from "./store-port.ts";
import { drawSwarm, type Swarm } from "./swarm.ts";
import { armTraps, disarmTraps } from "./traps.ts";
import { World } from "./world.ts";

export interface SeedOptions {
  readonly seed: number;
  readonly steps: number;
  /** Root of the production code; a patched copy of `src` for mutants. */
  readonly src?: string | undefined;
  readonly onStep?: ((line: string) => void) | undefined;
}

export interface SeedResult {
  readonly seed: number;
  readonly digest: string;
  readonly steps: number;
  readonly virtualMs: number;
  readonly effects: number;
  readonly changes: number;
  readonly cycles: number;
  /** The broken rule and what broke it; undefined when the run was clean. */
  readonly failure?: { readonly invariant: string; readonly message: string } | undefined;
}

const startMs = 1_800_000_000_000;
/** Most of the steps are taken under faults; what is left is about what it takes to come right afterwards. */
const faultyShare = 0.9;

/** One whole run: a world drawn from the seed, faults for so many steps, then calm, and everything must come right. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const production = await loadProduction(options.src);
  const random = new SeededRandom(options.seed);
  const swarm = drawSwarm(random.fork("swarm"));
  const world = new World(options.seed, startMs);
  world.onStep = options.onStep;
  const { cast, watching } = stage(world, swarm, random);
  const crew = new Crew(cast, production, simKinds(production), watching);
  cast.poke = () => crew.poke();
  const stray = catchStrayRejections(world);
  const { stackTraceLimit } = Error;
  // Errors are ordinary answers here, and their stacks would cost more than everything else.
  Error.stackTraceLimit = options.onStep === undefined ? 0 : stackTraceLimit;
  armTraps();
  try {
    const api = new ApiActor(cast);
    api.seedResources();
    crew.startAll();
    api.start();
    startOperations(cast);
    startChaos(cast, crew);
    await world.run(() => world.steps >= options.steps * faultyShare);
    if (world.failure === undefined) await proveLiveness(cast, crew, new Operator(cast));
  } finally {
    disarmTraps();
    Error.stackTraceLimit = stackTraceLimit;
    crew.killAll();
  }
  await nextTurn();
  stray.stop();
  return resultOf(options.seed, world, cast);
}

function resultOf(seed: number, world: World, cast: Cast): SeedResult {
  const { failure } = world;
  const invariant = failure instanceof Violation ? failure.invariant : "unexpected error";
  const result: SeedResult = {
    seed,
    digest: world.digest,
    steps: world.steps,
    virtualMs: world.nowMs - startMs,
    effects: cast.ledger.effects,
    changes: cast.store.state.tables.changes.size,
    cycles: cast.ledger.loads,
  };
  if (failure === undefined) return result;
  const message = failure instanceof Violation ? failure.message : (failure.stack ?? failure.message);
  return { ...result, failure: { invariant, message } };
}

/** The store, the outside and everybody in it, before the first step. */
function stage(world: World, swarm: Swarm, random: SeededRandom) {
  let ids = 0;
  let uids = 0;
  const nowMs = () => world.nowMs;
  const store = new MemoryStore({ nowMs, ids: { next: () => `store-${String(++ids).padStart(6, "0")}` } });
  const outside = new Outside();
  const limits: Limits = { ...defaultLimits, ...swarm.limits } as Limits;
  const ledger = new Ledger({ state: store.state, outside, limits, callTimeoutMs: swarm.callTimeoutMs });
  const fail = (violation: Error) => world.fail(violation);
  const rules = new OperationRules(ledger, fail);
  const witness: Witness = together(new Referee(ledger, fail), together(new Inspector(ledger, fail), rules));
  const api = new SimProcess({ world, name: "api", number: 1_000, random: random.fork("api"), skewMs: 0 });
  const faults = () => (cast.faulty ? swarm.store : undefined);
  const intents = connectStore({ store, process: api, faults, witness });
  const cast: Cast = {
    world,
    swarm,
    store,
    outside,
    ledger,
    api,
    intents,
    faulty: true,
    random: random.fork("cast"),
    freshUid: () => `uid-${++uids}`,
    poke: () => {},
  };
  furnish(cast);
  return { cast, watching: { witness, rules } };
}

/** Tenants, their projects and accounts, and the platform's limits. */
function furnish({ swarm, store, outside }: Cast): void {
  const author = { name: "ada", type: "person" } as const;
  const run = (work: Promise<unknown>) => void work.catch(() => {});
  const platform = { scope: "platform", mode: "enforce" as const, limits: swarm.limits };
  run(store.setPolicy({ organizationId: undefined, policy: platform, author }));
  for (const tenant of tenantIds(swarm)) {
    run(store.createOrganization({ id: tenant, name: tenant }));
    const parent = `organization/${tenant}`;
    run(store.createScope({ organizationId: tenant, scope: projectOf(tenant), parent }));
    for (const id of accountIds(swarm, tenant)) {
      const settings = { region: "here" };
      const { callsPerSecond } = swarm;
      const base = { id, organizationId: tenant, name: id, provider: "sim" };
      run(store.createAccount({ ...base, settings, credentialRef: undefined, callsPerSecond }));
      const account = new OutsideAccount({
        id,
        organizationId: tenant,
        settleMs: swarm.settleMs,
        fingerprint: `${id}-thing`,
      });
      outside.add(account, new Throttle(swarm.provider.callsPerSecond));
    }
  }
}

/** A promise nobody waits for would end a real process: here it ends the run. */
function catchStrayRejections(world: World): { stop(): void } {
  const listener = (thrown: unknown) => {
    world.fail(thrown instanceof Error ? thrown : new Error(`Unhandled rejection: ${String(thrown)}`));
  };
  process.on("unhandledRejection", listener);
  return { stop: () => void process.off("unhandledRejection", listener) };
}
