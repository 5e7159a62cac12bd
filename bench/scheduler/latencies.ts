import { median, percentile } from "../harness/statistics.ts";

/** When each of a run of events was asked for, was committed, and led to a start. By index; NaN where nothing started. */
export interface EventTimes {
  readonly calledMs: Float64Array;
  readonly committedMs: Float64Array;
  readonly startedMs: Float64Array;
}

export interface LatencySummary {
  readonly fromCommitP50Ms: number;
  readonly fromCommitP95Ms: number;
  readonly fromCommitP99Ms: number;
  readonly fromCallP50Ms: number;
  readonly fromCallP99Ms: number;
  readonly callToCommitP50Ms: number;
  /** Events per second that were really committed. */
  readonly perSecond: number;
}

/** Which items started, and when by the machine's clock. */
export interface Starts {
  readonly items: Float64Array;
  readonly atMs: Float64Array;
}

/**
 * Puts the starts of one process beside the events of another, by the number both know. A periodic start counts where it came
 * after the event was asked for and none came for the event itself: that look had read it, and there was nothing left to do.
 */
export function matchStarts(
  numbers: readonly number[],
  written: { readonly calledMs: Float64Array; readonly committedMs: Float64Array },
  started: Starts,
  periodic: Starts = { items: new Float64Array(), atMs: new Float64Array() },
): EventTimes {
  const awaited = startsByItem(started);
  const others = startsByItem(periodic);
  const startedMs = Float64Array.from(numbers, (number, index) => {
    const other = others.get(number) ?? Number.NaN;
    return awaited.get(number) ?? (other >= (written.calledMs[index] as number) ? other : Number.NaN);
  });
  const missing = startedMs.filter(Number.isNaN).length;
  if (missing > 0) throw new Error(`${missing} of ${numbers.length} events led to no start`);
  return { ...written, startedMs };
}

function startsByItem({ items, atMs }: Starts): ReadonlyMap<number, number> {
  return new Map(Array.from(items, (item, index) => [item, atMs[index] as number]));
}

/**
 * A start can be seen before the commit's answer has reached the writer, because the two travel to different processes.
 * Such an event took no time.
 */
export function summarize(times: EventTimes): LatencySummary {
  const since = (from: Float64Array, to: Float64Array) =>
    Array.from(to, (atMs, index) => Math.max(0, atMs - (from[index] as number)));
  const fromCommit = since(times.committedMs, times.startedMs);
  const fromCall = since(times.calledMs, times.startedMs);
  const elapsedMs = Math.max(...times.committedMs) - Math.min(...times.committedMs);
  return {
    fromCommitP50Ms: percentile(fromCommit, 50),
    fromCommitP95Ms: percentile(fromCommit, 95),
    fromCommitP99Ms: percentile(fromCommit, 99),
    fromCallP50Ms: percentile(fromCall, 50),
    fromCallP99Ms: percentile(fromCall, 99),
    callToCommitP50Ms: percentile(since(times.calledMs, times.committedMs), 50),
    perSecond: (times.committedMs.length - 1) / (elapsedMs / 1_000),
  };
}

/** The median of each figure over several runs. */
export function medians(runs: readonly LatencySummary[]): LatencySummary {
  const of = (field: keyof LatencySummary) => median(runs.map((run) => run[field]));
  return {
    fromCommitP50Ms: of("fromCommitP50Ms"),
    fromCommitP95Ms: of("fromCommitP95Ms"),
    fromCommitP99Ms: of("fromCommitP99Ms"),
    fromCallP50Ms: of("fromCallP50Ms"),
    fromCallP99Ms: of("fromCallP99Ms"),
    callToCommitP50Ms: of("callToCommitP50Ms"),
    perSecond: of("perSecond"),
  };
}
