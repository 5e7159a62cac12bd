import type { ListKey } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { scopeLabel } from "../resource-link.ts";
import type { RouteAnswer } from "../route.ts";
import type { FiguresDocument, OverviewQuery } from "../schemas/overview.ts";
import type { ResourceDocument } from "../schemas/resource.ts";
import { type ResolvedScope, requireScope } from "../scope.ts";
import { cursorText } from "../watch/cursor.ts";
import { filtersOf, readyOf } from "./listing.ts";
import { listNamed } from "./named.ts";
import { keyOfToken, pageToken } from "./page-token.ts";
import { idOf, type ReadableList, readableLists } from "./readable-lists.ts";

/** Lists that one request looks through at most; a rare combination of filters goes on with the next page. */
const listsAtMost = 100;

/** Resources of every kind and scope, one list after the other: by kind, then scope, then name. */
export async function listEverything(
  context: ApiContext,
  organization: string,
  query: OverviewQuery,
  caller: Caller,
): Promise<RouteAnswer> {
  const place = await requireScope(context, {
    organization,
    project: query.project,
    workspace: query.workspace,
  });
  if (query.paths !== undefined) {
    const position = cursorText(await context.reads.logPosition());
    return { status: 200, body: { items: await listNamed(context, place, query, caller), metadata: { position } } };
  }
  const asked = { everythingOf: place.organizationId, ...query, pageSize: undefined, pageToken: undefined };
  const from = query.pageToken === undefined ? undefined : keyOfToken(query.pageToken, asked);
  const position = await context.reads.logPosition();
  const lists = await listsOf(context, place, query, caller);
  const begin = from === undefined ? 0 : lists.findIndex((list) => idOf(list) === from.id);
  // A list that the token names may have been emptied meanwhile; those behind it sort behind its name.
  const start = begin >= 0 ? begin : lists.findIndex((list) => idOf(list) > (from?.id ?? ""));
  const found = await pagesOf(context, place, {
    lists: start < 0 ? [] : lists.slice(start, start + listsAtMost),
    after: begin >= 0 ? from : undefined,
    query,
  });
  const more = found.next ?? beginOf(start < 0 ? undefined : lists[start + listsAtMost]);
  const next = more === undefined ? {} : { nextPageToken: pageToken(more, asked) };
  return { status: 200, body: { items: found.items, ...next, metadata: { position: cursorText(position) } } };
}

async function listsOf(
  context: ApiContext,
  place: ResolvedScope,
  query: OverviewQuery,
  caller: Caller,
): Promise<readonly ReadableList[]> {
  const { kind, project, workspace } = query;
  if (kind !== undefined && !context.kinds.has(kind))
    throw new Problem("KIND_UNKNOWN", `There is no kind "${kind}". Kinds: ${[...context.kinds.keys()].join(", ")}`);
  const asksForStatus = [query.ready, query.drifted, query.held].some((value) => value !== undefined);
  const readable = (await readableLists(context, caller, place)).filter((list) => {
    const names = scopeNames(list.scope);
    if (kind !== undefined && list.kind !== kind) return false;
    if (project !== undefined && names.project !== project) return false;
    if (workspace !== undefined && names.workspace !== workspace) return false;
    // What has no loop has no status of its own.
    return !asksForStatus || list.of.loop !== undefined;
  });
  const filled = await context.reads.filledLists({ organizationId: place.organizationId, lists: readable });
  const there = new Set(filled.map((list) => idOf(list)));
  return readable.filter((list) => there.has(idOf(list)));
}

async function pagesOf(
  context: ApiContext,
  { organization, organizationId }: ResolvedScope,
  request: {
    readonly lists: readonly ReadableList[];
    readonly after: ListKey | undefined;
    readonly query: OverviewQuery;
  },
): Promise<{ readonly items: readonly ResourceDocument[]; readonly next?: ListKey }> {
  const { lists, query } = request;
  const documents = new ResourceDocuments(context, organization);
  const items: ResourceDocument[] = [];
  let after = request.after === undefined || request.after.name === "" ? undefined : request.after;
  for (const [index, { of, kind, scope }] of lists.entries()) {
    const filters = filtersOf(of, { ...query, sort: "name", watch: false });
    const limit = query.pageSize - items.length;
    const page = await context.reads.listPage({ organizationId, scope, kind, ...filters, after, limit });
    const shown = await documents.documents(of, page.views);
    items.push(...shown.filter((one) => filters.ready === undefined || readyOf(one) === filters.ready));
    if (page.next !== undefined) return { items, next: { ...page.next, id: idOf({ kind, scope }) } };
    const following = lists[index + 1];
    if (items.length >= query.pageSize && following !== undefined) return { items, next: beginOf(following) ?? page0 };
    after = undefined;
  }
  return { items };
}

const page0: ListKey = { name: "", ms: 0, id: "" };

function beginOf(list: ReadableList | undefined): ListKey | undefined {
  return list === undefined ? undefined : { name: "", ms: 0, id: idOf(list) };
}

/** How many there are of what the caller may read. */
export async function figuresOf(context: ApiContext, organization: string, caller: Caller): Promise<FiguresDocument> {
  const place = await requireScope(context, { organization });
  const readable = new Set((await readableLists(context, caller, place)).map((list) => idOf(list)));
  const figures = await context.reads.figures(place.organizationId);
  return {
    items: figures
      .filter((entry) => readable.has(idOf(entry)))
      .map(({ scope, ...entry }) => ({ ...entry, scope: scopeLabel(scope) })),
  };
}
