import type { StepEntry } from "../../api/parts.ts";
import type { OperationDocument } from "../../api/types.ts";

export type Stretch = "queue" | "work" | "outside" | "retry";

export interface Bar {
  readonly sort: Stretch;
  readonly fromMs: number;
  readonly toMs: number;
  readonly words: string;
}

export interface StepBars {
  readonly step: string;
  readonly direction: "forward" | "back";
  readonly result: StepEntry["result"];
  readonly attempts: number;
  readonly message: string | undefined;
  readonly bars: readonly Bar[];
}

/**
 * The journal as a waterfall: each step with the time it worked, the time it waited for the outside, and the time between attempts
 * apart. A line of the journal is written when its attempt ends, so an attempt reaches back by what it took.
 */
export function waterfall(operation: OperationDocument, journal: readonly StepEntry[], nowMs: number) {
  const createdMs = Date.parse(operation.createdAt);
  const startedMs = operation.startedAt === undefined ? undefined : Date.parse(operation.startedAt);
  const endMs = operation.endedAt === undefined ? nowMs : Date.parse(operation.endedAt);
  const steps = new Map<string, StepEntry[]>();
  for (const entry of journal) {
    const key = `${entry.direction} ${entry.step}`;
    steps.set(key, [...(steps.get(key) ?? []), entry]);
  }
  let beforeMs = startedMs ?? createdMs;
  let before: StepEntry["result"] | undefined;
  const rows: StepBars[] = [];
  for (const entries of steps.values()) {
    const bars: Bar[] = [];
    for (const entry of entries) {
      const atMs = Date.parse(entry.at);
      const beganMs = Math.max(beforeMs, atMs - (entry.tookMs ?? atMs - beforeMs));
      if (beganMs - beforeMs > 500)
        bars.push({
          // Only behind a failure is there another attempt; everything else that takes its time is the outside.
          sort: before === "failed" ? "retry" : "outside",
          fromMs: beforeMs,
          toMs: beganMs,
          words: before === "failed" ? "until the next attempt" : "waited",
        });
      const sort = entry.result === "noted" || entry.result === "again" ? "outside" : "work";
      bars.push({
        sort,
        fromMs: beganMs,
        toMs: Math.max(atMs, beganMs + 1),
        words: `${entry.result}${entry.message === undefined ? "" : `: ${entry.message}`}`,
      });
      beforeMs = atMs;
      before = entry.result;
    }
    const last = entries.at(-1);
    if (last === undefined) continue;
    const failures = entries.filter(({ result }) => result === "failed").length;
    rows.push({
      step: last.step,
      direction: last.direction,
      result: last.result,
      attempts: failures + 1,
      message: last.message,
      bars,
    });
  }
  const running = rows.at(-1);
  // Between two looks at the outside nothing is written down: that time is the outside's.
  if (operation.state === "running" && running?.result === "begun" && nowMs - beforeMs > 500) {
    const waiting: Bar = { sort: "outside", fromMs: beforeMs, toMs: nowMs, words: operation.message };
    rows[rows.length - 1] = { ...running, bars: [...running.bars, waiting] };
  }
  const queue: Bar = { sort: "queue", fromMs: createdMs, toMs: startedMs ?? endMs, words: "waited for its turn" };
  return { fromMs: createdMs, toMs: Math.max(endMs, createdMs + 1), queue, rows };
}
