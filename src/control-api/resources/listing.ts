import type { Kind } from "../../kernel/kind.ts";
import type { LabelRequirement, ListRequest } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import type { RouteAnswer } from "../route.ts";
import type { ScopeParameters } from "../schemas/common.ts";
import type { ResourceListQuery } from "../schemas/resource-query.ts";
import type { ResourceDocument } from "../schemas/resource.ts";
import { requireScope } from "../scope.ts";
import { cursorText, requireCursor } from "../watch/cursor.ts";
import { WatchStream } from "../watch/watch-stream.ts";
import { parseSelector } from "./label-selector.ts";
import { keyOfToken, pageToken } from "./page-token.ts";
import { placeOf } from "./place.ts";

const readyWords = { true: "True", false: "False", unknown: "Unknown" } as const;

export async function listResources(
  context: ApiContext,
  kind: Kind,
  parameters: ScopeParameters,
  query: ResourceListQuery,
): Promise<RouteAnswer> {
  requireLoopFor(kind, query);
  const { organization, organizationId, scope } = placeOf(parameters);
  const asked = { organizationId, scope, kind: kind.kind, ...filtersOf(kind, query) };
  const after = query.pageToken === undefined ? undefined : keyOfToken(query.pageToken, asked);
  const page = await context.reads.listPage({ ...asked, after, limit: query.pageSize });
  // An empty list never stands for a typing error in the path.
  if (page.views.length === 0) await requireScope(context, parameters);
  const documents = await new ResourceDocuments(context, organization).documents(kind, page.views);
  const items = documents.filter((document) => asked.ready === undefined || readyOf(document) === asked.ready);
  const next = page.next === undefined ? {} : { nextPageToken: pageToken(page.next, asked) };
  return { status: 200, body: { items, ...next, metadata: { position: cursorText(page.position) } } };
}

/** The same list, for as long as somebody listens. */
export async function watchResources(
  context: ApiContext,
  kind: Kind,
  request: {
    readonly parameters: ScopeParameters;
    readonly query: ResourceListQuery;
    readonly lastEventId: string | undefined;
    readonly caller: Caller;
  },
): Promise<RouteAnswer> {
  const { parameters, query, caller } = request;
  requireWatchable(query);
  const place = await requireScope(context, parameters);
  // Whoever comes back says where it was; that is newer than the address it began with.
  const cursor = request.lastEventId ?? query.cursor;
  const from = cursor === undefined ? undefined : requireCursor(cursor, await context.reads.logPosition());
  const { labels, namePrefix, mode } = filtersOf(kind, query);
  const watch = {
    list: { ...place, kind },
    filter: { labels, namePrefix, mode },
    from,
    caller,
    path: scopePathOf(parameters),
  };
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    stream: (stream) => void new WatchStream(context, watch, stream).run(),
  };
}

type Filters = Omit<ListRequest, "organizationId" | "scope" | "kind" | "after" | "limit">;

export function filtersOf(kind: Kind, query: ResourceListQuery): Filters {
  const { sort, ready } = query;
  const descending = sort.startsWith("-");
  const key = sort.replace("-", "") as ListRequest["sort"];
  return {
    labels: labelsOf(query.labels),
    namePrefix: query.namePrefix,
    mode: query.mode,
    deleting: query.deleting,
    ready: ready === undefined ? undefined : readyWords[ready],
    drifted: query.drifted,
    held: query.held,
    // What has no status of its own was last changed when it was last declared.
    sort: key === "updated" && kind.loop === undefined ? "declaredAt" : key,
    descending,
  };
}

function labelsOf(text: string | undefined): readonly LabelRequirement[] {
  if (text === undefined) return [];
  const parsed = parseSelector(text);
  if (parsed.ok) return parsed.requirements;
  throw refused("labels", parsed.message);
}

function requireLoopFor(kind: Kind, { ready, drifted, held }: ResourceListQuery): void {
  if (kind.loop !== undefined || [ready, drifted, held].every((value) => value === undefined)) return;
  const name = ready !== undefined ? "ready" : drifted !== undefined ? "drifted" : "held";
  throw refused(name, `a ${kind.kind} has no loop and no status of its own: ask for that of what it is part of`);
}

function requireWatchable(query: ResourceListQuery): void {
  const { ready, drifted, held, deleting, pageToken: token, sort } = query;
  const given = Object.entries({ ready, drifted, held, deleting, pageToken: token }).find(
    ([, value]) => value !== undefined,
  );
  const [name] = given ?? (sort === "name" ? [] : ["sort"]);
  if (name !== undefined) throw refused(name, "a watch takes labels, namePrefix and mode; the rest belongs to pages");
}

function refused(name: string, message: string): Problem {
  return new Problem("FIELDS_INVALID", `${name}: ${message}`, { errors: [{ pointer: `/${name}`, message }] });
}

export function readyOf({ status }: ResourceDocument): string | undefined {
  return status.conditions.find(({ type }) => type === "Ready")?.status;
}
