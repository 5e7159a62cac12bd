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

  constructor(account: Account, turn: Turn) {
    this.account = account;
    this.turn = turn;
  }
}

/** One organization's place among those with subjects of one rank. */
export class Turn implements Linked<Turn> {
  next: Turn | undefined;
  previous: Turn | undefined;
  readonly organization: Organization;
  readonly lanes = new Ring<Lane>();

  constructor(organization: Organization) {
    this.organization = organization;
  }
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
