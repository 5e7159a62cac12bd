/** No verdict is called old before this, however short its interval: a restart or a busy account must not turn all Unknown. */
const shortestLimitMs = 15 * 60_000;
const intervals = 3;

/** How old a verdict may be: three of the kind's intervals, and at least a quarter of an hour. */
export function verdictLimitMs(everySeconds: number): number {
  return Math.max(shortestLimitMs, intervals * everySeconds * 1_000);
}

export type VerdictAge =
  | { readonly fresh: true; readonly ageMs: number; readonly limitMs: number }
  | { readonly fresh: false; readonly ageMs: number | undefined; readonly limitMs: number };

/** The one place that decides whether a stored verdict may still be shown as the truth. */
export function verdictAge(request: {
  readonly confirmedAtMs: number | undefined;
  readonly nowMs: number;
  readonly everySeconds: number;
}): VerdictAge {
  const limitMs = verdictLimitMs(request.everySeconds);
  if (request.confirmedAtMs === undefined) return { fresh: false, ageMs: undefined, limitMs };
  const ageMs = Math.max(0, request.nowMs - request.confirmedAtMs);
  return ageMs <= limitMs ? { fresh: true, ageMs, limitMs } : { fresh: false, ageMs, limitMs };
}
