import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { mayRead, type Placed, placedAt } from "../resource-link.ts";
import type { OverviewQuery } from "../schemas/overview.ts";
import type { ResourceDocument } from "../schemas/resource.ts";
import type { ResolvedScope } from "../scope.ts";

const namedAtMost = 100;
/** What a question for these has beside filters; the size of a page has a default. */
const own: ReadonlySet<string> = new Set(["paths", "pageSize"]);

/** Resources by their routes below the organization, in the order of the question: how what a page names is, in one answer. */
export async function listNamed(
  context: ApiContext,
  { organization, organizationId }: ResolvedScope,
  query: OverviewQuery,
  caller: Caller,
): Promise<readonly ResourceDocument[]> {
  const names = requireNames(context, organization, query).filter((one) =>
    mayRead(context.kinds, caller, organization, one),
  );
  const views = await context.reads.getResources({ organizationId, names });
  const documents = new ResourceDocuments(context, organization);
  const found = new Map<string, ResourceDocument>();
  for (const [name, ofKind] of Map.groupBy(views, ({ resource }) => resource.kind)) {
    const kind = context.kinds.get(name);
    const made = kind === undefined ? [] : await documents.documents(kind, ofKind);
    for (const [index, document] of made.entries()) {
      const view = ofKind[index];
      if (view !== undefined) found.set(keyOf(view.resource), document);
    }
  }
  return names.flatMap((name) => found.get(keyOf(name)) ?? []);
}

function requireNames(context: ApiContext, organization: string, query: OverviewQuery): readonly Placed[] {
  const [beside] = Object.entries(query).find(([name, value]) => value !== undefined && !own.has(name)) ?? [];
  if (beside !== undefined) throw invalid(`goes with no other filter: leave out ${beside}`);
  const asked = [...new Set((query.paths ?? "").split(","))];
  if (asked.length > namedAtMost) throw invalid(`names ${asked.length} resources: at most ${namedAtMost} at a time`);
  return asked.map((path) => {
    const placed = placedAt(context.kinds, organization, path);
    if (placed !== undefined) return placed;
    throw invalid(`has "${path}": expected the route of a resource below the organization, such as projects/p/hosts/h`);
  });
}

function invalid(message: string): Problem {
  return new Problem("FIELDS_INVALID", `paths ${message}`, { errors: [{ pointer: "/paths", message }] });
}

function keyOf({ scope, kind, name }: Placed): string {
  return `${scope} ${kind} ${name}`;
}
