import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiProblem } from "../../api/client.ts";
import { loopsQuery } from "../../api/queries.ts";
import type { ResourceDocument } from "../../api/types.ts";
import { AxesHeader } from "../../components/axes.tsx";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { useInSight } from "../../components/part-nav.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { ObjectActions } from "./actions.tsx";
import { AsTab } from "./as-tab.tsx";
import { DifferencesTab } from "./differences-tab.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { OutsideTab } from "./outside-tab.tsx";
import { OverviewTab } from "./overview-tab.tsx";
import { objectQuery } from "./queries.ts";
import { type ObjectTab, objectRoute } from "./route.tsx";
import { SpecTab } from "./spec-tab.tsx";

const tabs: readonly { readonly tab: ObjectTab; readonly title: string; readonly needsLoop?: boolean }[] = [
  { tab: "overview", title: "Overview" },
  { tab: "differences", title: "Differences", needsLoop: true },
  { tab: "spec", title: "Spec" },
  { tab: "outside", title: "Outside", needsLoop: true },
  { tab: "history", title: "History" },
  { tab: "as", title: "YAML, CLI, API" },
];

/** One resource: what is wanted, what was seen, why it is as it is, and what can be done. */
export function ObjectPage() {
  const { organization, _splat: path = "" } = objectRoute.useParams();
  const found = useQuery(objectQuery(organization, path));
  const loops = useQuery(loopsQuery);
  const missing = missingWords(found.error);
  return (
    <>
      <Link
        to="/o/$organization/inventory"
        params={{ organization }}
        className="mb-2 inline-flex items-center gap-1 text-sm text-soft hover:text-ink"
      >
        <Icon name="back" size={14} /> Inventory
      </Link>
      {missing === undefined ? (
        <Answer of={found} what="the resource">
          {(resource) => (
            // Which tabs there are is known with the loops: they are awaited, so that none appears under somebody's finger.
            <Answer of={loops} what="the loops">
              {({ kinds }) => {
                const hasLoop = kinds.find(({ kind }) => kind === resource.kind)?.everySeconds !== undefined;
                return <Found about={{ organization, path, resource }} hasLoop={hasLoop} />;
              }}
            </Answer>
          )}
        </Answer>
      ) : (
        <Missing organization={organization} path={path} words={missing} />
      )}
    </>
  );
}

function Found({ about, hasLoop }: { about: AboutObject; hasLoop: boolean }) {
  const { organization, path, resource } = about;
  const { tab = "overview" } = objectRoute.useSearch();
  const inSight = useInSight();
  return (
    <>
      <PageHeader title={resource.metadata.name} lead={<Facts resource={resource} />}>
        <ObjectActions {...about} hasLoop={hasLoop} />
      </PageHeader>
      <AxesHeader resource={resource} />
      <nav aria-label="Parts of the object" className="mt-4 mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {tabs
          .filter(({ needsLoop }) => needsLoop !== true || hasLoop)
          .map((entry) => (
            <Link
              key={entry.tab}
              ref={entry.tab === tab ? inSight : undefined}
              to="/o/$organization/objects/$"
              params={{ organization, _splat: path }}
              search={entry.tab === "overview" ? {} : { tab: entry.tab }}
              aria-current={entry.tab === tab ? "page" : undefined}
              className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium whitespace-nowrap ${entry.tab === tab ? "border-accent text-accent" : "border-transparent text-soft hover:text-ink"}`}
            >
              {entry.title}
            </Link>
          ))}
      </nav>
      {tab === "overview" ? <OverviewTab {...about} hasLoop={hasLoop} /> : undefined}
      {tab === "differences" && hasLoop ? <DifferencesTab {...about} /> : undefined}
      {tab === "spec" ? <SpecTab {...about} /> : undefined}
      {tab === "history" ? <HistoryTab {...about} /> : undefined}
      {tab === "outside" && hasLoop ? <OutsideTab {...about} /> : undefined}
      {tab === "as" ? <AsTab {...about} /> : undefined}
    </>
  );
}

/** What the API says where there is nothing under an address. */
function missingWords(error: unknown): string | undefined {
  return error instanceof ApiProblem && error.problem.status === 404 ? error.message : undefined;
}

/** A link outlives what it leads to: what can be known of it is elsewhere. */
function Missing({ organization, path, words }: { organization: string; path: string; words: string }) {
  const name = path.split("/").at(-1) ?? path;
  const link = "text-accent underline";
  return (
    <>
      <PageHeader title={name} />
      <Panel>
        <Empty icon="question" title={words}>
          It never was there, or it was deleted. See{" "}
          <Link to="/o/$organization/inventory" params={{ organization }} search={{ name }} className={link}>
            what has that name now
          </Link>{" "}
          or{" "}
          <Link to="/o/$organization/audit" params={{ organization }} search={{ resource: name }} className={link}>
            what was done to it
          </Link>
          .
        </Empty>
      </Panel>
    </>
  );
}

export interface AboutObject {
  readonly organization: string;
  /** Below the organization, in the words of the API's routes. */
  readonly path: string;
  readonly resource: ResourceDocument;
}

function Facts({ resource }: { resource: ResourceDocument }) {
  const { kind, metadata } = resource;
  const scope = [metadata.project, metadata.workspace].filter((part) => part !== undefined).join(" / ");
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <b className="font-medium text-ink">{kind}</b>
      <span>in {scope === "" ? `organization ${metadata.organization}` : scope}</span>
      <span>
        generation {metadata.generation}, declared by {metadata.declaredBy} <Ago at={metadata.declaredAt} />
      </span>
      {metadata.protect ? (
        <Chip tone="accent" icon="shield">
          protected
        </Chip>
      ) : undefined}
      {metadata.deletion === undefined ? undefined : (
        <Chip tone="bad" icon="trash" breaks>
          being deleted by {metadata.deletion.by}
        </Chip>
      )}
      <Labels labels={metadata.labels} />
    </span>
  );
}

/** As many as leave what matters on the first screen. */
const labelsAtOnce = 6;

function Labels({ labels }: Pick<ResourceDocument["metadata"], "labels">) {
  const [isWhole, setIsWhole] = useState(false);
  const all = Object.entries(labels);
  const more = all.length - labelsAtOnce;
  return (
    <>
      {(isWhole ? all : all.slice(0, labelsAtOnce)).map(([key, value]) => (
        <Chip key={key} tone="plain" breaks>
          {key}={value}
        </Chip>
      ))}
      {more > 0 ? (
        <button
          type="button"
          aria-expanded={isWhole}
          className="min-h-6 text-accent underline"
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? "fewer labels" : `${more} more label${more === 1 ? "" : "s"}`}
        </button>
      ) : undefined}
    </>
  );
}
