import type { Settlement } from "../ports/engine-store.ts";
import type { CycleInput, HeldGroup, SubjectMemory, Verdict } from "../ports/records.ts";
import type { Claim, CycleResult, Engine } from "./claim.ts";
import type { DesiredSet } from "./desired-set.ts";
import type { Lookout } from "./look.ts";
import type { Inspection, Loop, Observation, Subject } from "./loop.ts";
import type { Phases } from "./phases.ts";
import type { Plan } from "./plan.ts";
import type { Policy } from "./policy.ts";

/** What a cycle came to, before it is settled. */
export interface Turn {
  readonly result: CycleResult;
  readonly message: string;
  readonly memory: SubjectMemory;
  readonly observation?: { readonly seen: Observation<object>; readonly atMs: number } | undefined;
  readonly plan?: Plan | undefined;
  readonly inspection?: Inspection | undefined;
  /** Undefined when this cycle cannot say: then it is as it was. */
  readonly stale?: DesiredSet["stale"] | undefined;
  readonly verdicts: readonly Verdict[];
  /** What waits for a person; undefined when this cycle cannot say. */
  readonly held: readonly HeldGroup[] | undefined;
  readonly nextInMs: number | undefined;
  readonly written: number;
  /** Undefined when this cycle cannot say: then it is as it was. */
  readonly bad: boolean | undefined;
  readonly memoryUnknown: boolean;
  readonly site?: string | undefined;
  /** The operation that was not run, and is now. */
  readonly startsAgain?: Settlement["startsAgain"];
}

/** Who takes a turn, and where its time goes. */
export interface Turner {
  readonly engine: Engine;
  readonly claim: Claim;
  readonly phases: Phases;
}

/** Everything that is known once somebody has looked. */
export interface Scene extends Turner {
  readonly input: CycleInput;
  readonly loop: Loop<unknown, object>;
  readonly subject: Subject<unknown>;
  readonly policy: Policy;
  readonly desired: DesiredSet;
  readonly lookout: Lookout;
  readonly seen: Observation<object>;
}

/** What a plan is made from, whoever looked: a cycle just now, or one before, for a dry run. */
export type Still = Pick<Scene, "input" | "loop" | "subject" | "policy" | "desired" | "seen"> & {
  readonly lookout: Pick<Lookout, "toStoreMs" | "storeNowMs" | "settleMs" | "callTimeoutMs">;
};
