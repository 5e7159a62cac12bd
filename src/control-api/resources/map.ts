import type { ListFigures, PlacedName, Relation, ResourceView } from "../../ports/read-store.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { mayRead, scopeLabel } from "../resource-link.ts";
import { cardsAtMost, type MapDocument, type MapQuery } from "../schemas/map.ts";
import { type ResolvedScope, requireScope } from "../scope.ts";
import { filtersOf } from "./listing.ts";
import { idOf, type ReadableList, readableLists } from "./readable-lists.ts";

/** Relations of one resource that are followed, and members of a group that are asked for theirs. */
const relationsEach = 100;
const membersAsked = 50;

interface MapRequest {
  readonly place: ResolvedScope;
  readonly query: MapQuery;
  readonly caller: Caller;
}

/** What relates to what, bounded: a neighbourhood, or everything with long lists as one group each. */
export async function mapOf(
  context: ApiContext,
  organization: string,
  query: MapQuery,
  caller: Caller,
): Promise<MapDocument> {
  const { project, workspace, kind } = query;
  const place = await requireScope(context, { organization, project, workspace });
  if (kind !== undefined && !context.kinds.has(kind))
    throw new Problem("KIND_UNKNOWN", `There is no kind "${kind}". Kinds: ${[...context.kinds.keys()].join(", ")}`);
  const request = { place, query, caller };
  return query.focus === undefined
    ? await wholeMap(context, request)
    : await neighbourhood(context, request, query.focus);
}

async function wholeMap(context: ApiContext, { place, query, caller }: MapRequest): Promise<MapDocument> {
  const { organizationId, organization } = place;
  const readable = new Map((await readableLists(context, caller, place)).map((list) => [idOf(list), list]));
  const figures = (await context.reads.figures(organizationId)).filter(
    (list) => readable.has(idOf(list)) && isAskedFor(list, query),
  );
  const { drawn, grouped, leftOut } = shared(figures);
  const documents = new ResourceDocuments(context, organization);
  const cards: MapDocument["cards"] = [];
  const names = new Map<string, string>();
  for (const figure of drawn) {
    const { of, scope, kind } = readable.get(idOf(figure)) as ReadableList;
    const filters = filtersOf(of, { sort: "name", watch: false, pageSize: cardsAtMost });
    // It may have grown since it was counted.
    const limit = Math.min(cardsAtMost - cards.length, figure.total);
    const page = await context.reads.listPage({ organizationId, scope, kind, ...filters, after: undefined, limit });
    for (const { resource } of page.views) names.set(keyOf(resource), resource.uid);
    cards.push(...(await documents.documents(of, page.views)).map(withoutSpec));
  }
  const groups = grouped.map(({ scope, ...figure }) => ({
    id: groupId(figure.kind, scope),
    scope: scopeLabel(scope),
    ...figure,
  }));
  const relations = await context.reads.relationsFrom({
    organizationId,
    uids: [...names.values()],
    each: relationsEach,
  });
  const ofGroups =
    grouped.length === 0
      ? []
      : await context.reads.relationsOfLists({ organizationId, lists: grouped, first: membersAsked });
  const known = new Set(groups.map(({ id }) => id));
  const idFor = (to: PlacedName) => names.get(keyOf(to)) ?? groupId(to.kind, to.scope);
  const edges = [
    ...relations.map(({ from, to }) => ({ from: from.uid, to: idFor(to) })),
    ...ofGroups.map(({ from, to }) => ({ from: groupId(from.kind, from.scope), to: idFor(to) })),
  ];
  const ids = new Set([...names.values(), ...known]);
  return { cards, groups, edges: distinct(edges, ids), leftOut, truncated: false };
}

function isAskedFor({ kind, scope }: ListFigures, query: MapQuery): boolean {
  const { project, workspace } = scopeNames(scope);
  return (
    (query.kind === undefined || query.kind === kind) &&
    (query.project === undefined || query.project === project) &&
    (query.workspace === undefined || query.workspace === workspace)
  );
}

/** Short lists are drawn one by one, shortest first, for as long as there is room beside a group for each of the others. */
function shared(figures: readonly ListFigures[]) {
  const kept = figures.toSorted((left, right) => left.total - right.total).slice(0, cardsAtMost);
  let room = cardsAtMost - kept.length;
  const drawn = new Set<ListFigures>();
  for (const figure of kept) {
    if (figure.total - 1 > room) break;
    room -= figure.total - 1;
    drawn.add(figure);
  }
  const left = figures.filter((figure) => !kept.includes(figure));
  return {
    drawn: figures.filter((figure) => drawn.has(figure)),
    grouped: figures.filter((figure) => kept.includes(figure) && !drawn.has(figure)),
    leftOut: { groups: left.length, resources: left.reduce((sum, { total }) => sum + total, 0) },
  };
}

/** Breadth first, both ways, through nothing that the caller may not read. */
async function neighbourhood(context: ApiContext, request: MapRequest, focus: string): Promise<MapDocument> {
  const { place, query, caller } = request;
  const { organizationId, organization } = place;
  const isReadable = (placed: PlacedName) => mayRead(context.kinds, caller, organization, placed);
  const [found] = await context.reads.resourcesByUid({ organizationId, uids: [focus] });
  if (found === undefined || !isReadable(found.resource))
    throw new Problem("NOT_FOUND", `There is no resource with the uid "${focus}" in organization "${organization}"`);
  const views = new Map([[keyOf(found.resource), found]]);
  const relations: Relation[] = [];
  let truncated = false;
  let frontier: readonly ResourceView[] = [found];
  for (let hop = 0; hop < query.hops && frontier.length > 0; hop++) {
    const { around, cut } = await relationsAround(context, organizationId, frontier);
    relations.push(...around);
    const named = around
      .flatMap(({ from, to }) => [from, to])
      .filter((end) => !views.has(keyOf(end)) && isReadable(end));
    const next = [...new Map(named.map((end) => [keyOf(end), end])).values()];
    const room = cardsAtMost - views.size;
    truncated ||= cut || next.length > room;
    frontier = await context.reads.getResources({ organizationId, names: next.slice(0, room) });
    for (const view of frontier) views.set(keyOf(view.resource), view);
  }
  const edges = relations.map(({ from, to }) => ({ from: from.uid, to: views.get(keyOf(to))?.resource.uid ?? "" }));
  const cards = await cardsOf(context, organization, [...views.values()]);
  return {
    cards,
    groups: [],
    edges: distinct(edges, new Set(cards.map(({ metadata }) => metadata.uid))),
    leftOut: { resources: 0, groups: 0 },
    truncated,
  };
}

async function relationsAround(
  context: ApiContext,
  organizationId: string,
  views: readonly ResourceView[],
): Promise<{ readonly around: readonly Relation[]; readonly cut: boolean }> {
  const resources = views.map(({ resource }) => resource);
  const [from, to] = await Promise.all([
    context.reads.relationsFrom({ organizationId, uids: resources.map(({ uid }) => uid), each: relationsEach }),
    context.reads.relationsTo({ organizationId, names: resources, each: relationsEach }),
  ]);
  const reaches = (counted: readonly { readonly length: number }[]) =>
    counted.some(({ length }) => length >= relationsEach);
  const cut =
    reaches([...Map.groupBy(from, (relation) => relation.from.uid).values()]) ||
    reaches([...Map.groupBy(to, (relation) => keyOf(relation.to)).values()]);
  return { around: [...from, ...to], cut };
}

async function cardsOf(
  context: ApiContext,
  organization: string,
  views: readonly ResourceView[],
): Promise<MapDocument["cards"]> {
  const documents = new ResourceDocuments(context, organization);
  const cards: MapDocument["cards"] = [];
  for (const [name, ofKind] of Map.groupBy(views, ({ resource }) => resource.kind)) {
    const kind = context.kinds.get(name);
    if (kind !== undefined) cards.push(...(await documents.documents(kind, ofKind)).map(withoutSpec));
  }
  return cards;
}

function withoutSpec({
  spec: _,
  ...card
}: Awaited<ReturnType<ResourceDocuments["document"]>>): MapDocument["cards"][number] {
  return card;
}

/** Once each, between ends that are drawn, and from nothing to itself. */
function distinct(edges: MapDocument["edges"], ids: ReadonlySet<string>): MapDocument["edges"] {
  const drawn = edges.filter(({ from, to }) => from !== to && ids.has(from) && ids.has(to));
  return [...new Map(drawn.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()];
}

function groupId(kind: string, scope: string): string {
  return `group ${kind} ${scopeLabel(scope)}`;
}

function keyOf({ scope, kind, name }: PlacedName): string {
  return `${scope} ${kind} ${name}`;
}
