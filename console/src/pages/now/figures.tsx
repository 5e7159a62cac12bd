import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { figuresQuery } from "../../api/queries.ts";
import type { FiguresDocument } from "../../api/types.ts";
import type { IconName } from "../../components/icons.tsx";
import { Mark, type Tone } from "../../components/mark.tsx";
import type { InventorySearch } from "../inventory/route.tsx";

/** How many there are, and how many of them are not as they should be; each leads to its rows. */
export function Figures({ organization }: { organization: string }) {
  const figures = useQuery(figuresQuery(organization));
  const sum = (of: keyof FiguresDocument["items"][number]) =>
    (figures.data ?? []).reduce((total, entry) => total + Number(entry[of]), 0);
  const tiles: readonly { title: string; count: number; tone: Tone; icon: IconName; search: InventorySearch }[] = [
    { title: "Resources", count: sum("total"), tone: "plain", icon: "stack", search: {} },
    { title: "Not ready", count: sum("notReady"), tone: "bad", icon: "cross", search: { ready: "no" } },
    { title: "Differ", count: sum("drifted"), tone: "warn", icon: "differs", search: { only: "drifted" } },
    { title: "Held", count: sum("held"), tone: "hold", icon: "hand", search: { only: "held" } },
    { title: "Unknown", count: sum("unknown"), tone: "plain", icon: "question", search: { ready: "unknown" } },
    { title: "Being deleted", count: sum("deleting"), tone: "plain", icon: "trash", search: { only: "deleting" } },
  ];
  return (
    <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 lg:grid-cols-6">
      {tiles.map(({ title, count, tone, icon, search }) => (
        <li key={title}>
          <Link
            to="/o/$organization/inventory"
            params={{ organization }}
            search={search}
            className="block h-full bg-panel px-3.5 py-2.5 hover:bg-sunken"
          >
            <Mark tone={count === 0 ? "plain" : tone} icon={icon}>
              {title}
            </Mark>
            <span className="block text-xl font-semibold tabular-nums">{figures.data === undefined ? "–" : count}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
