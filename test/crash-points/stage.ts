import type { Engine } from "../../src/kernel/claim.ts";
import { Accounts } from "../../src/kernel/accounts.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { IntentStore } from "../../src/ports/intent-store.ts";
import type { Json } from "../../src/ports/json.ts";
import { asError } from "../sim/as-error.ts";
import { changeTogether } from "../kit/memory-declaring.ts";
import { MemoryStore, transactions } from "../sim/memory-store.ts";
import { logTo, SimProcess } from "../sim/process.ts";
import { SeededRandom } from "../sim/random.ts";
import { World } from "../sim/world.ts";
import { startPlainScheduler } from "./plain-scheduler.ts";
import { accountId, type PointCall, person, type Scenario, type ScenarioOutside, scope, tenant } from "./scenario.ts";

/** What goes wrong at one point. */
export type Fault = "crash before" | "crash after" | "stale read" | "lost signal" | "duplicated call" | "lost lease";
export const faults: readonly Fault[] = [
  "crash before",
  "crash after",
  "stale read",
  "lost signal",
  "duplicated call",
  "lost lease",
];

export interface Disturbance {
  readonly fault: Fault;
  /** Number of the point, counted from 1 in the order of the undisturbed run. */
  readonly point: number;
}

export interface Point {
  readonly number: number;
  readonly label: string;
  readonly reads: boolean;
}

export interface Outcome {
  readonly points: readonly Point[];
  /** The outside and the declared state, as they must be after every run. */
  readonly final: Json;
}

const startMs = 1_800_000_000_000;
const restartMs = 50;
/** Longer than a lease: whoever sleeps this long finds another process at work. */
const sleepMs = 20_000;
/** A poll between two cycles is no effect: a crash there is a crash before the next cycle's load. */
const polls = new Set(["dueSubjects", "listSubjects"]);

/** Runs a scenario once, on virtual time, with at most one thing going wrong. */
export async function play(scenario: Scenario, disturbance?: Disturbance): Promise<Outcome> {
  const stage = new Stage(scenario, disturbance);
  await stage.run();
  return { points: stage.points, final: stage.final() };
}

class Stage {
  readonly points: Point[] = [];
  readonly #world = new World(1, startMs);
  readonly #store: MemoryStore;
  readonly #outside: ScenarioOutside;
  readonly #scenario: Scenario;
  readonly #disturbance: Disturbance | undefined;
  readonly #intents: EngineStore & IntentStore;
  #live: { readonly process: SimProcess; poke(): void }[] = [];
  #started = 0;
  #ids = 0;

  constructor(scenario: Scenario, disturbance: Disturbance | undefined) {
    this.#scenario = scenario;
    this.#disturbance = disturbance;
    const nowMs = () => this.#world.nowMs;
    this.#store = new MemoryStore({ nowMs, ids: { next: () => `id-${String(++this.#ids).padStart(5, "0")}` } });
    this.#intents = this.#store;
    this.#outside = scenario.outside(nowMs);
  }

  async run(): Promise<void> {
    await this.#furnish();
    this.#startProcess();
    for (const planned of this.#scenario.acts) {
      this.#world.schedule(planned.atSeconds * 1_000, "act", () => this.#then(planned.act(this.#intents)));
    }
    for (let second = 5; second < this.#scenario.endsAtSeconds; second += 5) {
      this.#world.schedule(second * 1_000, "operator", () => this.#approveAll());
    }
    const endMs = startMs + this.#scenario.endsAtSeconds * 1_000;
    await this.#world.run(() => this.#world.nowMs >= endMs);
    if (this.#world.failure !== undefined) throw this.#world.failure;
  }

  /** What must be the same whatever went wrong on the way: not ids, times or versions. */
  final(): Json {
    const { tables } = this.#store.state;
    const resources = [...tables.resources.values()].map(({ kind, name, spec, deletion }) => ({
      kind,
      name,
      spec,
      deleting: deletion !== undefined,
    }));
    const subjects = [...tables.subjects.values()].map(({ kind, name, memory, status }) => ({
      kind,
      name,
      owned: memory.owned.map(({ key, state }) => `${key} ${state}`),
      ready: status?.conditions.find(({ type }) => type === "Ready")?.status ?? "none",
    }));
    const open = [...tables.heldChanges.values()].filter(({ state }) => state === "open").length;
    return JSON.parse(JSON.stringify({ outside: this.#outside.canonical(), resources, subjects, open })) as Json;
  }

  async #furnish(): Promise<void> {
    await this.#store.createOrganization({ id: tenant, name: tenant });
    await this.#store.createScope({ organizationId: tenant, scope, parent: `organization/${tenant}` });
    const account = { id: accountId, organizationId: tenant, name: accountId, provider: "outside", settings: {} };
    await this.#store.createAccount({ ...account, credentialRef: undefined, callsPerSecond: 1_000 });
    // Wide limits: what is put to the test is that nothing gets lost or doubled, not how many deletes are allowed.
    const wide = { count: 100, percent: 100, atLeast: 100 };
    const limits = { deletesPerCycle: wide, deletesPerHour: { account: wide, organization: wide, platform: wide } };
    const policy = { scope: "platform", mode: "enforce" as const, limits: { ...limits, confirmAfterMs: 5_000 } };
    await this.#store.setPolicy({ organizationId: undefined, policy, author: person });
  }

  #startProcess(): void {
    const number = ++this.#started;
    const name = `process-${number}`;
    const random = new SeededRandom(number);
    const process = new SimProcess({ world: this.#world, name, number, random, skewMs: 0 });
    const call: PointCall = (label, handle, options) => this.#point(process, label, handle, options?.reads === true);
    const store = this.#storeOf(process);
    const { kinds, providers } = this.#outside.connect(call);
    const { clock, ids } = process;
    const accounts = new Accounts({ providers, store, clock });
    const declaring: Engine["declaring"] = {
      change: (request) => this.#point(process, "change", () => changeTogether(this.#store.state, request), false),
    };
    const engine: Engine = { store, clock, random, ids, log: logTo(undefined, name), kinds, accounts, declaring };
    const scheduler = startPlainScheduler(engine, { holder: name, runCycle, everyMs: 20_000 });
    this.#live.push({ process, poke: () => scheduler.poke() });
  }

  #storeOf(process: SimProcess): EngineStore & IntentStore {
    const methods = Object.entries(transactions).map(([name, transaction]) => {
      const run = transaction as (state: MemoryStore["state"], request: unknown) => unknown;
      return [name, (request: unknown) => this.#point(process, name, () => run(this.#store.state, request), false)];
    });
    return Object.fromEntries(methods) as EngineStore & IntentStore;
  }

  /** One effect point: the request goes out, happens, and is answered; unless this is where something goes wrong. */
  #point<T>(process: SimProcess, label: string, handle: (stale: boolean) => T, reads: boolean): Promise<T> {
    const fault = this.#countPoint(label, reads);
    return new Promise((resolve, reject) => {
      if (fault === "crash before") return this.#crash(process);
      const happen = () => {
        try {
          const value = handle(fault === "stale read");
          this.#world.schedule(1, label, () => resolve(value), { owner: process });
        } catch (thrown) {
          this.#world.schedule(1, label, () => reject(asError(thrown)), { owner: process });
        }
      };
      this.#world.schedule(1, label, happen);
      if (fault === "duplicated call") this.#world.schedule(2, label, () => this.#again(handle));
      if (fault === "crash after") this.#crash(process);
      if (fault === "lost lease") this.#loseLease(process);
    });
  }

  #countPoint(label: string, reads: boolean): Fault | undefined {
    if (polls.has(label)) return undefined;
    const number = this.points.length + 1;
    this.points.push({ number, label, reads });
    return this.#disturbance?.point === number ? this.#disturbance.fault : undefined;
  }

  /** The network delivered the request a second time; nobody hears that answer. */
  #again(handle: (stale: boolean) => unknown): void {
    try {
      handle(false);
    } catch {
      // The second delivery may well be refused.
    }
  }

  #crash(process: SimProcess): void {
    process.alive = false;
    this.#live = this.#live.filter((member) => member.process !== process);
    this.#world.schedule(restartMs, "restart", () => this.#startProcess());
  }

  #loseLease(process: SimProcess): void {
    process.suspend(sleepMs, false);
    this.#startProcess();
  }

  /** People's changes end with a signal to every process; that is a point of its own. */
  #then(work: Promise<unknown>): void {
    work.then(
      () => this.#signal(),
      (thrown: unknown) => this.#world.fail(asError(thrown)),
    );
  }

  #signal(): void {
    if (this.#countPoint("signal", false) === "lost signal") return;
    for (const member of this.#live) {
      this.#world.schedule(1, "signal", () => member.poke(), { owner: member.process });
    }
  }

  #approveAll(): void {
    for (const { state, id: heldChangeId, digest } of this.#store.state.tables.heldChanges.values()) {
      if (state !== "open") continue;
      const request = { organizationId: tenant, heldChangeId, digest, approver: person, grantForMs: 600_000 };
      this.#store.approve(request).catch((thrown: unknown) => this.#world.fail(asError(thrown)));
    }
  }
}
