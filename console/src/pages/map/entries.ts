import type { LoopsDocument, MapDocument, PendingDocument } from "../../api/types.ts";
import { base } from "../../api/queries.ts";
import { pathOf } from "../../components/object-link.tsx";

type Card = MapDocument["cards"][number];
type Group = MapDocument["groups"][number];

/** What a plan does to one card. */
export interface Planned {
  readonly word: "New" | "Edited" | "Removed" | "Not looked at";
  readonly actions: Readonly<Record<string, number>>;
}

/** One thing on the map: a resource, or a list that is too long to be drawn one by one. */
export interface Entry {
  readonly id: string;
  /** The scope it is drawn in. */
  readonly area: string;
  readonly kind: string;
  readonly title: string;
  readonly card?: Card;
  readonly group?: Group;
  /** Below its organization, in the words of the API's routes. */
  readonly path?: string;
  readonly planned?: Planned | undefined;
}

export function entriesOf(
  organization: string,
  { cards, groups }: MapDocument,
  loops: LoopsDocument | undefined,
  pending: PendingDocument | undefined,
): readonly Entry[] {
  const items = pending?.items ?? [];
  const byLink = new Map(items.map((item) => [item.link, item]));
  const single = cards.map((card): Entry => {
    const { metadata, kind } = card;
    const path = pathOf(card, loops);
    const item = byLink.get(`${base(organization)}/${path}`);
    const removed = metadata.deletion !== undefined;
    const planned = item === undefined ? undefined : plannedOf([item.actions], removed);
    return { id: metadata.uid, area: areaOf(metadata), kind, title: metadata.name, card, path, planned };
  });
  const grouped = groups.map((group): Entry => {
    const { id, kind, scope, total } = group;
    const inside = items.filter((item) => item.kind === kind && item.scope === scope).map(({ actions }) => actions);
    const planned = inside.length === 0 ? undefined : plannedOf(inside, false);
    return { id, area: scope, kind, title: `${total.toLocaleString("en")} ${kind}s`, group, planned };
  });
  return [...single, ...grouped];
}

function areaOf({ project, workspace }: Card["metadata"]): string {
  return [project, workspace].filter((name) => name !== undefined).join("/");
}

function plannedOf(all: readonly Readonly<Record<string, number>>[], removed: boolean): Planned {
  const actions: Record<string, number> = {};
  for (const one of all)
    for (const [action, count] of Object.entries(one)) actions[action] = (actions[action] ?? 0) + count;
  const { create = 0 } = actions;
  const sum = Object.values(actions).reduce((total, count) => total + count, 0);
  if (removed) return { word: "Removed", actions };
  // It waits to be looked at; what would be done to it is not known before.
  if (sum === 0) return { word: "Not looked at", actions };
  return { word: create === sum ? "New" : "Edited", actions };
}

/** The scope as people name it. */
export function areaTitle(area: string): string {
  return area === "" ? "Organization" : area.split("/").join(" / ");
}
