import { isoTime } from "../kernel/iso-time.ts";
import type { SubjectView } from "../ports/read-store.ts";
import type { Condition, SubjectStatus } from "../ports/records.ts";
import type { ConditionView } from "./schemas/resource.ts";
import { verdictAge } from "./verdict-age.ts";

/** Always shown; every other condition only while it is true. */
const always = ["Ready", "Synced", "Fresh"] as const;
const order = { False: 0, Unknown: 1, True: 2 } as const;

interface About {
  readonly generation: number;
  readonly everySeconds: number;
  readonly nowMs: number;
}

/** The conditions of one subject as they may be shown now. */
export function subjectConditions(subject: SubjectView, about: About): readonly ConditionView[] {
  const shown = verdictsOf(subject, about);
  if (subject.needsAttention === undefined) return shown;
  // While an operation waits for a person its loop says only that it waits for the operation; why is what the person needs.
  const { pipeline, message } = subject.needsAttention;
  const id = subject.holdOperationId ?? "";
  const next = `When that is mended: setpoint ops resume ${id} --reason TEXT. See: setpoint ops get ${id}`;
  const waits = `${pipeline} waits for a person: ${message}. ${next}`;
  return shown.map((entry) =>
    entry.type === "Ready"
      ? { ...entry, status: "False" as const, reason: "OperationNeedsAttention", message: waits }
      : entry,
  );
}

/** An old verdict, or one about an older spec, reads Unknown. */
function verdictsOf(subject: SubjectView, about: About): readonly ConditionView[] {
  const age = verdictAge({ ...about, confirmedAtMs: subject.confirmedAtMs });
  const { status } = subject;
  const reconciling = subject.dueAtMs !== undefined && subject.dueAtMs <= about.nowMs;
  const extra = reconciling ? [reconcilingCondition(subject.dueAtMs ?? about.nowMs)] : [];
  if (status === undefined) {
    const message = "not looked at yet";
    return [...always.map((type) => unknown(type, "NotLookedAt", message)), ...extra];
  }
  const shown = status.conditions.filter((entry) => isAlways(entry.type) || entry.status === "True").map(conditionView);
  if (!age.fresh) {
    const when = age.ageMs === undefined ? "never confirmed" : `last confirmed ${duration(age.ageMs)} ago`;
    const message = `${when}, the limit is ${duration(age.limitMs)}`;
    const stale = shown.map((entry) => (isAlways(entry.type) ? staleCondition(entry, status, message) : entry));
    return [...stale, { type: "Fresh", status: "False", reason: "Stale", message }, ...extra];
  }
  const fresh: ConditionView = {
    type: "Fresh",
    status: "True",
    reason: "Confirmed",
    message: `confirmed ${duration(age.ageMs)} ago${about.everySeconds > 0 ? `; looked at every ${duration(about.everySeconds * 1_000)}` : ""}`,
  };
  if (status.observedGeneration >= about.generation) return [...shown, fresh, ...extra];
  const message = `generation ${about.generation} is declared, generation ${status.observedGeneration} was looked at last`;
  const older = shown.map((entry) =>
    isAlways(entry.type) ? { ...entry, status: "Unknown" as const, reason: "NotYetObserved", message } : entry,
  );
  return [...older, fresh, ...extra];
}

/** How old it is, is said by `Fresh`. Where looks fail, that is why, and what the provider said is what to know. */
function staleCondition(entry: ConditionView, status: SubjectStatus, age: string): ConditionView {
  if (entry.type === "Ready" && failedLook(status) !== undefined) return { ...entry, status: "Unknown" };
  return { ...entry, status: "Unknown", reason: "Stale", message: `${age}; it was: ${entry.message}` };
}

/** What its looks fail with now, in the words that were kept of it. */
export function failedLook({ failing, conditions }: SubjectStatus): Condition | undefined {
  const ready = conditions.find(({ type }) => type === "Ready");
  return failing && (ready?.reason === "Stalled" || ready?.reason === "LookFailed") ? ready : undefined;
}

/** One resource over all its subjects: the worst of each condition speaks. */
export function mergedConditions(subjects: readonly (readonly ConditionView[])[]): readonly ConditionView[] {
  const worst = new Map<string, ConditionView>();
  for (const condition of subjects.flat()) {
    const known = worst.get(condition.type);
    if (known === undefined || order[condition.status] < order[known.status]) worst.set(condition.type, condition);
  }
  return [...worst.values()];
}

/** For people: 90 s, 12 min, 3 h, 2 d. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function isAlways(type: string): boolean {
  return (always as readonly string[]).includes(type);
}

export function conditionView(condition: Condition): ConditionView {
  const { type, status, reason, message } = condition;
  return { type, status, reason, message, since: isoTime(condition.sinceMs) };
}

function unknown(type: string, reason: string, message: string): ConditionView {
  return { type, status: "Unknown", reason, message };
}

function reconcilingCondition(dueAtMs: number): ConditionView {
  return {
    type: "Reconciling",
    status: "True",
    reason: "Due",
    message: "something it is computed from changed, or a retry is due",
    since: isoTime(dueAtMs),
  };
}
