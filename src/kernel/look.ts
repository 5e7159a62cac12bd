import type { Json } from "../ports/json.ts";
import type { AccountRecord, CycleInput, Finding, Mode } from "../ports/records.ts";
import type { Claim, Engine } from "./claim.ts";
import { RetryableError, TerminalError } from "./errors.ts";
import type {
  CredentialQuestions,
  Inspection,
  Inventory,
  ItemName,
  LookContext,
  Loop,
  MeasureContext,
  Observation,
  Seen,
  Subject,
} from "./loop.ts";
import { partsOf } from "./parts.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A kind without an account has no provider to say how long one of its calls may take or how late it shows. */
const WITHOUT_ACCOUNT = { callTimeoutMs: 10_000, settleMs: 0 } as const;
/** A report is for people and must not keep a shard's other subjects waiting. */
const INSPECT_MS = 8_000;
/** Reads of many members take a while; a cycle without them is no harm. */
const MEASURE_MS = 15_000;
/** Somebody waits for the answer of a look that a person or an event asked for, so an old listing will not do. */
const FRESH_FOR_PEOPLE_MS = 10_000;

/** One subject's view of the outside during one cycle: reads only, each counted, limited and timed. */
export class Lookout {
  readonly #engine: Engine;
  readonly #claim: Claim;
  readonly #input: CycleInput;
  readonly #loop: Loop<unknown, object>;
  readonly #subject: Subject<unknown>;
  /** Store time minus monotonic time, measured when the snapshot arrived: turns what this process saw into store time. */
  readonly #skewMs: number;
  /** When the subject's own inputs were read, by this process's clock. */
  readonly #loadedAtMonotonicMs: number;
  readonly callTimeoutMs: number;
  readonly settleMs: number;
  /** How long after the first finding of an inferred delete the second look may begin. */
  readonly confirmAfterMs: number;

  constructor(options: {
    engine: Engine;
    claim: Claim;
    input: CycleInput;
    /** How far the store's clock was ahead of our monotonic one when the snapshot arrived. */
    storeAheadMs: number;
    loop: Loop<unknown, object>;
    subject: Subject<unknown>;
    confirmAfterMs: number;
  }) {
    this.#engine = options.engine;
    this.#claim = options.claim;
    this.#input = options.input;
    this.#loop = options.loop;
    this.#subject = options.subject;
    this.#skewMs = options.storeAheadMs;
    this.#loadedAtMonotonicMs = options.input.storeNowMs - options.storeAheadMs;
    const provider =
      options.input.account === undefined ? WITHOUT_ACCOUNT : options.engine.accounts.provider(options.input.account);
    this.callTimeoutMs = provider.callTimeoutMs;
    this.settleMs = provider.settleMs;
    // Two looks within the settle time could both show the same old state, whatever the limit says.
    this.confirmAfterMs = Math.max(options.confirmAfterMs, provider.settleMs);
  }

  /** The store's time now, by this process's monotonic clock. */
  storeNowMs(): number {
    return this.sinceStoreMs(this.#engine.clock.monotonicMs());
  }

  /**
   * The first millisecond of store time that surely lies after now, for what was just written: a look and a write may
   * share a millisecond, and then nobody could tell which came first.
   */
  afterNowMs(): number {
    return this.storeNowMs() + 1;
  }

  /** The start of a look as store time. Whole milliseconds, rounded down: a look never passes for a younger one. */
  toStoreMs(monotonicMs: number): number {
    return Math.floor(monotonicMs + this.#skewMs);
  }

  /** A write or a lease as store time, rounded up: what looks must have begun after never seems earlier than it was. */
  sinceStoreMs(monotonicMs: number): number {
    return Math.ceil(monotonicMs + this.#skewMs);
  }

  /** Listings and looks count and limit their own calls; the whole is bounded by the cycle's deadline. */
  async observe(): Promise<Observation<object>> {
    return await this.#loop.observe(this.#context(this.#claim.signal), this.#subject);
  }

  /** Reads one thing by its recorded id, or by key before an id is known. */
  async read(item: ItemName): Promise<Seen<object> | "absent"> {
    if (item.key === "")
      throw new TerminalError(
        "WILDCARD_REFUSED",
        `${this.#subject.name}: a read without a key was asked for; an empty key never means "all"`,
      );
    await this.#takeCall();
    return await this.#limited(`read of ${item.key}`, (signal) =>
      this.#loop.read(this.#context(signal), this.#subject, item),
    );
  }

  /** What `desired` is to weigh. Whole listings only: half of one would be half of a load. */
  async measure(): Promise<Json> {
    const { account, inputs, memory } = this.#input;
    const loop = this.#loop;
    if (loop.measure === undefined) throw new TerminalError("INTERNAL", `${this.#loop.kind} measures nothing`);
    const limit = {
      ms: MEASURE_MS,
      signal: this.#claim.signal,
      what: `${this.#loop.kind}/${this.#subject.name}: measure`,
    };
    return await withTimeLimit(this.#engine.clock, limit, (signal) => {
      const looking = this.#context(signal);
      const context: MeasureContext<unknown> = {
        reader: account === undefined ? undefined : this.#engine.accounts.world(account).reader,
        signal,
        marker: looking.marker,
        nowMs: this.storeNowMs(),
        parts: (kind) => partsOf(inputs, kind).filter(({ leaving }) => !leaving),
        lastGood: (key) => memory.lastDesired?.find((stored) => stored.key === key)?.item,
        inventory: (collection) => looking.inventory(collection),
        read: (what, work) => this.#counted(what, work),
      };
      return loop.measure?.(context, this.#subject) ?? Promise.resolve({});
    });
  }

  async #counted<Answer>(what: string, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    await this.#takeCall();
    return await this.#limited(what, work);
  }

  /** What the loop has to say beside; undefined where it has nothing, or could not find out. */
  async inspect(seen: Observation<object>, mode: Mode): Promise<Inspection | undefined> {
    const loop = this.#loop;
    const { account, memory, status } = this.#input;
    if (loop.inspect === undefined) return undefined;
    const limit = {
      ms: INSPECT_MS,
      signal: this.#claim.signal,
      what: `${this.#loop.kind}/${this.#subject.name}: report`,
    };
    const asking = withTimeLimit(this.#engine.clock, limit, (signal) => {
      const context = {
        reader: account === undefined ? undefined : this.#engine.accounts.world(account).reader,
        signal,
        nowMs: this.storeNowMs(),
        fresh: this.#claim.trigger === "person",
        before: status?.report,
        account: account === undefined ? undefined : this.#questionsTo(account, mode, signal),
        writtenAtMs: () =>
          new Map(
            memory.owned.flatMap(({ key, writtenAtMs }) =>
              writtenAtMs === undefined ? [] : [[key, writtenAtMs] as const],
            ),
          ),
        read: <Answer>(what: string, work: (signal: AbortSignal) => Promise<Answer>) => this.#counted(what, work),
      };
      return loop.inspect?.(context, this.#subject, seen.items) ?? Promise.resolve(undefined);
    });
    return await asking.catch((thrown: unknown) => {
      this.#engine.log.debug("cycle.report-failed", { subject: this.#subject.name, error: String(thrown) });
      return undefined;
    });
  }

  /** The question about rights looks like a write, so it is asked where writes may be: neither in observe nor while they are paused. */
  #questionsTo(account: AccountRecord, mode: Mode, signal: AbortSignal): CredentialQuestions {
    const { accounts, clock } = this.#engine;
    const forPerson = this.#forPerson();
    const isAsked = mode !== "observe" && this.#input.pauses.length === 0;
    return {
      fingerprint: account.fingerprint,
      identity: async (withinSeconds) => {
        const withinMs = this.#claim.trigger === "person" ? 0 : withinSeconds * 1_000;
        return await accounts.identity(account, { notBeforeMonotonicMs: 0, withinMs, signal });
      },
      rights: async (withinSeconds) => {
        if (!isAsked) return undefined;
        const oldestMs = this.#claim.trigger === "person" ? 0 : withinSeconds * 1_000;
        const notBeforeMonotonicMs = clock.monotonicMs() - oldestMs;
        return await accounts.rights(account, { notBeforeMonotonicMs, forPerson, signal });
      },
    };
  }

  #context(signal: AbortSignal): LookContext<unknown> {
    const { accounts, clock } = this.#engine;
    const { account, memory } = this.#input;
    return new Context(memory, {
      reader: account === undefined ? undefined : accounts.world(account).reader,
      signal,
      marker: { installationId: this.#input.installation.id, resourceUid: this.#subject.uid },
      fresh: this.#claim.trigger === "person",
      declared: (kind) => ({
        startedAtMonotonicMs: this.#loadedAtMonotonicMs,
        resources: this.#input.inputs.filter((input) => input.kind === kind && input.deletion === undefined),
      }),
      inventory: async <Entry>(collection: string, shown?: { readonly withinSeconds: number }) => {
        if (account === undefined)
          throw new TerminalError("ACCOUNT_UNKNOWN", `${this.#subject.name} has no account to list '${collection}' at`);
        const notBeforeMonotonicMs =
          shown === undefined ? this.#notBeforeMonotonicMs() : this.#shownNotBeforeMs(shown.withinSeconds);
        const options = { notBeforeMonotonicMs, forPerson: this.#forPerson(), signal };
        return (await accounts.inventory(account, collection, options)) as Inventory<Entry>;
      },
      look: async (read) => {
        await this.#takeCall();
        const startedAtMonotonicMs = clock.monotonicMs();
        const items = await this.#limited("look", read);
        return { completeness: "complete", proof: "read whole in one call", startedAtMonotonicMs, items };
      },
      from: observationFrom,
    });
  }

  /**
   * The oldest listing this cycle may use: begun after our own last write became visible, after the lease was taken, within
   * half an interval, and within seconds when somebody waits. A second finding needs a look of its own, begun after its wait.
   */
  #notBeforeMonotonicMs(): number {
    const { lastWriteAtMs, findings } = this.#input.memory;
    const nowMs = this.#engine.clock.monotonicMs();
    const listedMs = (this.#loop.listedWithinSeconds ?? this.#loop.everySeconds / 2) * 1_000;
    const ageMs = this.#forPerson() ? Math.min(FRESH_FOR_PEOPLE_MS, listedMs) : listedMs;
    const visibleMs = lastWriteAtMs === undefined ? 0 : lastWriteAtMs + this.settleMs - this.#skewMs;
    const confirmMs = this.#confirmsFromMs(findings, nowMs + this.#skewMs) - this.#skewMs;
    const sinceMs = Math.max(nowMs - ageMs, visibleMs, confirmMs, this.#claim.quietSinceMonotonicMs ?? 0);
    return Math.min(nowMs, Math.max(sinceMs, this.#eventMonotonicMs()));
  }

  /** When the event was that made the subject due, where that counts. */
  #eventMonotonicMs(): number {
    const { dueAtMs } = this.#input;
    const counts = this.#loop.listedAfterEvents === true && this.#forPerson() && dueAtMs !== undefined;
    return counts ? dueAtMs - this.#skewMs : 0;
  }

  /** What is only shown is as old as it may be, unless a person asks. */
  #shownNotBeforeMs(withinSeconds: number): number {
    const ageMs = this.#claim.trigger === "person" ? FRESH_FOR_PEOPLE_MS : withinSeconds * 1_000;
    return this.#engine.clock.monotonicMs() - ageMs;
  }

  /** Findings whose wait is over are confirmed by no older look than that; the others only need a newer one than theirs. */
  #confirmsFromMs(findings: readonly Finding[], storeNowMs: number): number {
    const due = findings.filter((finding) => finding.foundAtMs + this.confirmAfterMs <= storeNowMs);
    if (due.length > 0) return latest(due) + this.confirmAfterMs;
    return findings.length === 0 ? 0 : latest(findings) + 1;
  }

  #forPerson(): boolean {
    return this.#claim.trigger === "person" || this.#claim.trigger === "event";
  }

  async #takeCall(): Promise<void> {
    if (this.#input.account !== undefined) await this.#engine.accounts.takeCall(this.#input.account, this.#forPerson());
  }

  async #limited<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = {
      ms: this.callTimeoutMs,
      signal: this.#claim.signal,
      what: `${this.#loop.kind}/${this.#subject.name}: ${what}`,
    };
    try {
      const { accounts, clock } = this.#engine;
      return await accounts.timed(this.#input.account, () => withTimeLimit(clock, limit, work));
    } catch (thrown) {
      if (this.#input.account !== undefined && thrown instanceof RetryableError)
        await this.#engine.accounts.noteThrottle(this.#input.account, thrown);
      throw thrown;
    }
  }
}

type Given = Omit<LookContext<unknown>, "ownIds" | "noted">;

/**
 * A class for the one thing that is made when it is asked for: few loops ask, and a zone has tens of thousands. V8 keeps an object
 * that is written with a getter of its own as a dictionary, and everything that such a context saw outlived the collections of the
 * young: an eighth of all that a look makes was copied twice and swept with the old.
 */
class Context implements LookContext<unknown> {
  readonly reader: Given["reader"];
  readonly signal: Given["signal"];
  readonly marker: Given["marker"];
  readonly fresh: Given["fresh"];
  readonly declared: Given["declared"];
  readonly inventory: Given["inventory"];
  readonly look: Given["look"];
  readonly from: Given["from"];
  readonly #memory: CycleInput["memory"];
  #ownIds: ReadonlySet<string> | undefined;

  constructor(memory: CycleInput["memory"], given: Given) {
    this.#memory = memory;
    this.reader = given.reader;
    this.signal = given.signal;
    this.marker = given.marker;
    this.fresh = given.fresh;
    this.declared = given.declared;
    this.inventory = given.inventory;
    this.look = given.look;
    this.from = given.from;
  }

  get ownIds(): ReadonlySet<string> {
    this.#ownIds ??= new Set(this.#memory.owned.flatMap(({ externalId }) => externalId ?? []));
    return this.#ownIds;
  }

  noted(externalId: string): Readonly<Record<string, string>> {
    return this.#memory.made?.find((thing) => thing.externalId === externalId)?.noted ?? {};
  }
}

const observationFrom: Given["from"] = (inventory, items) => ({
  completeness: inventory.completeness,
  proof: inventory.proof,
  startedAtMonotonicMs: inventory.startedAtMonotonicMs,
  items,
});

function latest(findings: readonly Finding[]): number {
  return Math.max(...findings.map((finding) => finding.foundAtMs));
}
