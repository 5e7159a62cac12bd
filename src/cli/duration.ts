import { usageError } from "./cli-error.ts";

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `30m`, `1h`, `2d`. */
export function parseSeconds(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const unit = unitSeconds[match?.[2] ?? ""];
  if (match === null || unit === undefined)
    throw usageError(`"${text}" is not a duration: write a number and s, m, h or d, such as 1h`);
  return Number(match[1]) * unit;
}

export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}
