export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** The range over the median, in percent: how far to trust the median. */
  readonly percent: number;
}

/** By nearest rank: a value that was really measured, never one between two. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error("A percentile of no values was asked for; nothing was measured");
  if (!(percent >= 0 && percent <= 100)) throw new Error(`Percentile ${percent} was asked for; expected 0 to 100`);
  const sorted = Float64Array.from(values).sort();
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(0, rank - 1)] as number;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error("A median of no values was asked for; nothing was measured");
  const sorted = Float64Array.from(values).sort();
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

export function spread(values: readonly number[]): Spread {
  const middle = median(values);
  const min = Math.min(...values);
  const max = Math.max(...values);
  return { median: middle, min, max, percent: middle === 0 ? 0 : ((max - min) / middle) * 100 };
}
