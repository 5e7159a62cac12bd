import type { Claim, CycleReport, Engine } from "../kernel/claim.ts";
import { CycleStore } from "./cycle-store.ts";
import type { HeldShard } from "../kernel/leases.ts";
import type { RunCycle } from "./options.ts";
import { priorityOf } from "./priority.ts";
import type { ReadySubject } from "./ready-lanes.ts";

/** How a turn ended. `hung`: it was aborted, did not stop, and was given up. */
export type Ended =
  | { readonly how: "reported"; readonly report: CycleReport }
  | { readonly how: "recorded"; readonly kept: boolean }
  | { readonly how: "thrown"; readonly thrown: unknown }
  | { readonly how: "hung" }
  | { readonly how: "aborted" };

export interface Run {
  readonly subject: ReadySubject;
  readonly held: HeldShard;
  readonly startedMs: number;
  readonly controller: AbortController;
  readonly store: CycleStore;
  /** It writes down a quarantine instead of running a cycle. */
  readonly recording: boolean;
  /** When to abort it; when it has been aborted, when to give it up. */
  deadlineMs: number;
  /** Aborted because the shard or the process goes, which is no fault of the subject. */
  interrupted: boolean;
  ended: boolean;
}

export interface RunnerOptions {
  readonly engine: Engine;
  readonly holder: string;
  readonly run: RunCycle;
  readonly cycleDeadlineMs: number;
  readonly abandonAfterMs: number;
  ended(run: Run, ended: Ended): void;
  leaseRemainingMs(shard: number, epoch: number): number;
}

/**
 * Runs turns, each under its own abort signal and deadline. A subject that throws, hangs or never stops affects only itself: its slot
 * is free again at the latest `abandonAfterMs` after its deadline, and what it may still do finds its store closed.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #runs = new Map<number, Run>();
  readonly #quiescing = new Map<number, ((clean: boolean) => void)[]>();
  /** By shard: cycles that were given up and have not ended. */
  readonly #abandoned = new Map<number, number>();
  #nextDeadlineMs = Number.POSITIVE_INFINITY;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Cycles that were given up and have not ended. */
  get abandoned(): number {
    return this.#abandoned.values().reduce((sum, count) => sum + count, 0);
  }

  /** When `sweep` has something to do next. */
  get nextDeadlineMs(): number {
    return this.#nextDeadlineMs;
  }

  /** Starts a cycle, or in its place the one thing that a subject in quarantine gets. */
  start(subject: ReadySubject, held: HeldShard, instead?: (engine: Engine, claim: Claim) => Promise<boolean>): void {
    const { engine } = this.#options;
    const startedMs = engine.clock.monotonicMs();
    const controller = new AbortController();
    const store = new CycleStore(engine.store, { subjectId: subject.id, signal: controller.signal });
    const deadlineMs = startedMs + this.#options.cycleDeadlineMs;
    const run: Run = {
      subject,
      held,
      startedMs,
      controller,
      store,
      recording: instead !== undefined,
      deadlineMs,
      interrupted: false,
      ended: false,
    };
    this.#runs.set(subject.id, run);
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, run.deadlineMs);
    const seen: Engine = { ...engine, store };
    const claim = this.#claim(run);
    const work =
      instead === undefined
        ? this.#cycle(seen, claim)
        : instead(seen, claim).then((kept): Ended => ({ how: "recorded", kept }));
    void work.then(
      (ended) => this.#end(run, ended),
      (thrown: unknown) => this.#end(run, { how: "thrown", thrown }),
    );
  }

  /** Aborts what is past its deadline and gives up what did not stop. */
  sweep(nowMs: number): void {
    if (nowMs < this.#nextDeadlineMs) return;
    this.#nextDeadlineMs = Number.POSITIVE_INFINITY;
    for (const run of this.#runs.values()) {
      if (run.deadlineMs > nowMs) this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, run.deadlineMs);
      else if (run.controller.signal.aborted) this.#abandon(run);
      else this.#abort(run, nowMs, "deadline");
    }
  }

  /** The shard is not ours any more: nothing of it may go on. */
  interruptShard(shard: number, reason: string): void {
    const nowMs = this.#options.engine.clock.monotonicMs();
    for (const run of this.#runs.values()) {
      if (run.held.shard !== shard) continue;
      run.interrupted = true;
      if (!run.controller.signal.aborted) this.#abort(run, nowMs, reason);
    }
  }

  /** Lets the shard's cycles end within the limit; then they are aborted, and given up. False when one that was given up may still be under way. */
  async quiesce(shard: number, limitMs: number): Promise<boolean> {
    const deadlineMs = this.#options.engine.clock.monotonicMs() + limitMs;
    const runs = [...this.#runs.values()].filter((run) => run.held.shard === shard);
    if (runs.length === 0) return !this.#abandoned.has(shard);
    for (const run of runs) {
      if (run.controller.signal.aborted) continue;
      run.interrupted = true;
      run.deadlineMs = Math.min(run.deadlineMs, deadlineMs);
      this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, run.deadlineMs);
    }
    return await new Promise<boolean>((resolve) => {
      this.#quiescing.set(shard, [...(this.#quiescing.get(shard) ?? []), resolve]);
    });
  }

  async #cycle(engine: Engine, claim: Claim): Promise<Ended> {
    return { how: "reported", report: await this.#options.run(engine, claim) };
  }

  #claim(run: Run): Claim {
    const { epoch, quietSinceMonotonicMs, shard } = run.held;
    const { signal } = run.controller;
    return {
      subjectId: run.subject.id,
      organizationId: run.subject.group.organizationId,
      actor: { holder: this.#options.holder, shard, epoch },
      quietSinceMonotonicMs,
      trigger: priorityOf(run.subject.rank),
      leaseRemainingMs: () => (signal.aborted ? 0 : this.#options.leaseRemainingMs(shard, epoch)),
      signal,
    };
  }

  #abort(run: Run, nowMs: number, reason: string): void {
    run.deadlineMs = nowMs + this.#options.abandonAfterMs;
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, run.deadlineMs);
    run.controller.abort(new DOMException(`The cycle of subject ${run.subject.id} was ended: ${reason}`, "AbortError"));
  }

  #abandon(run: Run): void {
    const { shard } = run.held;
    run.store.close();
    this.#abandoned.set(shard, (this.#abandoned.get(shard) ?? 0) + 1);
    this.#end(run, { how: "hung" });
  }

  #end(run: Run, ended: Ended): void {
    if (run.ended) {
      this.#outlived(run.held.shard);
      return;
    }
    run.ended = true;
    this.#runs.delete(run.subject.id);
    const interrupted = run.interrupted && (ended.how === "thrown" || ended.how === "hung");
    this.#options.ended(run, interrupted ? { how: "aborted" } : ended);
    this.#tellQuiescing(run.held.shard);
  }

  #outlived(shard: number): void {
    const left = (this.#abandoned.get(shard) ?? 1) - 1;
    if (left === 0) this.#abandoned.delete(shard);
    else this.#abandoned.set(shard, left);
  }

  #tellQuiescing(shard: number): void {
    const waiting = this.#quiescing.get(shard);
    if (waiting === undefined) return;
    for (const run of this.#runs.values()) if (run.held.shard === shard) return;
    this.#quiescing.delete(shard);
    for (const resolve of waiting) resolve(!this.#abandoned.has(shard));
  }
}
