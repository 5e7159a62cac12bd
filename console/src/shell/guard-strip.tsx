import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiProblem } from "../api/client.ts";
import { heldQuery, limitsQuery, pausesQuery } from "../api/queries.ts";
import { type Axis, modeAxis } from "../components/axes.tsx";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icons.tsx";
import { Chip } from "../components/mark.tsx";
import { Until } from "../components/time.tsx";
import { useCommand } from "./commands.ts";
import { DemoTray } from "./demo-tray.tsx";
import { FreezeDialog } from "./freeze-dialog.tsx";
import { ResumeDialog } from "./resume-dialog.tsx";

const stopped = { writes: "no writes", deletes: "no deletes", all: "no writes and no looks" } as const;

/** What holds for everything right now, on every page: how far loops may go, what is stopped, what waits, and the freeze. */
export function GuardStrip({ organization }: { organization: string }) {
  const limits = useQuery(limitsQuery(organization)).data;
  const asked = useQuery(pausesQuery(organization));
  const pauses = asked.data ?? [];
  const waiting = useQuery(heldQuery(organization));
  const held = waiting.data?.items.length;
  const [dialog, setDialog] = useState<"freeze" | "resume">();
  const wide = pauses.filter(({ scope }) => scope === "platform" || scope.startsWith("organization/"));
  const [first] = wide;
  const mode = limits === undefined ? undefined : modeAxis(limits.mode.value);
  useCommand({ title: "Freeze…", icon: "snow", run: () => setDialog("freeze") });
  useCommand(pauses.length === 0 ? undefined : { title: "Resume…", icon: "play", run: () => setDialog("resume") });
  return (
    <section
      aria-label="Guards"
      className={`flex min-h-10 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1 text-sm ${first === undefined ? "bg-ground" : "bg-warn-wash"}`}
    >
      <Unread what="pauses" of={asked} />
      {first === undefined ? (
        <Mode axis={asked.data === undefined ? undefined : mode} />
      ) : (
        <span className="flex min-w-0 items-center gap-1.5 text-warn">
          <Icon name="snow" />
          <b>{first.scope === "platform" ? "Frozen" : "Paused"}</b>
          <span className="truncate text-ink" title={first.reason}>
            {stopped[first.level]}, ends <Until at={first.expiresAt} /> · {first.author}: {first.reason}
          </span>
        </span>
      )}
      {pauses.length > wide.length ? (
        <Chip tone="warn" icon="pause">
          {pauses.length - wide.length} pause{pauses.length - wide.length === 1 ? "" : "s"} below
        </Chip>
      ) : undefined}
      <Unread what="what waits" of={waiting} />
      {held === undefined ? undefined : held > 0 ? (
        <Link
          to="/o/$organization/held"
          params={{ organization }}
          aria-label={`${held} waiting for a person`}
          className="rounded-full"
        >
          <Chip tone="hold" icon="hand">
            {held} waiting<span className="hidden sm:inline"> for a person</span>
          </Chip>
        </Link>
      ) : (
        <span className="hidden text-soft sm:inline">Nothing waits for a person</span>
      )}
      <span className="flex-1" />
      <DemoTray organization={organization} />
      {pauses.length > 0 ? (
        <Button icon="play" onClick={() => setDialog("resume")}>
          Resume…
        </Button>
      ) : undefined}
      <Button tone="danger" icon="snow" onClick={() => setDialog("freeze")}>
        Freeze…
      </Button>
      {dialog === "freeze" ? (
        <FreezeDialog organization={organization} close={() => setDialog(undefined)} />
      ) : undefined}
      {dialog === "resume" ? (
        <ResumeDialog organization={organization} close={() => setDialog(undefined)} />
      ) : undefined}
    </section>
  );
}

/** What could not be read is no news that nothing is stopped and nothing waits; what may not be read is nobody's news. */
function Unread({ what, of: { data, error } }: { what: string; of: { data: unknown; error: Error | null } }) {
  if (error === null || (error instanceof ApiProblem && error.problem.status === 403)) return undefined;
  return (
    <Chip tone="warn" icon="question" title={error.message}>
      {data === undefined ? `${what} not known` : `${what} not read again`}
    </Chip>
  );
}

/** What was not answered, or may not be read, is not said: a guard that nobody knows of must not look like one that speaks. */
function Mode({ axis }: { axis: Axis | undefined }) {
  if (axis === undefined) return undefined;
  return (
    <span className="hidden items-center gap-1.5 sm:inline-flex" title={axis.title}>
      <span className="text-soft">Mode</span>
      <Chip tone={axis.tone} icon={axis.icon}>
        {axis.word}
      </Chip>
    </span>
  );
}
