import { Link } from "@tanstack/react-router";
import type { MapDocument } from "../../api/types.ts";
import { Button, buttonClass } from "../../components/button.tsx";
import { Panel } from "../../components/panel.tsx";
import { EntryAxes, PlanMark } from "./card.tsx";
import { areaTitle, type Entry } from "./entries.ts";

/** What is known of the card that was chosen, what it relates to, and where to go from it. */
export function Details({
  organization,
  entry,
  entries,
  edges,
  plan,
  choose,
  focus,
}: {
  organization: string;
  entry: Entry;
  entries: readonly Entry[];
  edges: MapDocument["edges"];
  plan: boolean;
  choose: (id: string | undefined) => void;
  focus: (id: string) => void;
}) {
  const byId = new Map(entries.map((one) => [one.id, one]));
  const ends = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const project = entry.area.split("/")[0] ?? "";
  return (
    <Panel
      title={<span className="break-words">{entry.title}</span>}
      aside={
        <Button tone="quiet" onClick={() => choose(undefined)}>
          Close
        </Button>
      }
    >
      <p className="text-sm text-soft">
        {entry.kind} in {areaTitle(entry.area)}
      </p>
      <div className="my-2 grid grid-cols-2 gap-x-3 gap-y-0.5">
        <EntryAxes entry={entry} />
      </div>
      {plan ? <PlanMark planned={entry.planned} /> : undefined}
      <div className="mt-2 flex flex-wrap gap-2">
        {entry.path === undefined ? (
          <Link
            to="/o/$organization/inventory"
            params={{ organization }}
            search={{ kind: entry.kind, ...(project === "" ? {} : { project }) }}
            className={buttonClass()}
          >
            Open as a table
          </Link>
        ) : (
          <>
            <Link
              to="/o/$organization/objects/$"
              params={{ organization, _splat: entry.path }}
              className={buttonClass("primary")}
            >
              Open
            </Link>
            <Button icon="search" onClick={() => focus(entry.id)}>
              Focus on this
            </Button>
          </>
        )}
      </div>
      <Ends
        title="Refers to"
        found={ends(edges.filter(({ from }) => from === entry.id).map(({ to }) => to))}
        choose={choose}
      />
      <Ends
        title="Referred to by"
        found={ends(edges.filter(({ to }) => to === entry.id).map(({ from }) => from))}
        choose={choose}
      />
    </Panel>
  );
}

function Ends({ title, found, choose }: { title: string; found: readonly Entry[]; choose: (id: string) => void }) {
  return (
    <section className="mt-3">
      <h3 className="text-xs font-medium text-soft">
        {title} <span className="tabular-nums">({found.length})</span>
      </h3>
      <ul className="max-h-48 overflow-y-auto">
        {found.map((entry) => (
          <li key={entry.id} className="py-1">
            <button
              type="button"
              className="max-w-full truncate text-left text-sm text-accent hover:underline"
              onClick={() => choose(entry.id)}
            >
              <span className="text-soft">{entry.kind}/</span>
              {entry.title}
            </button>
            <div className="grid grid-cols-2 gap-x-2 [&_span]:!text-xs">
              <EntryAxes entry={entry} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
