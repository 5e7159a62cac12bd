import type {
  Direction,
  JournalEntry,
  NewEntry,
  OperationMove,
  OperationRecord,
  OperationStanding,
  OperationState,
  OperationWithJournal,
} from "../ports/operation-store.ts";
import type { OperationClaim, OperationEngine } from "./operation-scene.ts";
import type { Pipeline } from "./pipeline.ts";

export interface OperationReport {
  /** Undefined when the lease was lost or somebody else wrote: then nothing is known of it here. */
  readonly operation: OperationRecord | undefined;
  readonly message: string;
  readonly steps: number;
}

/** How an operation is left. */
export interface Rest {
  readonly state: OperationState;
  readonly message: string;
  readonly dueInMs: number | undefined;
  readonly step?: string | undefined;
  readonly attempts?: number | undefined;
  readonly direction?: Direction | undefined;
  readonly next?: OperationMove["next"];
  readonly undone?: OperationMove["undone"];
}

/** What is known of the operation during one turn, and what is not written yet. */
export class Turn {
  readonly engine: OperationEngine;
  readonly claim: OperationClaim;
  /** Undefined: nobody here knows it. */
  readonly pipeline: Pipeline | undefined;
  standing: OperationStanding;
  /** As it was when the turn began. */
  readonly overQuota: OperationWithJournal["overQuota"];
  #written: readonly JournalEntry[];
  #pending: { readonly entry: NewEntry; readonly atMonotonicMs: number }[] = [];
  readonly #begunMonotonicMs: number;
  #lost = false;
  #steps = 0;

  constructor(
    engine: OperationEngine,
    claim: OperationClaim,
    loaded: OperationWithJournal,
    pipeline: Pipeline | undefined,
  ) {
    this.engine = engine;
    this.claim = claim;
    this.pipeline = pipeline;
    this.standing = loaded;
    this.#written = loaded.journal;
    this.overQuota = loaded.overQuota;
    this.#begunMonotonicMs = engine.clock.monotonicMs();
  }

  /** With what waits to be written, as if it were: it is written before anything rests on it outside. */
  get journal(): readonly JournalEntry[] {
    const { length } = this.#written;
    return [
      ...this.#written,
      ...this.#pending.map(({ entry }, index) => ({
        ...entry,
        place: length + index + 1,
        atMs: this.standing.storeNowMs,
      })),
    ];
  }

  add(entry: Omit<NewEntry, "direction">): void {
    const { direction } = this.standing.operation;
    this.#pending.push({ entry: { ...entry, direction }, atMonotonicMs: this.engine.clock.monotonicMs() });
  }

  note(step: string, notes: readonly string[]): void {
    for (const message of notes) this.add({ step, version: 1, result: "noted", message });
  }

  attemptsAt(step: string): number {
    const { operation } = this.standing;
    return operation.step === step ? operation.attempts : 0;
  }

  lose(): void {
    this.#lost = true;
  }

  get hasUnwritten(): boolean {
    return this.#pending.length > 0;
  }

  /** After a step: on to the next one at once. */
  async goOn(step: string): Promise<boolean> {
    return await this.record({ state: "running", message: `after '${step}'`, dueInMs: 0, step, attempts: 0 });
  }

  async rest(rest: Rest): Promise<boolean> {
    await this.record(rest);
    return false;
  }

  /** Writes how it stands. False when that was refused: then somebody else has the operation. */
  async record(rest: Rest): Promise<boolean> {
    const { operation } = this.standing;
    const direction = rest.direction ?? operation.direction;
    // Whoever was asked to stop meanwhile, or whose resource goes, neither ends like this nor waits for what it waited for.
    const forward = direction === "forward" ? this.pipeline : undefined;
    const answer = await this.engine.operations.recordMove({
      actor: this.claim.actor,
      organizationId: this.claim.organizationId,
      journalLength: this.#written.length,
      entries: this.#pending.map(({ entry, atMonotonicMs }) => ({ ...entry, agoMs: this.#agoMs(atMonotonicMs) })),
      turnMs: this.#agoMs(this.#begunMonotonicMs),
      state: rest.state,
      yieldsTo: { cancel: forward !== undefined, leaving: forward !== undefined && !forward.ends },
      direction,
      step: rest.step ?? operation.step,
      attempts: rest.attempts ?? this.attemptsAt(rest.step ?? ""),
      message: rest.message,
      dueInMs: rest.dueInMs,
      ...(rest.next === undefined ? {} : { next: rest.next }),
      ...(rest.undone === undefined ? {} : { undone: rest.undone }),
    });
    if (!answer.kept) {
      this.#lost = true;
      return false;
    }
    this.#steps += this.#pending.filter(({ entry }) => entry.result === "done").length;
    this.#written = [...this.#written, ...answer.entries];
    this.#pending = [];
    this.standing = answer;
    return this.standing.operation.state === "running";
  }

  #agoMs(monotonicMs: number): number {
    return Math.max(0, Math.round(this.engine.clock.monotonicMs() - monotonicMs));
  }

  report(): OperationReport {
    const { operation } = this.standing;
    return { operation: this.#lost ? undefined : operation, message: operation.message, steps: this.#steps };
  }
}
