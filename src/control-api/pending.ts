import { isoTime } from "../kernel/iso-time.ts";
import type { LeftToDo } from "../ports/governance-store.ts";
import type { Caller } from "./access/caller.ts";
import type { ApiContext } from "./context.ts";
import { mayRead, resourceLink, scopeLabel } from "./resource-link.ts";
import type { PendingDocument } from "./schemas/governance.ts";
import type { ResolvedScope } from "./scope.ts";

const shownAtMost = 200;
const readAtMost = 5_000;

/**
 * What differs from its declaration or waits to be looked at, below a scope of a pause. It is read from what is left to do,
 * so that what is as declared costs nothing. Bounded, and says so.
 */
export async function pendingChanges(
  context: ApiContext,
  organization: Pick<ResolvedScope, "organization" | "organizationId">,
  asked: { readonly caller: Caller; readonly under: string | undefined },
): Promise<PendingDocument> {
  const { organizationId } = organization;
  const { caller, under } = asked;
  const left = await context.governance.leftToDo({ organizationId, under, kind: undefined, limit: readAtMost + 1 });
  const items = left
    .slice(0, readAtMost)
    .filter((entry) => mayRead(context.kinds, caller, organization.organization, entry))
    .map((entry) => pendingItem(context, organization.organization, entry));
  const free = items.filter(({ blockedBy }) => blockedBy.length === 0);
  return {
    items: items.slice(0, shownAtMost),
    totals: {
      resources: items.length,
      wouldRun: free.length,
      actions: summed(items),
      wouldDo: summed(free),
    },
    truncated: items.length > shownAtMost || left.length > readAtMost,
  };
}

function pendingItem(context: ApiContext, organization: string, left: LeftToDo): PendingDocument["items"][number] {
  const { summary } = left;
  const actions = { ...summary?.actions };
  const blockedBy = (summary?.guards ?? []).filter((guard) => guard !== "pause");
  return {
    kind: left.kind,
    name: left.name,
    scope: scopeLabel(left.scope),
    link: resourceLink(context.kinds, organization, left),
    differences: Object.values(actions).reduce((sum, count) => sum + count, 0),
    actions,
    message: messageOf(left, blockedBy),
    blockedBy,
    since: isoTime(left.sinceMs),
    ...(left.lookedAtMs === undefined ? {} : { lookedAt: isoTime(left.lookedAtMs) }),
  };
}

function messageOf({ summary, lookedAtMs }: LeftToDo, blockedBy: readonly string[]): string {
  if (summary === undefined)
    return lookedAtMs === undefined ? "not looked at yet" : "something changed, and it was not looked at since";
  const words = Object.entries(summary.actions).map(([action, count]) => `${count} to ${action}`);
  return blockedBy.length === 0 ? words.join(", ") : `${words.join(", ")}; held back by ${blockedBy.join(", ")}`;
}

function summed(items: readonly { readonly actions: Readonly<Record<string, number>> }[]): Record<string, number> {
  return items.reduce<Record<string, number>>((sum, { actions }) => added(sum, actions), {});
}

function added(sum: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>): Record<string, number> {
  const total = { ...sum };
  for (const [action, count] of Object.entries(more)) total[action] = (total[action] ?? 0) + count;
  return total;
}
