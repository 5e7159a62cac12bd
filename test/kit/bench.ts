import { parseSpec, describeSpecErrors, type Kind } from "../../src/kernel/kind.ts";
import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { DeclareRequest, IntentStore } from "../../src/ports/intent-store.ts";
import type { Json, JsonObject } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { HistoryEntry } from "../../src/ports/read-store.ts";
import type { Mode, PauseLevel, Principal, ScopePolicy, SubjectStatus } from "../../src/ports/records.ts";
import { historyDocument } from "../../src/control-api/history-words.ts";
import { MemoryStore } from "../sim/memory-store.ts";
import type { ResourceRow } from "../sim/store/rows.ts";
import { changeTogether } from "./memory-declaring.ts";
import { BenchProcess, type ProcessOptions } from "./process.ts";
import { type HeldChange, historyOf, openHeldChanges, resourceRow, statusesOf } from "./records.ts";
import { VirtualTime } from "./virtual-time.ts";

const START_MS = 1_767_225_600_000;
const ORGANIZATION = "bench";

export interface BenchAccount {
  readonly name: string;
  readonly provider: string;
  readonly settings?: JsonObject;
  readonly callsPerSecond?: number;
}

export interface BenchOptions {
  readonly kinds: readonly Kind[];
  readonly providers?: readonly Provider[];
  readonly accounts?: readonly BenchAccount[];
  /** What a process sees as its store; the store itself unless given. */
  readonly connect?: (store: MemoryStore) => EngineStore;
}

/** How long: the parts are added up. */
export interface Span {
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/**
 * A place to try a kind without a database: the production scheduler and kernel, the store in memory, and time that
 * passes when it is told to. A resource is named `Kind/name`.
 */
export class Bench {
  readonly time = new VirtualTime(START_MS);
  readonly store: MemoryStore;
  readonly #options: BenchOptions;
  readonly #processes: BenchProcess[] = [];
  #ids = 0;
  #starts = 0;

  private constructor(options: BenchOptions) {
    this.#options = options;
    this.store = new MemoryStore({ nowMs: () => this.time.nowMs, ids: { next: () => this.#nextId() } });
  }

  static async start(options: BenchOptions): Promise<Bench> {
    const bench = new Bench(options);
    await bench.store.createOrganization({ id: ORGANIZATION, name: ORGANIZATION });
    const parent = `organization/${ORGANIZATION}`;
    await bench.store.createScope({ organizationId: ORGANIZATION, scope: `project/${ORGANIZATION}`, parent });
    for (const account of options.accounts ?? []) {
      const { name, provider, settings = {}, callsPerSecond = 1_000 } = account;
      const tenant = { id: name, organizationId: ORGANIZATION, name };
      await bench.store.createAccount({ ...tenant, provider, settings, credentialRef: undefined, callsPerSecond });
    }
    bench.startProcess();
    return bench;
  }

  /** One more process beside those that run, with other kinds or providers if they are given. */
  startProcess(options: Partial<ProcessOptions> = {}): BenchProcess {
    const { kinds, providers = [], connect = (store) => store } = this.#options;
    const process = new BenchProcess({
      kinds,
      providers,
      store: connect(this.store),
      declaring: { change: async (request) => changeTogether(this.store.state, request) },
      starting: { startOperation: (request) => this.store.startOperation(request) },
      ...options,
      time: this.time,
      name: `process-${++this.#starts}`,
      ids: { next: () => this.#nextId() },
    });
    this.#processes.push(process);
    return process;
  }

  /** The process started last. */
  get process(): BenchProcess {
    const process = this.#processes.at(-1);
    if (process === undefined) throw new Error("No process runs on this bench: start one with startProcess()");
    return process;
  }

  /** Time passes: what is due runs, again and again. */
  async pass(span: Span): Promise<void> {
    const { hours = 0, minutes = 0, seconds = 0 } = span;
    await this.time.pass(((hours * 60 + minutes) * 60 + seconds) * 1_000);
  }

  /** Declares a resource or changes its spec, checked as the API checks it. */
  async declare(
    name: string,
    spec: Json,
    options: { readonly by?: Principal; readonly mode?: Mode; readonly protect?: boolean } = {},
  ): Promise<void> {
    const kind = this.#kindOf(name);
    const parsed = parseSpec(kind, spec);
    const short = shortName(name);
    if (!parsed.ok) throw new Error(describeSpecErrors({ kind: kind.kind, name: short }, parsed.errors));
    if (kind.modeRequired && options.mode === undefined) {
      throw new Error(`${name}: its kind has no default mode; name one, and observe is the one to begin with`);
    }
    const named = kind.accounts(parsed.spec);
    const answer = await this.store.declare({
      uid: resourceRow(this.store, name)?.uid ?? this.#nextId(),
      organizationId: ORGANIZATION,
      kind: kind.kind,
      name: short,
      scope: kind.scopes.includes("organization") ? `organization/${ORGANIZATION}` : `project/${ORGANIZATION}`,
      spec,
      labels: {},
      author: options.by ?? person("author"),
      ifRevision: undefined,
      mode: options.mode,
      protect: options.protect,
      accounts: kind.loop === undefined ? [] : named.length === 0 ? [undefined] : named,
      links: kind.links(parsed.spec),
      ...refersOf(kind, parsed.spec),
    });
    if (answer.result === "conflict") throw new Error(`${name} is being deleted: declare it again when it is gone`);
    this.#poke();
  }

  /** Asks for the deletion of a resource; `confirmedCount` approves that many outside deletes in the same breath. */
  async delete(
    name: string,
    options: { readonly by?: Principal; readonly confirmedCount?: number } = {},
  ): Promise<void> {
    const { uid } = this.#row(name);
    const request = { organizationId: ORGANIZATION, uid, ifRevision: undefined, orphan: false };
    const { by = person("author"), confirmedCount } = options;
    await this.store.requestDeletion({ ...request, author: by, confirmedCount });
    this.#poke();
  }

  /** What is open in the inbox. */
  heldChanges(): readonly HeldChange[] {
    return openHeldChanges(this.store);
  }

  /** Approves exactly what was seen: when it moved since, nothing is approved. */
  async approve(held: Pick<HeldChange, "id" | "digest">, by: Principal = person("approver")): Promise<void> {
    const request = { organizationId: ORGANIZATION, heldChangeId: held.id, digest: held.digest };
    const answer = await this.store.approve({ ...request, approver: by, grantForMs: 24 * 60 * 60_000 });
    if (answer.result !== "approved") throw new Error(`The held change ${held.id} was not approved: ${answer.result}`);
    this.#poke();
  }

  /** Stops deletes, writes or everything on the whole platform until the returned function is called. */
  async freeze(level: PauseLevel, reason: string): Promise<() => Promise<void>> {
    const id = this.#nextId();
    const pause = { id, organizationId: undefined, scope: "platform", level, author: person("operator"), reason };
    await this.store.pause({ ...pause, forMs: 24 * 60 * 60_000 });
    return async () => {
      await this.store.endPause({ id, organizationId: undefined, author: person("operator") });
      this.#poke();
    };
  }

  /** Mode and limits of everything on the bench. */
  async setPolicy(policy: Omit<ScopePolicy, "scope">): Promise<void> {
    const scope = `organization/${ORGANIZATION}`;
    const request: Parameters<IntentStore["setPolicy"]>[0] = {
      organizationId: ORGANIZATION,
      policy: { scope, ...policy },
      author: person("operator"),
    };
    await this.store.setPolicy(request);
    this.#poke();
  }

  /** One status per account the resource lives at. */
  statuses(name: string): readonly (SubjectStatus | undefined)[] {
    return statusesOf(this.store, this.#row(name).uid);
  }

  /** The Ready condition in one line. */
  ready(name: string): string {
    const conditions = this.statuses(name).map((status) => status?.conditions.find(({ type }) => type === "Ready"));
    return conditions
      .map((ready) => (ready === undefined ? "not looked at yet" : `${ready.reason}: ${ready.message}`))
      .join("; ");
  }

  /** Everything that was done and refused, oldest first. */
  history(name: string): readonly HistoryEntry[] {
    return historyOf(this.store, this.#row(name).uid);
  }

  /** The record in words, as `setpoint why` has it, with the time since the bench was started. */
  why(name: string): readonly string[] {
    return this.history(name).map((entry) => `${clockText(entry.atMs - START_MS)} ${historyDocument(entry).words}`);
  }

  /** Ends every process of the bench in order. */
  async stop(): Promise<void> {
    for (const process of this.#processes.splice(0)) await process.stop();
  }

  #poke(): void {
    for (const process of this.#processes) process.poke();
  }

  #kindOf(name: string): Kind {
    const kind = this.#options.kinds.find((entry) => entry.kind === name.split("/")[0]);
    if (kind !== undefined) return kind;
    const known = this.#options.kinds.map((entry) => entry.kind).join(", ");
    throw new Error(`${name}: the bench has no such kind; write Kind/name with one of ${known}`);
  }

  #row(name: string): ResourceRow {
    const row = resourceRow(this.store, name);
    if (row === undefined) throw new Error(`${name} is not declared on this bench`);
    return row;
  }

  #nextId(): string {
    return `id-${++this.#ids}`;
  }
}

export function person(name: string): Principal {
  return { name, type: "person" };
}

function shortName(name: string): string {
  return name.split("/")[1] ?? "";
}

function clockText(ms: number): string {
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1_000) % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** The bench has one scope: whatever is named is in it. */
function refersOf(kind: Kind, spec: unknown): Pick<DeclareRequest, "refers"> {
  const refers = kind.references?.(spec).map(({ kind: target, name }) => ({ kind: target, name }));
  return refers === undefined || refers.length === 0 ? {} : { refers };
}
