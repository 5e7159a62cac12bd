import { axesOf } from "../../components/axes.tsx";
import { Counts } from "../../components/counts.tsx";
import { Mark } from "../../components/mark.tsx";
import { useNowMs } from "../../components/time.tsx";
import type { Entry, Planned } from "./entries.ts";

/** Ages on three hundred cards need not move each second. */
const ageStepMs = 10_000;

/** The four axes of one resource, or how many of a list are not as they should be on each of them. */
export function EntryAxes({ entry }: { entry: Entry }) {
  const nowMs = useNowMs(ageStepMs);
  if (entry.card !== undefined) {
    const { ready, synced, fresh, guard } = axesOf(entry.card, nowMs);
    return [ready, synced, fresh, guard].map(({ word, alone = word, tone, icon, title }, index) => (
      <Mark key={index} tone={tone} icon={icon} title={title}>
        {alone}
      </Mark>
    ));
  }
  const { total = 0, notReady = 0, unknown = 0, drifted = 0, held = 0 } = entry.group ?? {};
  const ready = total - notReady - unknown;
  return (
    <>
      {notReady > 0 ? (
        <Mark tone="bad" icon="cross">
          {notReady} not ready
        </Mark>
      ) : (
        <Mark tone={ready === total ? "good" : "plain"} icon={ready === total ? "check" : "question"}>
          {ready} ready
        </Mark>
      )}
      <Mark tone={drifted > 0 ? "warn" : "good"} icon={drifted > 0 ? "differs" : "equal"}>
        {drifted > 0 ? `${drifted} differ` : "None differs"}
      </Mark>
      <Mark tone="plain" icon={unknown > 0 ? "question" : "clock"}>
        {unknown > 0 ? `${unknown} unknown` : "All seen"}
      </Mark>
      <Mark tone={held > 0 ? "hold" : "plain"} icon={held > 0 ? "hand" : "shield"}>
        {held > 0 ? `${held} held` : "None held"}
      </Mark>
    </>
  );
}

const planLooks = {
  New: { tone: "good", icon: "plus" },
  Edited: { tone: "warn", icon: "pen" },
  Removed: { tone: "bad", icon: "trash" },
  "Not looked at": { tone: "plain", icon: "question" },
} as const;

export function PlanMark({ planned }: { planned: Planned | undefined }) {
  if (planned === undefined) return <span className="text-xs text-soft">Nothing to do</span>;
  const { word, actions } = planned;
  return (
    <span className="inline-flex items-center gap-2 text-sm">
      <Mark {...planLooks[word]}>{word}</Mark>
      {Object.keys(actions).length === 0 ? undefined : <Counts counts={actions} />}
    </span>
  );
}
