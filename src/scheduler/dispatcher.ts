import type { Claim, CycleReport, Engine } from "../kernel/claim.ts";
import type { DueSubject, SubjectEntry } from "../ports/engine-store.ts";
import type { DueEdge } from "../ports/signal.ts";
import { Convergence } from "./convergence.ts";
import type { Offered } from "./due-poller.ts";
import type { IdleAggregate } from "./idle-aggregate.ts";
import type { Leases } from "../kernel/leases.ts";
import { LongestWaits } from "./longest-waits.ts";
import { lookOf } from "./look-of.ts";
import type { SchedulerMetrics } from "./metrics.ts";
import type { SchedulerSettings } from "./options.ts";
import { LAST_URGENT_RANK, priorityOf, rankOf, RESYNC_RANK } from "./priority.ts";
import { recordQuarantine } from "./quarantine.ts";
import type { Again, ReadySubject } from "./ready-lanes.ts";
import { ReadyQueue, type ReadyQueueLimits } from "./ready-queue.ts";
import { type Ended, type Run, Runner } from "./runner.ts";
import { Strikes } from "./strikes.ts";
import { SubjectTimers } from "./subject-timers.ts";
import { Wake } from "../kernel/wake.ts";

/** Periodic looks that wait in the queue; the rest of what is due stays in the wheel, where it costs nothing. */
const PERIODIC_ROOM = 10_000;
/** A turn that could not be had now is asked for again after this. */
const LATER_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Started from a timer: whatever edge is stored meanwhile, this turn does not know it. */
const NO_STORED_DUE = Number.NEGATIVE_INFINITY;

export interface DispatcherOptions {
  readonly engine: Engine;
  readonly settings: SchedulerSettings;
  readonly metrics: SchedulerMetrics;
  readonly leases: Leases;
  readonly idle: IdleAggregate;
  /** The settlement of a turn is stored: a poll under way may not know yet. */
  settled(id: number, coversDueMs: number): void;
}

/**
 * Brings due subjects to their turns: timers and polls feed the queue, the queue feeds the runner, and every ended turn sets the next
 * timer. All of it happens synchronously in `pump`; a subject is at any moment in exactly one of wheel, queue and runner.
 */
export class Dispatcher {
  readonly timers: SubjectTimers;
  readonly queue: ReadyQueue;
  readonly runner: Runner;
  readonly waits: LongestWaits;
  readonly strikes: Strikes;
  readonly #options: DispatcherOptions;
  readonly #convergence = new Convergence();
  readonly #wake: Wake;
  #wakeAtMs = Number.NEGATIVE_INFINITY;
  #pumping = false;
  #stopped = false;

  constructor(options: DispatcherOptions) {
    const { engine, leases, settings } = options;
    const nowMs = engine.clock.monotonicMs();
    const unknownEveryMs = settings.unknownKindEverySeconds * 1_000;
    this.#options = options;
    this.timers = new SubjectTimers({
      clock: engine.clock,
      random: engine.random,
      everyMsOf: (kind) => Math.max(1_000, (engine.kinds.get(kind)?.loop?.everySeconds ?? 0) * 1_000 || unknownEveryMs),
    });
    this.queue = new ReadyQueue(queueLimits(settings), nowMs);
    this.runner = new Runner({
      engine,
      holder: leases.holder,
      run: settings.run,
      cycleDeadlineMs: settings.cycleDeadlineMs,
      abandonAfterMs: settings.abandonAfterMs,
      ended: (run, ended) => this.#ended(run, ended),
      leaseRemainingMs: (shard, epoch) => leases.remainingMs(shard, epoch),
    });
    this.strikes = new Strikes({
      quarantineAfter: settings.quarantineAfter,
      quarantineMs: settings.quarantineMs,
      random: engine.random,
    });
    this.waits = new LongestWaits(nowMs);
    this.#wake = new Wake(engine.clock);
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#wakeAtMs = Number.NEGATIVE_INFINITY;
      this.pump();
      const nowMs = this.#nowMs();
      this.#wakeAtMs = this.#nextMs(nowMs);
      await this.#wake.wait(Math.max(1, this.#wakeAtMs - nowMs));
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#wake.wake();
  }

  /** Starts what may start now. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const nowMs = this.#nowMs();
    this.#options.leases.expire();
    this.runner.sweep(nowMs);
    this.#feedFromTimers(nowMs);
    for (let subject = this.queue.take(nowMs); subject !== undefined; subject = this.queue.take(nowMs))
      this.#start(subject, nowMs);
    this.#wakeBy(
      Math.min(
        this.runner.nextDeadlineMs,
        this.queue.pacedUntilMs,
        nowMs + (this.queue.periodicReadyInMs(nowMs) ?? LONGEST_WAIT_MS),
      ),
    );
    this.#pumping = false;
  }

  /** A subject from a listing. */
  know(entry: SubjectEntry, shard: number): void {
    this.timers.know(entry, shard);
  }

  /** A row of the store that is due. */
  due(row: DueSubject): Offered {
    if (this.#options.leases.held(row.shard) === undefined) return "known";
    const rank = rankOf(row.priority);
    const edge = { rank, coversDueMs: row.dueAtMs, sinceMs: this.#nowMs() };
    const coveredMs = this.queue.runningCoversDueMs(row.id);
    // The running turn may have begun before this edge: one more turn makes sure.
    if (coveredMs !== undefined && row.dueAtMs <= coveredMs) return "known";
    if (coveredMs === undefined && this.strikes.isKnown(row.id, edge)) return "known";
    const known = coveredMs !== undefined || this.queue.isWaiting(row.id);
    const tableRow = this.timers.know(row, row.shard);
    if (!this.queue.offer({ ...edge, id: row.id, group: this.timers.group(tableRow) })) {
      return this.queue.size >= this.#options.settings.queuedMax ? "stop" : "full";
    }
    this.timers.cancel(tableRow);
    if (rank !== RESYNC_RANK) this.#convergence.begin(row.id, edge.sinceMs);
    return known ? "known" : "new";
  }

  /** A subject that another process says it made due. False when the store must be asked about it. */
  edge({ dueAtMs, priority, shard, subjectId: id }: DueEdge): boolean {
    if (this.#options.leases.held(shard) === undefined) return true;
    const row = this.timers.table.find(id);
    if (row < 0 || this.timers.group(row).shard !== shard) return false;
    const { accountId, kind, organizationId } = this.timers.group(row);
    const offered = this.due({ id, kind, organizationId, accountId, shard, priority, dueAtMs });
    return offered === "new" || offered === "known";
  }

  /** Start nothing more there. True once everything has ended in order. */
  quiesce(shard: number): Promise<boolean> {
    this.queue.removeShard(shard);
    const quiet = this.runner.quiesce(shard, this.#options.settings.drainMs);
    this.#wakeBy(this.runner.nextDeadlineMs);
    return quiet;
  }

  interruptShard(shard: number, reason: string): void {
    this.runner.interruptShard(shard, reason);
    this.#wakeBy(this.runner.nextDeadlineMs);
  }

  /** Forgets everything of a shard that is not ours any more, what was read of its accounts included. */
  dropShard(shard: number): void {
    this.queue.removeShard(shard);
    for (const accountId of this.timers.table.groups.accountsOf(shard)) this.#options.engine.accounts.forget(accountId);
    for (const row of this.timers.table.rowsOfShard(shard)) this.#forget(row);
  }

  #nowMs(): number {
    return this.#options.engine.clock.monotonicMs();
  }

  #nextMs(nowMs: number): number {
    const timerMs = this.timers.nextMs();
    // A timer that is due already waits for room, and the end of a turn makes room.
    const nextTimerMs = timerMs === undefined || timerMs <= nowMs ? Number.POSITIVE_INFINITY : timerMs;
    return Math.min(
      nextTimerMs,
      this.runner.nextDeadlineMs,
      this.queue.pacedUntilMs,
      nowMs + (this.queue.periodicReadyInMs(nowMs) ?? LONGEST_WAIT_MS),
      nowMs + LONGEST_WAIT_MS,
    );
  }

  #wakeBy(atMs: number): void {
    if (atMs < this.#wakeAtMs) this.#wake.wake();
  }

  #feedFromTimers(nowMs: number): void {
    for (const row of this.timers.takeDue(() => this.queue.waitingAt(RESYNC_RANK) < PERIODIC_ROOM)) {
      const group = this.timers.group(row);
      const ours = this.#options.leases.held(group.shard) !== undefined;
      const offered =
        ours &&
        this.queue.offer({
          id: this.timers.table.id(row),
          group,
          rank: RESYNC_RANK,
          sinceMs: nowMs,
          coversDueMs: NO_STORED_DUE,
        });
      if (!offered) this.timers.setIn(row, LATER_MS);
    }
  }

  #start(subject: ReadySubject, nowMs: number): void {
    const held = this.#options.leases.held(subject.group.shard);
    if (held === undefined) {
      this.queue.finish(subject.id);
      return;
    }
    this.waits.note(subject.group.organizationId, nowMs - subject.sinceMs);
    // An edge deserves its try, quarantine or not.
    const recording = subject.rank === RESYNC_RANK && this.strikes.isUnrecorded(subject.id);
    this.runner.start(subject, held, recording ? (engine, claim) => this.#record(engine, claim) : undefined);
  }

  #record(engine: Engine, claim: Claim): Promise<boolean> {
    const { quarantineAfter: strikes, quarantineMs: retryInMs } = this.#options.settings;
    return recordQuarantine(engine, claim, {
      strikes,
      retryInMs,
      inputVersion: this.strikes.inputVersion(claim.subjectId),
    });
  }

  #ended(run: Run, ended: Ended): void {
    const again = this.queue.finish(run.subject.id);
    const row = this.timers.table.find(run.subject.id);
    switch (ended.how) {
      case "reported":
        this.#reported(run, ended.report, row, again);
        break;
      case "recorded":
        this.#recorded(run, ended.kept, row, again);
        break;
      case "thrown":
      case "hung":
        this.#failed(run, ended, row, again);
        break;
      case "aborted":
        this.#options.metrics.cycleLost(run.subject.group.kind, "aborted");
        this.#setIn(row, LATER_MS);
        break;
    }
    this.pump();
  }

  #reported(run: Run, report: CycleReport, row: number, again: Again | undefined): void {
    const { engine, idle, metrics } = this.#options;
    const { group, id, rank, sinceMs } = run.subject;
    const nowMs = this.#nowMs();
    metrics.cycleEnded({
      report,
      kind: group.kind,
      trigger: priorityOf(rank),
      waitedSeconds: (run.startedMs - sinceMs) / 1_000,
      durationSeconds: (nowMs - run.startedMs) / 1_000,
    });
    const tookMs = this.#convergence.end(report, nowMs);
    if (tookMs !== undefined) metrics.converged(group.kind, tookMs / 1_000);
    this.strikes.clear(id);
    idle.note(group.kind, engine.clock.nowMs(), report.idle);
    if (report.result !== "superseded") this.#options.settled(id, run.subject.coversDueMs);
    if (row < 0) return;
    if (report.result === "gone") {
      this.#forget(row);
      return;
    }
    const look = lookOf(report.result);
    if (look === "looked") this.timers.table.markLooked(row, run.startedMs);
    if (look === "failing") this.timers.table.markFailing(row);
    // Whatever moved the inputs was a person or an event.
    const next = report.dueAgain
      ? {
          rank: Math.min(rank, again?.rank ?? LAST_URGENT_RANK),
          sinceMs: again?.sinceMs ?? nowMs,
          coversDueMs: again?.coversDueMs ?? run.subject.coversDueMs,
        }
      : again;
    if (next !== undefined) this.#offerAgain(row, next);
    else
      this.#wakeBy(this.timers.rearm(row, report.nextInMs ?? (report.result === "superseded" ? LATER_MS : undefined)));
  }

  #recorded(run: Run, kept: boolean, row: number, again: Again | undefined): void {
    const { settings } = this.#options;
    this.strikes.recorded(run.subject.id);
    if (kept) this.#options.settled(run.subject.id, run.subject.coversDueMs);
    if (row < 0) return;
    if (kept) this.timers.table.markFailing(row);
    if (again !== undefined) this.#offerAgain(row, again);
    // The stored due time brings it back; the timer is there in case that a poll cannot.
    else this.#setIn(row, kept ? settings.quarantineMs + LONGEST_WAIT_MS : LATER_MS);
  }

  /** A turn that ended without a result: it is tried again after a while, and rarely once it has failed too often. */
  #failed(run: Run, ended: Extract<Ended, { how: "thrown" | "hung" }>, row: number, again: Again | undefined): void {
    const { engine, metrics, settings } = this.#options;
    const { coversDueMs, group, id, rank } = run.subject;
    metrics.cycleLost(group.kind, ended.how);
    const error =
      ended.how === "hung"
        ? `did not end within ${settings.cycleDeadlineMs} ms and not when aborted`
        : describe(ended.thrown);
    if (row < 0) return;
    if (run.recording) {
      engine.log.error("scheduler.quarantine_not_recorded", { subject: id, kind: group.kind, error });
      this.strikes.recorded(id);
      this.#setIn(row, settings.quarantineMs);
      return;
    }
    const answered = {
      rank: Math.min(rank, again?.rank ?? rank),
      coversDueMs: Math.max(coversDueMs, again?.coversDueMs ?? coversDueMs),
      inputVersion: run.store.loadedVersion,
    };
    const strike = this.strikes.strike(id, answered);
    engine.log.warn("scheduler.cycle_lost", {
      subject: id,
      kind: group.kind,
      organization: group.organizationId,
      how: ended.how,
      strikes: strike.count,
      error,
    });
    if (!this.strikes.isUnrecorded(id)) {
      this.#setIn(row, strike.retryInMs);
      return;
    }
    metrics.quarantined(group.kind);
    engine.log.error("scheduler.subject_quarantined", {
      subject: id,
      kind: group.kind,
      organization: group.organizationId,
      strikes: strike.count,
      error,
    });
    this.#setIn(row, ended.how === "hung" ? settings.permitOutlivesMs : 0);
  }

  #offerAgain(row: number, again: Again): void {
    const group = this.timers.group(row);
    const ours = this.#options.leases.held(group.shard) !== undefined;
    if (!ours || !this.queue.offer({ ...again, id: this.timers.table.id(row), group })) this.#setIn(row, LATER_MS);
  }

  #setIn(row: number, inMs: number): void {
    if (row >= 0) this.#wakeBy(this.timers.setIn(row, inMs));
  }

  #forget(row: number): void {
    const id = this.timers.table.id(row);
    this.strikes.forget(id);
    this.#convergence.forget(id);
    this.timers.forget(row);
  }
}

function queueLimits(settings: SchedulerSettings): ReadyQueueLimits {
  const { inFlightMax, periodicInFlightMax, periodicPerSecond, queuedMax, queuedPerOrganizationMax } = settings;
  const slots = (max: number) => ({
    max,
    perOrganizationMax: Math.max(1, Math.floor(max * settings.organizationShare)),
    perAccountMax: Math.max(1, Math.floor(max * settings.accountShare)),
  });
  return {
    turns: slots(inFlightMax),
    // One slot always remains for either side, however few there are.
    urgentReserved: Math.min(inFlightMax - 1, Math.ceil(inFlightMax * settings.urgentShare)),
    periodic: slots(periodicInFlightMax),
    periodicPerSecond,
    besideOthersPerSecond: settings.besideOthersPerSecond,
    queuedMax,
    queuedPerOrganizationMax,
  };
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
