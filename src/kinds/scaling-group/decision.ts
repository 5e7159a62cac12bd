import { plausible } from "../../kernel/metrics.ts";

/** How a group is sized now, and everything that says how it should be. Plain data: the same situation gives the same size. */
export interface ScalingSituation {
  readonly mode: "static" | "manual" | "metric";
  readonly min: number;
  readonly max: number;
  /** Of `static`: the size. Of `metric`: the size to begin with. */
  readonly desired: number | undefined;
  /** Members that are not being deleted. */
  readonly size: number;
  /** Of `metric` alone: what is measured, each with what the members report now. */
  readonly metrics: readonly MetricReading[];
  readonly stepUp: number;
  /** The larger of one and a tenth of the group unless the spec says otherwise. */
  readonly maxStepDown: number | undefined;
  readonly cooldownMs: number;
  /** When the group last changed anything. */
  readonly lastChangeAtMs: number | undefined;
  readonly nowMs: number;
  readonly keep: readonly KeepWindow[];
}

export interface MetricReading {
  readonly name: string;
  readonly upAbove: number;
  readonly downBelow: number;
  /** By member; a member without a value did not report. Undefined: nobody could be asked. */
  readonly values: ReadonlyMap<string, number | undefined> | undefined;
}

/** A part of the week, in UTC, in which metrics never shrink the group. It may cross midnight. */
export interface KeepWindow {
  /** 0 is Sunday; the day on which it begins. */
  readonly days: readonly number[];
  readonly fromMinute: number;
  readonly toMinute: number;
}

export interface ScalingDecision {
  readonly size: number;
  /** The shrink is within what the group's declaration allows by itself. Any other one is for a person to approve. */
  readonly covered: boolean;
  readonly reason: string;
  /** Why the members' load is not known; the group then never becomes smaller by itself. */
  readonly missing?: string | undefined;
}

/** The size the group should have. Growing to the least and shrinking to the most that is declared come before everything else. */
export function decideSize(situation: ScalingSituation): ScalingDecision {
  const { mode, min, max, size } = situation;
  if (mode === "static") return towards(situation, clamp(situation.desired ?? min, situation), "the declared size");
  if (size < min) return { size: startSize(situation), covered: false, reason: `at least ${min} are declared` };
  if (size > max) return towards(situation, max, `at most ${max} are declared`);
  if (mode === "manual") return stay(situation, "people decide within the declared bounds");
  return byMetrics(situation);
}

/** A group that has nobody yet begins with the size that its spec names. */
function startSize(situation: ScalingSituation): number {
  return situation.size === 0 ? clamp(situation.desired ?? situation.min, situation) : situation.min;
}

function clamp(size: number, { min, max }: ScalingSituation): number {
  return Math.min(max, Math.max(min, size));
}

function stay({ size }: ScalingSituation, reason: string, more: Partial<ScalingDecision> = {}): ScalingDecision {
  return { size, covered: false, reason, ...more };
}

/** What a person declared. A small step down is covered by that; a larger one, or one nobody knows the load for, is approved first. */
function towards(situation: ScalingSituation, wanted: number, reason: string): ScalingDecision {
  const { size, mode } = situation;
  if (wanted >= size) return { size: wanted, covered: false, reason };
  const missing = mode === "metric" ? loadOf(situation).missing : undefined;
  if (missing !== undefined || size - wanted > stepDown(situation))
    return { size: wanted, covered: false, reason, missing };
  const cooling = isCooling(situation);
  if (cooling) return stay(situation, `${reason}, after the cooldown`);
  return { size: wanted, covered: true, reason };
}

function stepDown({ maxStepDown, size }: ScalingSituation): number {
  return maxStepDown ?? Math.max(1, Math.floor(size / 10));
}

function isCooling({ lastChangeAtMs, cooldownMs, nowMs }: ScalingSituation): boolean {
  return lastChangeAtMs !== undefined && nowMs < lastChangeAtMs + cooldownMs;
}

interface Load {
  /** By metric: the mean over the members that report, where at least half of them do. */
  readonly means: readonly { readonly reading: MetricReading; readonly mean: number; readonly reporting: number }[];
  readonly missing: string | undefined;
}

/**
 * Who does not report makes nothing smaller: then the load is missing. It can still make the group larger, because the members that
 * do report and are overloaded are overloaded whatever the others do.
 */
function loadOf({ metrics, size }: ScalingSituation): Load {
  const means = metrics.flatMap((reading) => {
    const values = [...(reading.values?.values() ?? [])].filter(
      (value): value is number => value !== undefined && Number.isFinite(value) && value >= 0,
    );
    if (values.length === 0 || values.length * 2 < size) return [];
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return [{ reading, mean, reporting: values.length }];
  });
  const silent = metrics.filter(({ values }) => (values?.size ?? 0) < size || plausible(values) === "missing");
  const names = silent.map(({ name }) => name).join(" and ");
  const missing =
    metrics.length === 0 ? "nothing is measured" : `${names} is missing on members, or zero on all of them`;
  return { means, missing: silent.length > 0 || metrics.length === 0 ? missing : undefined };
}

/** Up where any metric asks for it, down only where all of them allow it, and one step at a time. */
function byMetrics(situation: ScalingSituation): ScalingDecision {
  const { size, stepUp, max } = situation;
  const { means, missing } = loadOf(situation);
  const over = means.filter(({ reading, mean }) => mean > reading.upAbove).map(wordsOf);
  const cooling = isCooling(situation);
  if (over.length > 0 && size < max) {
    if (cooling) return stay(situation, `${over.join(", ")}; the cooldown lasts`, { missing });
    return { size: Math.min(max, size + stepUp), covered: false, reason: over.join(", "), missing };
  }
  if (missing !== undefined) return stay(situation, missing, { missing });
  return downByMetrics(situation, means, cooling);
}

function downByMetrics(situation: ScalingSituation, means: Load["means"], cooling: boolean): ScalingDecision {
  const { size, min, keep, nowMs } = situation;
  const under = means.every(({ reading, mean }) => mean < reading.downBelow);
  const step = Math.min(stepDown(situation), size - min);
  if (!under || step <= 0) return stay(situation, "the load is within its bounds");
  // What those who are left would carry must not make the group larger again; members that are leaving still carry their part.
  const left = Math.max(1, size - step);
  if (means.some(({ reading, mean, reporting }) => (mean * Math.max(size, reporting)) / left > reading.upAbove))
    return stay(situation, "fewer members would be overloaded");
  if (isKept(keep, nowMs)) return stay(situation, "a keep window lasts");
  if (cooling) return stay(situation, "the cooldown lasts");
  return { size: size - step, covered: true, reason: means.map(wordsOf).join(", ") };
}

function wordsOf({ reading: { name, upAbove, downBelow }, mean }: Load["means"][number]): string {
  const bound = mean > upAbove ? `above ${upAbove}` : `below ${downBelow}`;
  return `${name} is ${Math.round(mean * 10) / 10}, ${bound}`;
}

const dayMinutes = 24 * 60;

export function isKept(windows: readonly KeepWindow[], nowMs: number): boolean {
  const minutes = Math.floor(nowMs / 60_000);
  const minute = minutes % dayMinutes;
  // The first day of 1970 was a Thursday.
  const day = (Math.floor(minutes / dayMinutes) + 4) % 7;
  return windows.some(({ days, fromMinute, toMinute }) => {
    const within = minute >= fromMinute && minute < toMinute;
    if (fromMinute < toMinute) return days.includes(day) && within;
    return (days.includes(day) && minute >= fromMinute) || (days.includes((day + 6) % 7) && minute < toMinute);
  });
}
