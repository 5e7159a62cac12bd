import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PlanDocument, Reason } from "../../api/types.ts";
import { Counts } from "../../components/counts.tsx";
import { Differences } from "../../components/differences.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { Chip, Mark } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { plainWords } from "../../components/plain-words.ts";
import { Answer, Command } from "../../components/states.tsx";
import { Ago, duration } from "../../components/time.tsx";
import { Verdicts } from "../../components/verdicts.tsx";
import { Dependencies } from "./dependencies.tsx";
import type { AboutObject } from "./page.tsx";
import { planQuery, whyQuery } from "./queries.ts";
import { scopeFlags } from "./scope-flags.ts";
import { Special } from "./special/special.tsx";
import { Timeline } from "./timeline.tsx";

export function OverviewTab(about: AboutObject & { hasLoop: boolean }) {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="min-w-0 space-y-4">
        <Why {...about} />
        <Special {...about} />
        {about.hasLoop ? <PlanPanel {...about} /> : undefined}
        <Timeline {...about} limit={12} />
      </div>
      <div className="min-w-0 space-y-4">
        <Conditions {...about} />
        <Dependencies {...about} />
      </div>
    </div>
  );
}

const topics: Readonly<Record<Reason["topic"], IconName>> = {
  declared: "pen",
  deletion: "trash",
  mode: "shield",
  pause: "pause",
  hold: "hand",
  look: "eye",
  strangers: "person",
  condition: "info",
  "held-change": "hand",
  "part-of": "stack",
  ignored: "differs",
  operation: "bolt",
};

/** The answer to "why is it so?", what blocks first, each with the command that answers it. */
function Why({ organization, path, resource }: AboutObject) {
  const why = useQuery(whyQuery(organization, path));
  return (
    <Panel title="Why">
      <Answer of={why} what="why it is so">
        {({ summary, chain }) => (
          <>
            <p className="font-medium break-words">{shortSummary(summary)}</p>
            <ul className="mt-2 space-y-1.5">
              {chain
                .filter(({ topic }) => topic !== "condition")
                .toSorted((left, right) => Number(right.blocking) - Number(left.blocking))
                .map((reason) => (
                  <li key={`${reason.topic} ${reason.words}`} className="flex gap-2 text-sm">
                    <Icon
                      name={topics[reason.topic]}
                      className={`mt-0.5 ${reason.blocking ? "text-warn" : "text-soft"}`}
                    />
                    <span className={`min-w-0 break-words ${reason.blocking ? "" : "text-soft"}`}>
                      {plainWords(reason.words)} <ReasonLink organization={organization} path={path} reason={reason} />
                      {reason.command === undefined ? undefined : (
                        <span className="mt-0.5 block">
                          <Command>{`${reason.command}${scopeFlags(resource.metadata)}`}</Command>
                        </span>
                      )}
                    </span>
                  </li>
                ))}
            </ul>
          </>
        )}
      </Answer>
    </Panel>
  );
}

const linkClass = "text-accent underline";

/** Where a reason can be looked at or answered. */
function ReasonLink({ organization, path, reason }: { organization: string; path: string; reason: Reason }) {
  const { topic, data } = reason;
  const named = (name: string) => {
    const value = (data as Readonly<Record<string, unknown>> | undefined)?.[name];
    return typeof value === "string" ? value : undefined;
  };
  const [held, operation] = [named("id"), named("operation")];
  if (topic === "held-change" && held !== undefined)
    return (
      <Link to="/o/$organization/held/$id" params={{ organization, id: held }} className={linkClass}>
        decide it
      </Link>
    );
  if ((topic === "operation" || topic === "hold") && operation !== undefined)
    return (
      <Link to="/o/$organization/operations/$id" params={{ organization, id: operation }} className={linkClass}>
        see the operation
      </Link>
    );
  if (topic === "strangers" || topic === "ignored")
    return (
      <Link
        to="/o/$organization/objects/$"
        params={{ organization, _splat: path }}
        search={{ tab: topic === "strangers" ? "outside" : "differences" }}
        className={linkClass}
      >
        {topic === "strangers" ? "see them" : "see what is ignored"}
      </Link>
    );
  return undefined;
}

/** The reasons follow below it, so its own are left out. */
function shortSummary(summary: string): string {
  const words = plainWords(summary);
  // What its kind reports is told by its message; under which name that is kept is among the conditions.
  const [, name, report] = /^(.*, but )Report\/\S+ is \w+ \([^)]*\): (.*)$/s.exec(words) ?? [];
  if (name !== undefined && report !== undefined) return `${name}${report}`;
  const [begin = words] = words.split(": ");
  return begin.endsWith(".") ? begin : `${begin}.`;
}

type Subject = PlanDocument["subjects"][number];
type PlanItem = Subject["update"][number];

/** What is wanted and what was seen, where they differ; with every guard's verdict. */
function PlanPanel({ organization, path, resource }: AboutObject) {
  const plan = useQuery(planQuery(organization, path));
  return (
    <Panel
      title="Differences"
      flush
      aside={
        <Link
          to="/o/$organization/objects/$"
          params={{ organization, _splat: path }}
          search={{ tab: "differences" }}
          className="text-accent underline"
        >
          declared, last wanted and seen side by side
        </Link>
      }
    >
      <Answer of={plan} what="the plan">
        {({ subjects }) => (
          <div className="divide-y divide-line">
            {subjects.map((subject, index) => (
              <SubjectPlan key={subject.account ?? index} subject={subject} confirmedAt={resource.status.confirmedAt} />
            ))}
          </div>
        )}
      </Answer>
    </Panel>
  );
}

const actionWords: Readonly<Record<string, string>> = { takeover: "take over" };
/** Why something is to go: somebody deleted what declared it, or its declaration merely is not there any more. */
const origins: Readonly<Record<string, string>> = {
  declared: "its declaration was deleted",
  inferred: "nothing declares it any more",
};
const actionTones: Readonly<Record<string, string>> = {
  delete: "text-bad",
  replace: "text-bad",
  update: "text-warn",
  create: "text-good",
};

function SubjectPlan({ subject, confirmedAt }: { subject: Subject; confirmedAt: string | undefined }) {
  const items: readonly PlanItem[] = [...subject.delete, ...subject.update, ...subject.create, ...subject.other];
  const age =
    subject.observationAgeSeconds === undefined ? "" : `, seen ${duration(subject.observationAgeSeconds * 1_000)} ago`;
  return (
    <section>
      <p className="flex flex-wrap items-center gap-x-3 px-3.5 py-2 text-sm">
        {subject.account === undefined ? undefined : <b className="font-medium">at {subject.account}</b>}
        {subject.state === "done" ? (
          <Mark tone="good" icon="equal">
            as declared
            {confirmedAt === undefined ? undefined : (
              <>
                , confirmed <Ago at={confirmedAt} />
              </>
            )}
          </Mark>
        ) : subject.state === "unknown" ? (
          <Mark tone="plain" icon="question">
            not looked at yet
          </Mark>
        ) : (
          <>
            <Counts counts={subject.counts} />
            <span className="text-soft">
              left to do{subject.completeness === "complete" ? "" : ` from a ${subject.completeness ?? "missing"} look`}
              {age}
            </span>
          </>
        )}
      </p>
      <ul>
        {items.map((item) => (
          <li key={`${item.action} ${item.key}`} className="border-t border-line px-3.5 py-2">
            <p className="flex flex-wrap items-center gap-x-2.5 text-sm">
              <b className={actionTones[item.action] ?? "text-hold"}>{actionWords[item.action] ?? item.action}</b>
              <code className="break-all">{item.key}</code>
              {item.origin === undefined ? undefined : (
                <span className="text-xs text-soft">{origins[item.origin] ?? item.origin}</span>
              )}
              {item.held ? (
                <Chip tone="hold" icon="hand">
                  held
                </Chip>
              ) : undefined}
            </p>
            <Differences differences={item.differences} />
          </li>
        ))}
      </ul>
      {subject.verdicts.length === 0 ? undefined : (
        <div className="border-t border-line px-3.5">
          <Verdicts verdicts={subject.verdicts} />
        </div>
      )}
    </section>
  );
}

/** True is good of these; every other condition is there only while something is to be said. */
const alwaysThere = new Set(["Ready", "Synced", "Fresh"]);

function Conditions({ resource }: AboutObject) {
  return (
    <Panel title="Conditions" flush>
      <ul className="divide-y divide-line">
        {resource.status.conditions.map((condition) => (
          <li key={condition.type} className="px-3.5 py-2 text-sm">
            <p className="flex flex-wrap items-center gap-x-2">
              <b className="font-medium">{condition.type}</b>
              <Mark
                tone={
                  condition.status === "Unknown"
                    ? "plain"
                    : (condition.status === "True") === alwaysThere.has(condition.type)
                      ? "good"
                      : "warn"
                }
                icon={condition.status === "True" ? "check" : condition.status === "False" ? "cross" : "question"}
              >
                {condition.status}
              </Mark>
              <span className="text-soft">{condition.reason}</span>
              <span className="flex-1" />
              {condition.since === undefined ? undefined : <Ago at={condition.since} className="text-xs text-soft" />}
            </p>
            <p className="break-words text-soft">{plainWords(condition.message)}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
