/** Epoch milliseconds as RFC 3339 in UTC, to the second: how clouds write their times. */
export function isoSecond(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** The way back; undefined for what is no time. */
export function epochMsOfIso(iso: string): number | undefined {
  const epochMs = Date.parse(iso);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
