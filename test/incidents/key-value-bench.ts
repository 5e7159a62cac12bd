import { keyValueSet } from "../../examples/key-value-set.ts";
import { defineKind, defineLoop, type Kind } from "../../src/index.ts";
import type { EngineStore, PermitRequest } from "../../src/ports/engine-store.ts";
import type { DeleteLimit, GuardName, Verdict } from "../../src/ports/records.ts";
import { Bench, type HeldChange, type MemoryStore, type Span } from "../kit/index.ts";
import type { Autoscaler, BenchSetting, Effect, Fault, IncidentBench, Items, Suspension } from "./bench.ts";
import { accountBackend, PairProvider } from "./key-value-provider.ts";
import { believeEverything, type Loads, scaledSet } from "./scaled-set.ts";
import { takeOutGuard } from "./without-guard.ts";

const NO_LIMIT: DeleteLimit = { count: 1_000_000, percent: 100, atLeast: 1_000_000 };
const WIDE = {
  deletesPerCycle: NO_LIMIT,
  deletesPerHour: { account: NO_LIMIT, organization: NO_LIMIT, platform: NO_LIMIT },
};

export async function makeKeyValueBench(setting: BenchSetting): Promise<IncidentBench> {
  const bench = new KeyValueBench(setting);
  await bench.start();
  return bench;
}

/** The scripts' view of the example kind at an account of the pair provider. */
class KeyValueBench implements IncidentBench {
  readonly #setting: BenchSetting;
  readonly #guardTaken: Disposable;
  readonly #provider = new PairProvider();
  readonly #kinds: readonly Kind[];
  readonly #sets = new Set<string>();
  approvals = 0;
  #started: Bench | undefined;
  #gate: Gate | undefined;
  #snapshot: ReturnType<MemoryStore["snapshot"]> | undefined;
  #loads: Loads;
  readonly autoscaler: Autoscaler = {
    declare: () => this.#declare("ScaledSet/main", { max: 9, loadPerMember: 10 }),
    report: (loads) => {
      this.#loads = loads === undefined ? undefined : new Map(Object.entries(loads));
    },
  };

  constructor(setting: BenchSetting) {
    this.#setting = setting;
    this.#guardTaken = setting.without === undefined ? nothingTaken : takeOutGuard(setting.without);
    const backend = accountBackend("main");
    const believe = setting.without === "derived-emptiness" ? believeEverything : undefined;
    this.#kinds = [keyValueSet(backend), scaledSet(backend, () => this.#loads, believe)];
  }

  async start(): Promise<void> {
    this.#started = await Bench.start({
      kinds: this.#kinds,
      providers: [this.#provider],
      accounts: [{ name: "main", provider: "pairs" }],
      connect: (store) => this.#connect(store),
    });
    if (this.#setting.wide === true) await this.#bench.setPolicy({ limits: WIDE });
  }

  declare(items: Items, set = "main"): Promise<void> {
    return this.#declare(`KeyValueSet/${set}`, { items });
  }

  pass(span: Span): Promise<void> {
    return this.#bench.pass(span);
  }

  fault(fault: Fault): void {
    this.#provider.fault = fault;
  }

  world(): Items {
    return Object.fromEntries([...this.#provider.own.pairs].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  effects(): readonly Effect[] {
    return this.#provider.effects;
  }

  verdicts(): readonly Verdict[] {
    return this.#bench.store.state.tables.verdicts.map(({ verdict }) => verdict);
  }

  heldChanges(): readonly HeldChange[] {
    return this.#bench.heldChanges();
  }

  async approve(held: HeldChange): Promise<void> {
    this.approvals += 1;
    await this.#bench.approve(held);
  }

  converged(): boolean {
    return [...this.#sets].every((name) => this.#bench.ready(name).startsWith("Converged"));
  }

  suspendAtNextDelete(): Suspension {
    const process = this.#bench.process;
    const gate = new Gate(() => process.suspend());
    this.#gate = gate;
    return {
      get reached() {
        return gate.reached;
      },
      resume: async () => {
        this.#gate = undefined;
        process.resume();
        gate.open();
        await this.#bench.pass({ seconds: 1 });
      },
    };
  }

  startAnother(): void {
    this.#bench.startProcess();
  }

  async uninstall(): Promise<void> {
    await this.#restart([]);
  }

  async install(): Promise<void> {
    await this.#restart(this.#kinds);
  }

  async installIgnorant(): Promise<void> {
    await this.#restart(this.#kinds.map(ignorant));
  }

  backup(): void {
    this.#snapshot = this.#bench.store.snapshot();
  }

  async restore(): Promise<void> {
    const { store } = this.#bench;
    if (this.#snapshot === undefined) throw new Error("There is no backup to restore");
    await this.#bench.stop();
    store.restore(this.#snapshot);
    await store.markRestored();
    this.startAnother();
  }

  async deleteWithoutName(): Promise<void> {
    await this.#provider.open().writer.remove("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#guardTaken[Symbol.dispose]();
    await this.#bench.stop();
  }

  get #bench(): Bench {
    if (this.#started === undefined) throw new Error("The bench was not started");
    return this.#started;
  }

  async #declare(name: string, spec: Parameters<Bench["declare"]>[1]): Promise<void> {
    await this.#bench.declare(name, spec);
    this.#sets.add(name);
  }

  async #restart(kinds: readonly Kind[]): Promise<void> {
    await this.#bench.stop();
    this.#bench.startProcess({ kinds });
  }

  /** A process's way to the store, where its permits can be stopped on their way, or forged. */
  #connect(store: MemoryStore): EngineStore {
    const forged: GuardName | undefined = this.#setting.without;
    const permit: EngineStore["permit"] = async (request) => {
      await this.#gate?.passes(request);
      return forged === "permit" ? { granted: true } : await store.permit(request);
    };
    return new Proxy<EngineStore>(store, {
      get: (target, name) => (name === "permit" ? permit : (Reflect.get(target, name) as unknown)),
    });
  }
}

/** Stops the first delete that asks to pass. */
class Gate {
  reached = false;
  readonly #opened = Promise.withResolvers<void>();
  readonly #onReached: () => void;

  constructor(onReached: () => void) {
    this.#onReached = onReached;
  }

  async passes(request: PermitRequest): Promise<void> {
    if (!request.deletes || this.reached) return;
    this.reached = true;
    this.#onReached();
    await this.#opened.promise;
  }

  open(): void {
    this.#opened.resolve();
  }
}

const nothingTaken: Disposable = { [Symbol.dispose]: () => {} };

/** An adapter of the same name that came in place of the old one and knows nothing of what was declared. */
function ignorant(kind: Kind): Kind {
  if (kind.loop === undefined) return kind;
  return defineKind({ ...kind, loop: defineLoop({ ...kind.loop, desired: () => ({ known: true, items: [] }) }) });
}
