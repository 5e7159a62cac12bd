import type { SubjectEvent, SubjectMemory, SubjectStatus } from "../ports/records.ts";

/** So many failures in a row, about a minute of them, are told to people; one that recovers by itself is not. */
const FAILURES_TOLD = 6;

/** What of this cycle people are told: a stall, a recovery from one, a guard that refused. Nothing while nothing changes. */
export function subjectEvents(
  before: { readonly status: SubjectStatus | undefined; readonly memory: Pick<SubjectMemory, "attempts"> },
  after: { readonly status: SubjectStatus; readonly memory: Pick<SubjectMemory, "attempts"> },
): readonly SubjectEvent[] {
  const events: SubjectEvent[] = [];
  const ready = after.status.conditions.find(({ type }) => type === "Ready");
  const [was, is] = [isStalled(before.status, before.memory), isStalled(after.status, after.memory)];
  if (is && !was)
    events.push({ type: "subject.stalled", data: { reason: ready?.reason ?? "", message: ready?.message ?? "" } });
  if (was && !is && ready?.status !== "Unknown")
    events.push({ type: "subject.recovered", data: { reason: ready?.reason ?? "", message: ready?.message ?? "" } });
  const refused = new Set(refusals(before.status).map(({ type }) => type));
  for (const { type, message } of refusals(after.status)) {
    if (!refused.has(type))
      events.push({ type: "guard.refused", data: { guard: type.slice("Guard/".length), message } });
  }
  return events;
}

function isStalled(status: SubjectStatus | undefined, { attempts }: Pick<SubjectMemory, "attempts">): boolean {
  const reason = status?.conditions.find(({ type }) => type === "Ready")?.reason;
  return reason === "Stalled" || (reason === "LookFailed" && attempts >= FAILURES_TOLD);
}

function refusals(status: SubjectStatus | undefined) {
  return (status?.conditions ?? []).filter(({ type, reason }) => type.startsWith("Guard/") && reason === "Refused");
}
