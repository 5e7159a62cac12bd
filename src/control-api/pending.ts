import type { Kind } from "../kernel/kind.ts";
import type { ResourceView } from "../ports/read-store.ts";
import type { ApiContext } from "./context.ts";
import { isoTime } from "./iso-time.ts";
import { scopeNames } from "./names.ts";
import type { PendingDocument } from "./schemas/governance.ts";
import type { ResolvedScope } from "./scope.ts";

const shownAtMost = 200;
const pageSize = 200;
const readAtMost = 5_000;

/** The resources of an organization that differ from their declaration, or wait to be looked at. Bounded, and says so. */
export async function pendingChanges(context: ApiContext, organization: ResolvedScope): Promise<PendingDocument> {
  const { organizationId } = organization;
  const scopes = await context.reads.listScopes(organizationId);
  const kinds = [...context.kinds.values()].filter((kind) => kind.loop !== undefined);
  const items: PendingDocument["items"] = [];
  let read = 0;
  for (const { scope } of scopes) {
    for (const kind of kinds) {
      let afterName: string | undefined;
      do {
        const views = await context.reads.listResources({
          organizationId,
          scope,
          kind: kind.kind,
          labels: {},
          afterName,
          limit: pageSize,
        });
        items.push(...views.filter(isPending).map((view) => pendingItem(kind, view)));
        read += views.length;
        afterName = views.length < pageSize ? undefined : views.at(-1)?.resource.name;
        if (items.length > shownAtMost || read > readAtMost)
          return { items: items.slice(0, shownAtMost), truncated: true };
      } while (afterName !== undefined);
    }
  }
  return { items, truncated: false };
}

function isPending(view: ResourceView): boolean {
  return view.subjects.some(
    ({ status, dueAtMs }) => status === undefined || status.differences > 0 || dueAtMs !== undefined,
  );
}

function pendingItem(kind: Kind, view: ResourceView): PendingDocument["items"][number] {
  const statuses = view.subjects.flatMap(({ status }) => (status === undefined ? [] : [status]));
  const looks = statuses.flatMap(({ lookedAtMs }) => (lookedAtMs === undefined ? [] : [lookedAtMs]));
  const ready = statuses.flatMap(({ conditions }) => conditions.filter(({ type }) => type === "Ready"));
  const { project, workspace } = scopeNames(view.resource.scope);
  return {
    kind: kind.kind,
    name: view.resource.name,
    scope: [project, workspace].filter((name) => name !== undefined).join("/"),
    differences: statuses.reduce((sum, status) => sum + status.differences, 0),
    message: ready[0]?.message ?? "not looked at yet",
    ...(looks.length === 0 ? {} : { lookedAt: isoTime(Math.min(...looks)) }),
  };
}
