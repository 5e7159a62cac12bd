/** What is left of a steadily refilled number of requests. */
export interface Rate {
  readonly left: number;
  readonly atMs: number;
}

/** One request taken out, and whether there was one. */
export function taken(
  rate: Rate,
  limit: { readonly most: number; readonly perSecond: number },
  nowMs: number,
): { readonly rate: Rate; readonly isTaken: boolean } {
  const refilled = (Math.max(0, nowMs - rate.atMs) * limit.perSecond) / 1_000;
  const left = Math.min(limit.most, rate.left + refilled);
  const isTaken = left >= 1;
  return { rate: { left: isTaken ? left - 1 : left, atMs: nowMs }, isTaken };
}
