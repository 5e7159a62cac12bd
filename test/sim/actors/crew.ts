import type { Engine } from "../../../src/kernel/claim.ts";
import type { Kind, KindRegistry } from "../../../src/kernel/kind.ts";
import type { Provider } from "../../../src/ports/provider.ts";
import { SimProvider } from "../outside/sim-provider.ts";
import { logTo, SimProcess } from "../process.ts";
import type { Production } from "../production.ts";
import { watchCycles } from "../referee/lease-rules.ts";
import type { OperationRules } from "../referee/operation-rules.ts";
import type { Witness } from "../referee/witness.ts";
import { boxKind } from "../sim-box.ts";
import { connectStore } from "../store-port.ts";
import type { Cast } from "./cast.ts";

type Role = "scheduler" | "worker";

interface Member {
  readonly role: Role;
  readonly process: SimProcess;
  readonly provider: SimProvider;
  readonly poke: () => void;
}

/** How long a step of an operation waits for calls where it is. */
const callPatienceMs = 5_000;

/** Schedulers and workers: production code, each with its own clock, store connection and provider connection. */
export class Crew {
  readonly #cast: Cast;
  readonly #production: Production;
  readonly #kinds: KindRegistry;
  readonly #witness: Witness;
  readonly #rules: OperationRules;
  #members: Member[] = [];
  #started = 0;

  constructor(
    cast: Cast,
    production: Production,
    kinds: KindRegistry,
    { witness, rules }: { readonly witness: Witness; readonly rules: OperationRules },
  ) {
    this.#cast = cast;
    this.#rules = rules;
    this.#production = production;
    this.#kinds = kinds;
    this.#witness = witness;
  }

  get size(): number {
    return this.#members.length;
  }

  startAll(): void {
    const { schedulers, operations } = this.#cast.swarm;
    for (let at = 0; at < schedulers; at++) this.start("scheduler");
    for (let at = 0; at < operations.workers; at++) this.start("worker");
  }

  start(role: Role): void {
    const { world, swarm, random, store } = this.#cast;
    const number = ++this.#started;
    const process = new SimProcess({
      world,
      name: `${role}-${number}`,
      number,
      random: random.fork(`${role}-${number}`),
      skewMs: random.int(-swarm.skewMs, swarm.skewMs),
      steady: this.#production.steadyMs,
    });
    const faults = () => (this.#cast.faulty ? swarm.store : undefined);
    const port = connectStore({ store, process, faults, witness: this.#witness });
    const provider = new SimProvider({
      swarm,
      outside: this.#cast.outside,
      process,
      production: this.#production,
      witness: this.#witness,
    });
    provider.faulty = this.#cast.faulty;
    const providers: ReadonlyMap<string, Provider> = new Map([["sim", provider as Provider]]);
    const patience = role === "worker" ? { callPatienceMs } : {};
    const engine: Engine & { readonly operations: typeof port } = {
      store: port,
      operations: port,
      clock: process.clock,
      random: process.random.fork("engine"),
      ids: process.ids,
      log: logTo(world.onStep, process.name),
      kinds: this.#kindsOf(process),
      accounts: new this.#production.Accounts({ providers, store: port, clock: process.clock, ...patience }),
    };
    const { poke } = role === "worker" ? this.#startWorker(engine, process) : this.#startScheduler(engine, process);
    this.#members.push({ role, process, provider, poke });
  }

  /** Where there are operations, each process says which of their steps it runs. */
  #kindsOf(process: SimProcess): KindRegistry {
    if (this.#cast.swarm.operations.workers === 0) return this.#kinds;
    const box = boxKind(this.#production, (operationId, step) => this.#rules.ran(process, operationId, step));
    return new Map([...this.#kinds, [box.kind, box as Kind]]);
  }

  #startScheduler(engine: Engine, process: SimProcess): Pick<Member, "poke"> {
    const { world, swarm } = this.#cast;
    const fail = (violation: Error) => world.fail(violation);
    const run = watchCycles(this.#cast.ledger, process, fail, this.#production.runCycle);
    const scheduler = this.#production.startScheduler(engine, {
      holder: process.name,
      run,
      leaseMs: swarm.rare.leaseMs,
      renewEveryMs: Math.floor(swarm.rare.leaseMs / 3),
      // Steps are for what may go wrong: what idle cycles leave behind is written down less often than in earnest.
      idleAtLatestMs: 60_000,
    });
    return { poke: () => scheduler.poke() };
  }

  /** It asks less often than in earnest: whoever pokes makes it look at once. */
  #startWorker(engine: Parameters<Production["startWorker"]>[0], process: SimProcess): Pick<Member, "poke"> {
    const { leaseMs } = this.#cast.swarm.rare;
    const pace = { leaseMs, renewEveryMs: Math.floor(leaseMs / 3), balanceEveryMs: 3_000, pollMs: 1_000 };
    const worker = this.#production.startWorker(engine, { holder: process.name, ...pace });
    return { poke: () => worker.poke() };
  }

  /** A hint for every process, which may be lost or come twice. */
  poke(): void {
    const { world, swarm, random } = this.#cast;
    for (const { process, poke } of this.#members) {
      const { lostPoke, doublePoke } = swarm.chaos;
      if (this.#cast.faulty && random.chance(lostPoke)) continue;
      const times = this.#cast.faulty && random.chance(doublePoke) ? 2 : 1;
      for (let time = 0; time < times; time++) {
        world.schedule(random.int(0, 20), "poke", poke, { owner: process });
      }
    }
  }

  crashOne(): void {
    const member = this.#cast.random.pick(this.#members);
    if (member === undefined) return;
    this.#crash(member);
    const orderly = this.#cast.random.int(10, 6_000);
    this.#cast.world.schedule(orderly, "restart", () => this.start(member.role));
  }

  /** Everything stops; as many processes start again a moment later. */
  crashAll(): void {
    const crashed = [...this.#members];
    for (const member of crashed) this.#crash(member);
    const inMs = this.#cast.swarm.callTimeoutMs + 100;
    for (const { role } of crashed) this.#cast.world.schedule(inMs, "restart", () => this.start(role));
  }

  /** The run is over. */
  killAll(): void {
    for (const { process } of this.#members) process.alive = false;
    this.#members = [];
  }

  #crash(member: Member): void {
    member.process.crash(() => this.#cast.random.chance(0.5));
    this.#members = this.#members.filter((other) => other !== member);
  }

  suspendOne(freezes: boolean): void {
    const { random } = this.#cast;
    const member = random.pick(this.#members);
    member?.process.suspend(
      random.choose(random.int(300, 4_000), random.int(5_000, 40_000)),
      freezes && random.chance(0.5),
    );
  }

  /** The process that holds a shard, if it still runs. */
  holding(holder: string | undefined): SimProcess | undefined {
    return this.#members.find(({ process }) => holder?.startsWith(`${process.name}/`))?.process;
  }

  cutOffOne(): void {
    const { random, swarm } = this.#cast;
    const { leaseMs } = swarm.rare;
    // Often just long enough to lose every lease, and to come back before anybody has noticed much.
    const forMs = random.choose(
      random.int(500, 4_000),
      random.int(leaseMs, leaseMs + 3_000),
      random.int(4_000, 20_000),
    );
    random.pick(this.#members)?.process.cutOff(forMs);
  }

  /** A stopped machine whose wall clock is set back as well could not know how long it slept: only one of the two. */
  jumpOne(onlyForward: boolean): void {
    const { random } = this.#cast;
    const byMs = random.choose(random.int(-2_000, 2_000), random.int(-600_000, 600_000));
    random.pick(this.#members)?.process.jumpClock(onlyForward ? Math.abs(byMs) : byMs);
  }

  /** Faults end; whoever sleeps wakes up. */
  calm(): void {
    for (const { process, provider } of this.#members) {
      provider.faulty = false;
      process.suspendedUntilMs = Math.min(process.suspendedUntilMs, this.#cast.world.nowMs + 1_000);
      process.cutOffUntilMs = 0;
    }
    const missing = (role: Role) => this.#members.every((member) => member.role !== role);
    if (missing("scheduler")) this.start("scheduler");
    if (this.#cast.swarm.operations.workers > 0 && missing("worker")) this.start("worker");
  }
}
