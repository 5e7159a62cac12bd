import type { ListKey, ListPage, ListRequest, LogPosition } from "../ports/read-store.ts";
import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { resourceView } from "./resource-view.ts";
import { type ListDrive, type ListKeyRow, lastStatements, pageStatements } from "./sql/listing.ts";
import { type LogPositionRow, logPosition } from "./sql/log-reads.ts";
import { call, type SqlValue } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** A page looks at so many candidates at most, however few of them match: then it is short, and the next one goes on. */
const candidatesOfPage = 3_000;
/** Where each candidate must be looked up by its name, and where several labels each have theirs. */
const candidatesLookedUp = 1_500;
const candidatesOfTerm = 1_000;

/** Keys on either side of every list. No character of a name sorts behind a tilde; ids decide only between equal times. */
const beforeAll: ListKey = { name: "", ms: -1, id: "0" };
const behindAll: ListKey = { name: "~", ms: Number.MAX_SAFE_INTEGER, id: "0" };

/**
 * One page. It is read along the index that fits the request best; what that index does not know is filtered. The end of the
 * log is read by a statement before, so that whatever the page lacks comes behind it.
 */
export async function listPage(database: Database, request: ListRequest): Promise<ListPage> {
  const drive = driveOf(request);
  const key = `${drive} ${request.descending ? "desc" : "asc"}`;
  const [page, last] = [pageStatements.get(key), lastStatements.get(key)];
  if (page === undefined || last === undefined) throw new StoreError("INTERNAL", `There is no list by ${key}.`);
  const tenant = requireOrganizationId(request.organizationId);
  const values = valuesOf(request, drive);
  const [[position], rows] = await database.transact(tenant, [call(logPosition), call(page, ...values)]);
  const shown = rows.slice(0, request.limit);
  const views = shown.map(resourceView);
  if (rows.length > request.limit) return { views, next: keyOf(shown.at(-1)), position: positionOf(position) };
  // Not filled: either the list is at its end, or the page has looked at all it may.
  const [behind] = drive === "name" && !isFiltered(request) ? [] : await database.run(tenant, call(last, ...values));
  return { views, next: keyOf(behind), position: positionOf(position) };
}

export function positionOf(row: LogPositionRow | undefined): LogPosition {
  if (row === undefined)
    throw new StoreError("DATABASE_NOT_MIGRATED", "The database has no log. Run the migrations first.");
  const { incarnation, position, checkpoint_position, now_ms } = row;
  return { incarnation, position, cutPosition: checkpoint_position, nowMs: now_ms };
}

/** What is rarest comes first: a list of what is held reads only that. */
function driveOf(request: ListRequest): ListDrive {
  if (request.sort !== "name") return request.sort === "declaredAt" ? "declared" : "updated";
  if (request.held === true) return "held";
  if (request.deleting === true) return "deleting";
  if (request.drifted === true) return "drifted";
  if (request.ready === "False" || request.ready === "Unknown") return "unready";
  const terms = termsOf(request).length;
  return terms === 0 ? "name" : terms === 1 ? "term" : "terms";
}

function isFiltered({ labels, mode, deleting, ready, drifted, held }: ListRequest): boolean {
  return labels.length > 0 || [mode, deleting, ready, drifted, held].some((value) => value !== undefined);
}

/** The terms of the first requirement that names some: a resource must have one of them. */
function termsOf({ labels }: ListRequest): readonly string[] {
  const found = labels.find(({ op }) => op === "in") ?? labels.find(({ op }) => op === "exists");
  if (found === undefined) return [];
  return found.op === "exists" ? [found.key] : [...new Set(found.values)].map((value) => `${found.key}=${value}`);
}

function valuesOf(request: ListRequest, drive: ListDrive): readonly SqlValue[] {
  const { organizationId, scope, kind, after, namePrefix, labels } = request;
  const terms = termsOf(request);
  const begin = after ?? (request.descending ? behindAll : beforeAll);
  return [
    organizationId,
    scope,
    kind,
    begin.name,
    begin.ms,
    begin.id,
    candidatesOf(drive),
    request.limit + 1,
    namePrefix ?? beforeAll.name,
    `${namePrefix ?? ""}${behindAll.name}`,
    request.mode ?? null,
    request.deleting ?? null,
    labels.length === 0 ? null : JSON.stringify(labels),
    request.ready ?? null,
    request.drifted ?? null,
    request.held ?? null,
    terms.length === 0 ? null : terms,
  ];
}

function candidatesOf(drive: ListDrive): number {
  if (drive === "terms") return candidatesOfTerm;
  return drive === "name" || drive === "declared" || drive === "deleting" ? candidatesOfPage : candidatesLookedUp;
}

function keyOf(row: ListKeyRow | undefined): ListKey | undefined {
  return row === undefined ? undefined : { name: row.key_name, ms: row.key_ms, id: row.key_id };
}
