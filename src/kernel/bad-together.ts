/** Times of going bad are counted by the minute, so that an account of many subjects has few counts. */
const MINUTE_MS = 60_000;

export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}

/** How many went bad within the window around one of the times, for the time around which they are most. */
export function badTogether(
  badByMinute: Iterable<readonly [minute: number, subjects: number]>,
  { aroundMs, windowMs }: { readonly aroundMs: readonly number[]; readonly windowMs: number },
): number {
  const windows = aroundMs.map((atMs) => ({ from: minuteOf(atMs - windowMs), to: minuteOf(atMs + windowMs), bad: 0 }));
  for (const [minute, subjects] of badByMinute)
    for (const window of windows) if (minute >= window.from && minute <= window.to) window.bad += subjects;
  return Math.max(0, ...windows.map(({ bad }) => bad));
}
