import type { Clock } from "../ports/clock.ts";
import type { CycleTrace, SubjectStatus } from "../ports/records.ts";

/** The parts of a cycle, in the order in which people think of them. */
type Phase = "observe" | "diff" | "guard" | "act";

/** How many cycles a subject's status tells of. Only those that had something to write are kept, with what they write anyway. */
const KEPT = 6;

/** Where the time of one cycle goes. */
export class Phases {
  readonly #clock: Clock;
  readonly #spentMs: Record<Phase, number> = { observe: 0, diff: 0, guard: 0, act: 0 };
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** What happened since the last call was this. */
  passed(phase: Phase): void {
    const nowMs = this.#clock.monotonicMs();
    this.#spentMs[phase] += nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
  }

  get spentMs(): CycleTrace["spentMs"] {
    const { observe, diff, guard, act } = this.#spentMs;
    return { observe: whole(observe), diff: whole(diff), guard: whole(guard), act: whole(act) };
  }
}

/** The status with this cycle behind those that were told of before. */
export function withTrace(
  status: SubjectStatus,
  previous: SubjectStatus | undefined,
  trace: CycleTrace,
): SubjectStatus {
  return { ...status, cycles: [...(previous?.cycles ?? []), trace].slice(-KEPT) };
}

/** Tenths of a millisecond: finer is noise. */
function whole(ms: number): number {
  return Math.round(ms * 10) / 10;
}
