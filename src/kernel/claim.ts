import type { Clock } from "../ports/clock.ts";
import type { DeclaringStore } from "../ports/declaring-store.ts";
import type { Actor, EngineStore, Priority } from "../ports/engine-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { OperationIntents } from "../ports/operation-store.ts";
import type { Random } from "../ports/random.ts";
import type { Verdict } from "../ports/records.ts";
import type { Accounts } from "./accounts.ts";
import type { KindRegistry } from "./kind.ts";

/** What a cycle is given by whoever runs it. */
export interface Claim {
  readonly subjectId: number;
  /** Whose it is, where that is known. */
  readonly organizationId?: string;
  readonly actor: Actor;
  /** Deletes rest only on observations begun after this monotonic time; undefined after an orderly hand-over. */
  readonly quietSinceMonotonicMs: number | undefined;
  readonly trigger: Priority;
  /** How long the lease surely lasts, counted from before its renewal was sent. No call starts that could outlive it. */
  leaseRemainingMs(): number;
  /** Ends the attempt: deadline, lost lease or shutdown. */
  readonly signal: AbortSignal;
}

/** What a cycle needs from the world: the production adapters, or the simulation's. */
export interface Engine {
  readonly store: EngineStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly kinds: KindRegistry;
  readonly accounts: Accounts;
  /** How loops declare resources of their own: the very way that people's declarations take. */
  readonly declaring?: Pick<DeclaringStore, "change"> | undefined;
  /** How loops start operations, once a person has approved that. */
  readonly starting?: Pick<OperationIntents, "startOperation"> | undefined;
}

export type CycleResult =
  | "converged"
  | "changed"
  | "observing"
  | "held"
  | "refused"
  | "waiting"
  | "paused"
  | "failed"
  | "stalled"
  | "superseded"
  | "gone";

export interface CycleReport {
  readonly subjectId: number;
  readonly kind: string;
  readonly result: CycleResult;
  /** Sizes of the diff sets before the guards. */
  readonly sizes: {
    readonly create: number;
    readonly update: number;
    readonly replace: number;
    readonly delete: number;
  };
  readonly written: number;
  readonly held: number;
  readonly verdicts: readonly Verdict[];
  /** An input moved meanwhile: run again at once. */
  readonly dueAgain: boolean;
  /** A backoff or a wait that was stored; undefined: the periodic timer is enough. */
  readonly nextInMs: number | undefined;
  /** Nothing was written to the store. */
  readonly idle: boolean;
  /** What kept the look from showing everything; undefined when it did, or when nothing was looked at. */
  readonly unseen: string | undefined;
  readonly message: string;
}
