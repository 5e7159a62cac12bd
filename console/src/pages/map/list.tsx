import { Panel } from "../../components/panel.tsx";
import { EntryAxes, PlanMark } from "./card.tsx";
import { areaTitle, type Entry } from "./entries.ts";

/** The same as a list, for small screens and for whoever prefers it: what is chosen shows its relations. */
export function MapList({
  entries,
  plan,
  chosen,
  choose,
}: {
  entries: readonly Entry[];
  plan: boolean;
  chosen: string | undefined;
  choose: (id: string) => void;
}) {
  return (
    <div className="space-y-3">
      {[...Map.groupBy(entries, ({ area }) => area)].map(([area, members]) => (
        <Panel key={area} flush title={areaTitle(area)} aside={<span className="tabular-nums">{members.length}</span>}>
          <ul className="divide-y divide-line">
            {members.map((entry) => (
              <li key={entry.id}>
                <button
                  type="button"
                  aria-pressed={entry.id === chosen}
                  onClick={() => choose(entry.id)}
                  className={`block w-full px-3.5 py-2 text-left ${entry.id === chosen ? "bg-accent-wash" : "hover:bg-sunken"}`}
                >
                  <span className="block truncate text-sm" title={entry.title}>
                    <span className="text-soft">{entry.card === undefined ? "group " : `${entry.kind}/`}</span>
                    <span className="font-medium">{entry.title}</span>
                  </span>
                  <span className="mt-0.5 flex flex-wrap gap-x-3">
                    {plan ? <PlanMark planned={entry.planned} /> : <EntryAxes entry={entry} />}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
    </div>
  );
}
