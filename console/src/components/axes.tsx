import type { ConditionView, ResourceDocument } from "../api/types.ts";
import type { IconName } from "./icons.tsx";
import { Mark, type Tone } from "./mark.tsx";
import { plainWords } from "./plain-words.ts";
import { duration, useNowMs } from "./time.tsx";

/** A resource as lists and cards show it: what was declared is not needed to say how it is. */
type Shown = Omit<ResourceDocument, "spec">;

export interface Axis {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly title: string;
  /** The word where no heading says which axis it is; the same one unless said otherwise. */
  readonly alone?: string;
}

/** The four axes of a resource. They are never merged: a thing can work, differ, be looked at long ago and be paused at once. */
export function axesOf(resource: Shown, nowMs: number) {
  const { conditions, subjects, partOf } = resource.status;
  const guard = guardAxis(resource);
  if (conditions.length + subjects.length + partOf.length === 0)
    return { ready: unwatched, synced: unwatched, fresh: unwatched, guard };
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  return {
    ready: readyAxis(of("Ready")),
    synced: syncedAxis(of("Synced"), resource),
    fresh: freshAxis(of("Fresh"), resource.status.confirmedAt, nowMs),
    guard,
  };
}

/** What has no loop and is part of nothing that has one is never looked at: there is nothing outside that it stands for. */
const unwatched: Axis = {
  word: "No loop",
  tone: "plain",
  icon: "info",
  title: "Its kind has no loop: it is read by what names it, and nothing outside stands for it",
};

function readyAxis(condition: ConditionView | undefined): Axis {
  const title = condition?.message ?? "not looked at yet";
  if (condition?.status === "True") return { word: "Ready", tone: "good", icon: "check", title };
  if (condition?.status === "False") return { word: "Not ready", tone: "bad", icon: "cross", title };
  return { word: "Unknown", alone: "Ready: unknown", tone: "plain", icon: "question", title };
}

function syncedAxis(condition: ConditionView | undefined, { status }: Shown): Axis {
  const title = condition?.message ?? "not compared yet";
  if (condition?.status === "True") return { word: "Synced", tone: "good", icon: "equal", title };
  if (condition?.status === "False") return { word: differing(status), tone: "warn", icon: "differs", title };
  return { word: "Unknown", alone: "Synced: unknown", tone: "plain", icon: "question", title };
}

/** A part is compared by the loop of its whole, whose count is not that of the part alone: it says where it was counted. */
function differing({ differences = 0, partOf: [whole] }: Shown["status"]): string {
  if (whole !== undefined) return `${differences} in ${whole.kind}`;
  return `${differences} difference${differences === 1 ? "" : "s"}`;
}

function freshAxis(condition: ConditionView | undefined, at: string | undefined, nowMs: number): Axis {
  const title = condition?.message ?? "never looked at";
  if (at === undefined) return { word: "Never seen", tone: "plain", icon: "question", title };
  const age = duration(nowMs - Date.parse(at));
  if (condition?.status === "False") return { word: `Unknown, ${age}`, tone: "warn", icon: "question", title };
  return { word: `${age} ago`, tone: "plain", icon: "clock", title };
}

function guardAxis({ metadata, status }: Shown): Axis {
  const guards = status.conditions.filter(({ type }) => type.startsWith("Guard/"));
  const isAbout = (name: string) => guards.find(({ type }) => type === `Guard/${name}`);
  const paused = isAbout("pause") ?? status.conditions.find(({ type }) => type === "Paused");
  if (paused !== undefined) return { word: "Paused", tone: "warn", icon: "pause", title: paused.message };
  const held = guards.find(({ reason }) => reason === "Held" || reason === "Hold");
  if (held !== undefined) return { word: "Held", tone: "hold", icon: "hand", title: held.message };
  const refused = guards.find(({ reason }) => reason === "Refused" || reason === "Refuse");
  if (refused !== undefined) return { word: "Refused", tone: "bad", icon: "hand", title: refused.message };
  if (status.subjects.some(({ heldBy }) => heldBy !== undefined))
    return { word: "In an operation", tone: "accent", icon: "hand", title: "An operation holds it until it ends" };
  const axis = modeAxis(status.effectiveMode?.mode ?? metadata.mode);
  const whole = status.partOf.map(({ kind, name }) => `${kind}/${name}`).join(", ");
  if (whole !== "") return { ...axis, title: `The guards of ${whole} hold for it` };
  const from = status.effectiveMode === undefined ? "" : (saidBy[status.effectiveMode.from.split("/")[0] ?? ""] ?? "");
  return from === "" ? axis : { ...axis, title: `${axis.title}: ${from}` };
}

/** Which scope said how far a loop may go, by the first word of its id. */
const saidBy: Readonly<Record<string, string>> = {
  platform: "the platform says so",
  organization: "its organization says so",
  project: "its project says so",
  workspace: "its workspace says so",
};

export function modeAxis(mode: "observe" | "propose" | "enforce" | undefined): Axis {
  if (mode === "observe")
    return { word: "Observe", tone: "plain", icon: "eye", title: "It is looked at; nothing is written" };
  if (mode === "propose")
    return { word: "Propose", tone: "accent", icon: "pen", title: "Every change waits for a person" };
  if (mode === "enforce")
    return { word: "Enforce", tone: "good", icon: "shield", title: "Changes are made within the guards" };
  return { word: "Inherited", tone: "plain", icon: "shield", title: "Its mode is that of its scope" };
}

export function AxisMark({ axis }: { axis: Axis }) {
  return (
    <Mark tone={axis.tone} icon={axis.icon} title={axis.title}>
      {axis.word}
    </Mark>
  );
}

/** The four axes of something in a list, side by side, or two and two where its container is narrow. */
export function AxesLine({
  resource,
  everyMs,
  className = "grid-cols-2 @md:grid-cols-4",
}: {
  resource: Shown;
  /** How often its ages move; each second unless said otherwise. */
  everyMs?: number;
  className?: string;
}) {
  const { ready, synced, fresh, guard } = axesOf(resource, useNowMs(everyMs));
  return (
    <span data-axes className={`grid gap-x-2 gap-y-0.5 ${className}`}>
      {[ready, synced, fresh, guard].map(({ word, alone = word, tone, icon, title }, index) => (
        <Mark key={index} small tone={tone} icon={icon} title={title}>
          {alone}
        </Mark>
      ))}
    </span>
  );
}

/** The axes with their names, as they head the page of an object. */
export function AxesHeader({ resource }: { resource: ResourceDocument }) {
  const axes = axesOf(resource, useNowMs());
  const named = [
    ["Ready", axes.ready],
    ["Synced", axes.synced],
    ["Freshness", axes.fresh],
    ["Guard", axes.guard],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
      {named.map(([name, axis]) => (
        <div key={name} className="min-w-0 bg-panel px-3.5 py-2">
          <dt className="text-2xs font-medium tracking-wide text-soft uppercase">{name}</dt>
          <dd className="mt-0.5 font-medium">
            <AxisMark axis={axis} />
          </dd>
          <dd className="line-clamp-2 text-xs text-soft" title={axis.title}>
            {plainWords(axis.title)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
