import { LAST_URGENT_RANK, PRIORITIES, RESYNC_RANK } from "./priority.ts";
import { type Account, type Again, Lane, type Organization, ReadySubject, type Running, Turn } from "./ready-lanes.ts";
import { Ring } from "./ring.ts";
import type { SubjectGroup } from "./subject-groups.ts";
import { TokenBucket } from "./token-bucket.ts";

/** How many may run at once, in all, of one organization and of one account. */
export interface Slots {
  readonly max: number;
  readonly perOrganizationMax: number;
  readonly perAccountMax: number;
}

export interface ReadyQueueLimits {
  readonly turns: Slots;
  /** Slots that first looks leave free. */
  readonly urgentReserved: number;
  readonly periodic: Slots;
  readonly periodicPerSecond: number;
  /** Turns of one organization that begin in a second while another one has had a turn a moment ago and may want the next. */
  readonly besideOthersPerSecond: number;
  readonly queuedMax: number;
  readonly queuedPerOrganizationMax: number;
}

/** After this long without a turn an organization no longer slows the others down. */
const MOMENT_MS = 5_000;
/** Turns of a backlog that begin together beside others, in seconds' worth: enough to share statements, and soon over. */
const BESIDE_OTHERS_BATCH_SECONDS = 0.025;

/** Periodic looks come in groups; the budget that they share must not break these up. */
const PERIODIC_BURST_SECONDS = 2;
/** When the budget is used up, looks wait until this part of a second's worth is there again and are then read together. */
const PERIODIC_BATCH_SECONDS = 0.1;

/** Every eighth turn begins with a less urgent rank, so that a flood of urgent work cannot stop the rest for good. */
const TURNS_PER_CONCESSION = 8;
const BY_URGENCY = [0, 1, 2, 3] as const;
const CONCESSIONS = [
  [1, 0, 2, 3],
  [2, 0, 1, 3],
  [3, 0, 1, 2],
] as const;

/**
 * Subjects that are due. The most urgent rank goes first; within a rank organizations take turns, within an organization its
 * accounts do (with whole rows of subjects where they have many), and within an account first come is first served. A subject is
 * here once, at its most urgent rank and with its earliest time, and never has two turns at the same time: what comes while it
 * runs is kept for one more turn afterwards.
 *
 * Four limits keep one from starving the others. Looks nobody waits for have a rate and slots of their own, so that people and
 * events never wait for them. No organization and no account may fill all slots, so that a tenant whose provider hangs holds up only itself.
 * One that has a great many due begins them in small groups at a pace while others have turns too, so that these find the
 * process and the database free when they come.
 * And the queue is bounded, in all and per organization; what has no room stays in the store, or in its timer.
 */
export class ReadyQueue {
  readonly #limits: ReadyQueueLimits;
  readonly #periodic: TokenBucket;
  readonly #ranks = PRIORITIES.map(() => new Ring<Turn>());
  readonly #waiting = new Map<number, ReadySubject>();
  readonly #running = new Map<number, { readonly subject: ReadySubject; again: Again | undefined }>();
  readonly #organizations = new Map<string, Organization>();
  readonly #waitingAt = PRIORITIES.map(() => 0);
  readonly #slotsInUse: Running = { turns: 0, periodic: 0 };
  /** Whose turn of the kind that somebody waits for was the last one, when, and when the last one of anybody else was. */
  #lastOrganization = "";
  #lastMs = Number.NEGATIVE_INFINITY;
  #otherLastMs = Number.NEGATIVE_INFINITY;
  /** When the first of the organizations that were passed over for their pace may go on. */
  #pacedUntilMs = Number.POSITIVE_INFINITY;
  #firstsRunning = 0;
  #turns = 0;

  constructor(limits: ReadyQueueLimits, nowMs: number) {
    this.#limits = limits;
    const { periodicPerSecond: perSecond } = limits;
    this.#periodic = new TokenBucket({
      perSecond,
      burst: perSecond * PERIODIC_BURST_SECONDS,
      batch: perSecond * PERIODIC_BATCH_SECONDS,
      nowMs,
    });
  }

  get size(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Those that somebody waits for. */
  get turnsWaiting(): number {
    return this.#waiting.size - this.waitingAt(RESYNC_RANK);
  }

  waitingAt(rank: number): number {
    return this.#waitingAt[rank] ?? 0;
  }

  isWaiting(id: number): boolean {
    return this.#waiting.has(id);
  }

  /** The newest stored due time that the running turn answers; undefined when the subject does not run. */
  runningCoversDueMs(id: number): number | undefined {
    return this.#running.get(id)?.subject.coversDueMs;
  }

  /** Puts a subject in line, makes it more urgent, or marks it for another turn when it runs. False: no room. */
  offer(offered: {
    readonly id: number;
    readonly group: SubjectGroup;
    readonly rank: number;
    readonly sinceMs: number;
    readonly coversDueMs: number;
  }): boolean {
    const running = this.#running.get(offered.id);
    if (running !== undefined) {
      running.again = merged(running.again, offered);
      return true;
    }
    const waiting = this.#waiting.get(offered.id);
    if (waiting !== undefined) {
      this.#raise(waiting, offered);
      return true;
    }
    const organization = this.#organization(offered.group.organizationId);
    if (this.#waiting.size >= this.#limits.queuedMax || organization.queued >= this.#limits.queuedPerOrganizationMax) {
      this.#forgetIfUnused(organization);
      return false;
    }
    const subject = new ReadySubject(offered);
    this.#waiting.set(subject.id, subject);
    this.#enter(subject, organization);
    return true;
  }

  /** The next subject whose turn it is, running from here on; undefined when none may start now. */
  take(nowMs: number): ReadySubject | undefined {
    this.#pacedUntilMs = Number.POSITIVE_INFINITY;
    if (this.#waiting.size === 0) return undefined;
    for (const rank of this.#order()) {
      if (!this.#mayStart(rank, nowMs)) continue;
      const subject = this.#nextOf(rank, nowMs);
      if (subject === undefined) continue;
      if (rank === RESYNC_RANK) this.#periodic.take(nowMs);
      else this.#noteTurn(this.#organization(subject.group.organizationId), nowMs);
      this.#start(subject);
      return subject;
    }
    return undefined;
  }

  /** Ends the turn; answers with what came meanwhile. */
  finish(id: number): Again | undefined {
    const running = this.#running.get(id);
    if (running === undefined) return undefined;
    this.#running.delete(id);
    const { subject } = running;
    const organization = this.#organization(subject.group.organizationId);
    const account = this.#account(organization, subject.group);
    this.#count(subject, organization, account, -1);
    forgetAccountIfUnused(organization, account);
    this.#forgetIfUnused(organization);
    return running.again;
  }

  /** Takes a waiting subject out of line. A running one keeps its turn and loses what it was to be run again for. */
  remove(id: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.again = undefined;
    const subject = this.#waiting.get(id);
    if (subject === undefined) return;
    this.#waiting.delete(id);
    this.#exit(subject);
    this.#forgetIfUnused(this.#organization(subject.group.organizationId));
  }

  removeShard(shard: number): void {
    for (const subject of this.#waiting.values()) if (subject.group.shard === shard) this.remove(subject.id);
    for (const { subject } of this.#running.values()) if (subject.group.shard === shard) this.remove(subject.id);
  }

  /** Milliseconds until the periodic budget lets the next look start; undefined when none waits for it. */
  periodicReadyInMs(nowMs: number): number | undefined {
    if (this.#ranks[RESYNC_RANK]?.size === 0 || !this.#hasPeriodicSlot()) return undefined;
    const readyInMs = this.#periodic.readyInMs(nowMs);
    return readyInMs === 0 ? undefined : readyInMs;
  }

  /** When an organization that `take` passed over for its pace may go on; never when there is none. */
  get pacedUntilMs(): number {
    return this.#pacedUntilMs;
  }

  /** How many wait at each rank and since when the oldest does. */
  depths(): readonly { readonly waiting: number; readonly oldestSinceMs: number | undefined }[] {
    const depths = PRIORITIES.map(() => ({ waiting: 0, oldestSinceMs: undefined as number | undefined }));
    for (const { rank, sinceMs } of this.#waiting.values()) {
      const depth = depths[rank];
      if (depth === undefined) continue;
      depth.waiting += 1;
      depth.oldestSinceMs = Math.min(depth.oldestSinceMs ?? sinceMs, sinceMs);
    }
    return depths;
  }

  #order(): readonly number[] {
    if (this.#turns % TURNS_PER_CONCESSION !== TURNS_PER_CONCESSION - 1) return BY_URGENCY;
    return CONCESSIONS[Math.floor(this.#turns / TURNS_PER_CONCESSION) % CONCESSIONS.length] ?? BY_URGENCY;
  }

  #mayStart(rank: number, nowMs: number): boolean {
    if (rank === RESYNC_RANK) return this.#hasPeriodicSlot() && this.#periodic.available(nowMs);
    const { turns, urgentReserved } = this.#limits;
    if (this.#slotsInUse.turns >= turns.max) return false;
    return rank <= LAST_URGENT_RANK || this.#firstsRunning < turns.max - urgentReserved;
  }

  #hasPeriodicSlot(): boolean {
    return this.#slotsInUse.periodic < this.#limits.periodic.max;
  }

  /** Few can be passed over here: only as many organizations as can fill their share of the slots at once. */
  #nextOf(rank: number, nowMs: number): ReadySubject | undefined {
    const turns = this.#ranks[rank];
    const slots = slotsOf(rank);
    const { perAccountMax, perOrganizationMax } = this.#limits[slots];
    let turn = turns?.first;
    for (let passed = 0; turn !== undefined && passed < (turns?.size ?? 0); passed++, turn = turn.next) {
      if (turn.organization.running[slots] >= perOrganizationMax) continue;
      if (slots === "turns" && this.#isPaced(turn.organization, nowMs)) continue;
      const subject = turn.nextOf((account) => account.running[slots] < perAccountMax);
      if (subject !== undefined) return subject;
    }
    return undefined;
  }

  #noteTurn({ id, pace }: Organization, nowMs: number): void {
    pace?.take(nowMs);
    if (id !== this.#lastOrganization) {
      this.#otherLastMs = this.#lastMs;
      this.#lastOrganization = id;
    }
    this.#lastMs = nowMs;
  }

  /** Whether it has to wait a little, because another organization had a turn a moment ago and this one has had many since. */
  #isPaced(organization: Organization, nowMs: number): boolean {
    const othersMs = organization.id === this.#lastOrganization ? this.#otherLastMs : this.#lastMs;
    if (nowMs - othersMs >= MOMENT_MS) {
      organization.pace = undefined;
      return false;
    }
    const { besideOthersPerSecond: perSecond } = this.#limits;
    const batch = perSecond * BESIDE_OTHERS_BATCH_SECONDS;
    organization.pace ??= new TokenBucket({ perSecond, burst: batch, batch, nowMs });
    const readyInMs = organization.pace.readyInMs(nowMs);
    if (readyInMs === 0) return false;
    this.#pacedUntilMs = Math.min(this.#pacedUntilMs, nowMs + readyInMs);
    return true;
  }

  #start(subject: ReadySubject): void {
    const { lane } = subject;
    if (lane === undefined) throw new Error(`Subject ${subject.id} was expected to wait in a lane`);
    const { account, turn } = lane;
    turn.started(lane);
    this.#ranks[subject.rank]?.moveToEnd(turn);
    this.#waiting.delete(subject.id);
    this.#count(subject, turn.organization, account, 1);
    this.#exit(subject);
    this.#running.set(subject.id, { subject, again: undefined });
    this.#turns += 1;
  }

  #count({ rank }: ReadySubject, organization: Organization, account: Account, by: 1 | -1): void {
    const slots = slotsOf(rank);
    for (const running of [this.#slotsInUse, organization.running, account.running]) running[slots] += by;
    if (slots === "turns" && rank > LAST_URGENT_RANK) this.#firstsRunning += by;
  }

  #raise(waiting: ReadySubject, offered: Again): void {
    waiting.sinceMs = Math.min(waiting.sinceMs, offered.sinceMs);
    waiting.coversDueMs = Math.max(waiting.coversDueMs, offered.coversDueMs);
    if (offered.rank >= waiting.rank) return;
    const organization = this.#organization(waiting.group.organizationId);
    this.#exit(waiting);
    waiting.rank = offered.rank;
    this.#enter(waiting, organization);
  }

  #enter(subject: ReadySubject, organization: Organization): void {
    const account = this.#account(organization, subject.group);
    let turn = organization.turns[subject.rank];
    if (turn === undefined) {
      turn = new Turn(organization);
      organization.turns[subject.rank] = turn;
      this.#ranks[subject.rank]?.push(turn);
    }
    let lane = account.lanes[subject.rank];
    if (lane === undefined) {
      lane = new Lane(account, turn);
      account.lanes[subject.rank] = lane;
    }
    turn.enter(lane, subject);
    subject.lane = lane;
    organization.queued += 1;
    this.#waitingAt[subject.rank] = this.waitingAt(subject.rank) + 1;
  }

  #exit(subject: ReadySubject): void {
    const { lane, rank } = subject;
    if (lane === undefined) return;
    const { account, turn } = lane;
    turn.exit(lane, subject);
    subject.lane = undefined;
    turn.organization.queued -= 1;
    this.#waitingAt[rank] = this.waitingAt(rank) - 1;
    if (lane.subjects.size > 0) return;
    account.lanes[rank] = undefined;
    forgetAccountIfUnused(turn.organization, account);
    if (!turn.isEmpty) return;
    this.#ranks[rank]?.remove(turn);
    turn.organization.turns[rank] = undefined;
  }

  #organization(id: string): Organization {
    let organization = this.#organizations.get(id);
    if (organization === undefined) {
      organization = {
        id,
        queued: 0,
        running: { turns: 0, periodic: 0 },
        accounts: new Map(),
        turns: [],
        pace: undefined,
      };
      this.#organizations.set(id, organization);
    }
    return organization;
  }

  #account(organization: Organization, group: SubjectGroup): Account {
    const key = group.accountId ?? "";
    let account = organization.accounts.get(key);
    if (account === undefined) {
      account = { key, running: { turns: 0, periodic: 0 }, lanes: [] };
      organization.accounts.set(key, account);
    }
    return account;
  }

  #forgetIfUnused(organization: Organization): void {
    if (organization.queued === 0 && isQuiet(organization.running)) this.#organizations.delete(organization.id);
  }
}

function slotsOf(rank: number): "turns" | "periodic" {
  return rank === RESYNC_RANK ? "periodic" : "turns";
}

function isQuiet({ periodic, turns }: Running): boolean {
  return turns === 0 && periodic === 0;
}

function forgetAccountIfUnused(organization: Organization, account: Account): void {
  if (isQuiet(account.running) && account.lanes.every((lane) => lane === undefined))
    organization.accounts.delete(account.key);
}

function merged(before: Again | undefined, offered: Again): Again {
  const { rank, sinceMs, coversDueMs } = offered;
  if (before === undefined) return { rank, sinceMs, coversDueMs };
  return {
    rank: Math.min(rank, before.rank),
    sinceMs: Math.min(sinceMs, before.sinceMs),
    coversDueMs: Math.max(coversDueMs, before.coversDueMs),
  };
}
