import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { figuresQuery, limitsQuery, loopsQuery } from "../../api/queries.ts";
import type { LoopsDocument } from "../../api/types.ts";
import { LimitsTable } from "../../components/limits-table.tsx";
import { Chip, Mark } from "../../components/mark.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer } from "../../components/states.tsx";
import { Ago, duration, Until, useNowMs } from "../../components/time.tsx";
import { LoopCycles } from "./cycles.tsx";
import { loopsRoute } from "./route.tsx";

/** Every loop: how often it looks, what makes it look sooner, when it last did, and what limits it. */
export function LoopsPage() {
  const { organization } = loopsRoute.useParams();
  const loops = useQuery(loopsQuery);
  const figures = useQuery(figuresQuery(organization)).data ?? [];
  // Whoever keeps nothing here comes last.
  const idle = (kind: string) => Number(!figures.some((entry) => entry.kind === kind && entry.total > 0));
  return (
    <>
      <PageHeader
        title="Loops"
        lead="One loop per kind. Each looks at its resources again and again, and at once when something they are computed from changes."
      />
      <Answer of={loops} what="loops">
        {({ kinds, withoutLoop }) => (
          <div className="space-y-4">
            <div className="grid items-start gap-4 lg:grid-cols-2 2xl:grid-cols-3">
              {kinds
                .filter(({ everySeconds }) => everySeconds !== undefined)
                .toSorted((left, right) => idle(left.kind) - idle(right.kind))
                .map((loop) => (
                  <LoopCard key={loop.kind} organization={organization} loop={loop} />
                ))}
            </div>
            <Caps organization={organization} />
            <Panel title="Without a loop, and why" flush>
              <ul className="divide-y divide-line text-sm">
                {[
                  ...kinds
                    .filter((kind) => kind.withoutLoop !== undefined)
                    .map((kind) => ({ record: kind.kind, why: kind.withoutLoop ?? "" })),
                  ...withoutLoop,
                ].map(({ record, why }) => (
                  <li key={record} className="flex flex-wrap gap-x-4 px-3.5 py-2">
                    <span className="w-56 font-medium">{record}</span>
                    <span className="min-w-0 flex-1 basis-64 text-soft">{why}</span>
                  </li>
                ))}
              </ul>
            </Panel>
          </div>
        )}
      </Answer>
    </>
  );
}

type Loop = LoopsDocument["kinds"][number];

function LoopCard({ organization, loop }: { organization: string; loop: Loop }) {
  const figures = (useQuery(figuresQuery(organization)).data ?? []).filter(({ kind }) => kind === loop.kind);
  const sum = (of: "total" | "drifted" | "notReady" | "held") => figures.reduce((total, entry) => total + entry[of], 0);
  const { activity, everySeconds = 0, verdictLimitSeconds } = loop;
  // A loop without anything to look at has no cycles to tell of.
  const cycles: readonly [string, React.ReactNode][] = [
    [
      "In fact every",
      activity?.realIntervalSeconds === undefined ? "not measured yet" : duration(activity.realIntervalSeconds * 1_000),
    ],
    ["Last cycle", activity?.lastCycleAt === undefined ? "none yet" : <Ago at={activity.lastCycleAt} />],
    ["Next cycle", activity?.nextCycleBy === undefined ? "–" : <NextCycle by={activity.nextCycleBy} />],
  ];
  const facts: readonly [string, React.ReactNode][] = [
    ["Looks every", duration(everySeconds * 1_000)],
    ...(sum("total") === 0 ? [] : cycles),
    ["At once when", loop.inputs.length === 0 ? "it is declared anew" : `it or a ${loop.inputs.join(" or ")} changes`],
    ["Unknown after", verdictLimitSeconds === undefined ? "–" : duration(verdictLimitSeconds * 1_000)],
    ["Lives in", loop.scopes.join(", ")],
  ];
  return (
    <Panel
      title={loop.kind}
      aside={
        activity !== undefined && activity.failing > 0 ? (
          <Chip tone="bad" icon="cross">
            {activity.failing} failing
          </Chip>
        ) : sum("total") === 0 ? (
          <Chip tone="plain" icon="clock">
            nothing to look at
          </Chip>
        ) : (
          <Chip tone="good" icon="check">
            running
          </Chip>
        )
      }
    >
      <p className="mb-2 flex flex-wrap gap-x-4 gap-y-1">
        <Link
          to="/o/$organization/inventory"
          params={{ organization }}
          search={{ kind: loop.kind }}
          className="text-sm font-medium text-accent hover:underline"
        >
          {sum("total")} here
        </Link>
        {sum("drifted") > 0 ? (
          <Mark tone="warn" icon="differs">
            {sum("drifted")} differ
          </Mark>
        ) : undefined}
        {sum("notReady") > 0 ? (
          <Mark tone="bad" icon="cross">
            {sum("notReady")} not ready
          </Mark>
        ) : undefined}
        {sum("held") > 0 ? (
          <Mark tone="hold" icon="hand">
            {sum("held")} held
          </Mark>
        ) : undefined}
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
      {loop.modeRequired ? (
        <p className="mt-2 text-xs text-soft">Exists outside already, so its mode is named when it is declared.</p>
      ) : undefined}
      {sum("total") === 0 ? undefined : <LoopCycles organization={organization} kind={loop.kind} />}
    </Panel>
  );
}

/** By when the last of them is looked at again; what is due has its turn among the others. */
function NextCycle({ by }: { by: string }) {
  return Date.parse(by) <= useNowMs() ? "due now" : <Until at={by} word="within" />;
}

function Caps({ organization }: { organization: string }) {
  const limits = useQuery(limitsQuery(organization));
  return (
    <Panel title="Caps of this organization" flush aside="a raised limit is itself a held change">
      <Answer of={limits} what="limits">
        {(found) => <LimitsTable limits={found.limits} />}
      </Answer>
    </Panel>
  );
}
