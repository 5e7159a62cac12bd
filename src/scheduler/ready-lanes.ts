import { type Linked, Ring } from "./ring.ts";
import type { SubjectGroup } from "./subject-groups.ts";
import type { TokenBucket } from "./token-bucket.ts";

/** A subject that waits for its turn, or has it. */
export class ReadySubject implements Linked<ReadySubject> {
  next: ReadySubject | undefined;
  previous: ReadySubject | undefined;
  readonly id: number;
  readonly group: SubjectGroup;
  rank: number;
  /** Since when it waits, by the monotonic clock; the earliest of all the reasons it has to run. */
  sinceMs: number;
  /** The newest stored due time this turn answers; an edge that is stored later needs another turn. */
  coversDueMs: number;
  lane: Lane | undefined;

  constructor(options: {
    readonly id: number;
    readonly group: SubjectGroup;
    readonly rank: number;
    readonly sinceMs: number;
    readonly coversDueMs: number;
  }) {
    this.id = options.id;
    this.group = options.group;
    this.rank = options.rank;
    this.sinceMs = options.sinceMs;
    this.coversDueMs = options.coversDueMs;
  }
}

/** What came for a subject while it ran. */
export interface Again {
  readonly rank: number;
  readonly sinceMs: number;
  readonly coversDueMs: number;
}

/** One account's subjects of one rank, in the order they came. */
export class Lane implements Linked<Lane> {
  next: Lane | undefined;
  previous: Lane | undefined;
  readonly account: Account;
  readonly turn: Turn;
  readonly subjects = new Ring<ReadySubject>();
  /** It has had more subjects than a short one since it was last empty, and they go in rows. */
  isLong = false;
  /** How many of the row it is in have begun. */
  begun = 0;

  constructor(account: Account, turn: Turn) {
    this.account = account;
    this.turn = turn;
  }
}

/** An account with more than so many due is one whose subjects go in rows. */
const SHORT = 4;
/** As many of an account's subjects begin in a row before the next account's do. */
export const ROW = 128;

/**
 * One organization's place among those with subjects of one rank, and whose turn it is within it. Accounts with few due take turns
 * subject by subject. Those with many go in rows and share every second turn, so that nobody waits behind them for long: what begins
 * together shares the account's listing, and what was written together is seen by one more. Subject by subject, each of a
 * hundred accounts with something to mend would be listed anew every second until the last one is done.
 */
export class Turn implements Linked<Turn> {
  next: Turn | undefined;
  previous: Turn | undefined;
  readonly organization: Organization;
  readonly #short = new Ring<Lane>();
  readonly #long = new Ring<Lane>();
  #longLast = false;

  constructor(organization: Organization) {
    this.organization = organization;
  }

  get isEmpty(): boolean {
    return this.#short.size + this.#long.size === 0;
  }

  /** The next subject of the first account that may have a turn. */
  nextOf(mayStart: (account: Account) => boolean): ReadySubject | undefined {
    const [one, other] = this.#longLast ? [this.#short, this.#long] : [this.#long, this.#short];
    return nextIn(one, mayStart) ?? nextIn(other, mayStart);
  }

  enter(lane: Lane, subject: ReadySubject): void {
    if (lane.subjects.size === 0) this.#short.push(lane);
    lane.subjects.push(subject);
    if (lane.isLong || lane.subjects.size <= SHORT) return;
    this.#short.remove(lane);
    this.#long.push(lane);
    lane.isLong = true;
  }

  /** The lane's first subject begins; it leaves the lane next. */
  started(lane: Lane): void {
    this.#longLast = lane.isLong;
    if (!lane.isLong) {
      this.#short.moveToEnd(lane);
      return;
    }
    lane.begun += 1;
    if (lane.begun < ROW) return;
    lane.begun = 0;
    this.#long.moveToEnd(lane);
  }

  /** The subject leaves its lane, which leaves with its last one. */
  exit(lane: Lane, subject: ReadySubject): void {
    lane.subjects.remove(subject);
    if (lane.subjects.size > 0) return;
    (lane.isLong ? this.#long : this.#short).remove(lane);
  }
}

/** Few can be passed over: only as many accounts as can fill their share of the slots at once. */
function nextIn(lanes: Ring<Lane>, mayStart: (account: Account) => boolean): ReadySubject | undefined {
  let lane = lanes.first;
  for (let passed = 0; lane !== undefined && passed < lanes.size; passed++, lane = lane.next)
    if (mayStart(lane.account)) return lane.subjects.first;
  return undefined;
}

/** How many run: turns that somebody waits for, and periodic looks, which have slots of their own. */
export interface Running {
  turns: number;
  periodic: number;
}

export interface Account {
  readonly key: string;
  readonly running: Running;
  readonly lanes: (Lane | undefined)[];
}

export interface Organization {
  readonly id: string;
  queued: number;
  readonly running: Running;
  readonly accounts: Map<string, Account>;
  readonly turns: (Turn | undefined)[];
  /** While others have turns too. */
  pace: TokenBucket | undefined;
}
