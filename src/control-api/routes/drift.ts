import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import { effectivePolicy } from "../../kernel/policy.ts";
import type { LeftToDo } from "../../ports/governance-store.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { ignoreDocument } from "../ignore-document.ts";
import { Problem } from "../problem.ts";
import { mayRead, resourceLink, scopeLabel } from "../resource-link.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import { type DriftDocument, driftQuerySchema, driftSchema } from "../schemas/governance.ts";
import { requireScope } from "../scope.ts";

const namedAtMost = 20;

export function driftRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/organizations/{organization}/drift",
      summary: "What differs from its declaration, grouped by cause, the oldest first",
      need: { at: "visible", key: "organization" },
      tag: "drift",
      parameters: z.strictObject({ organization: nameSchema }),
      query: driftQuerySchema,
      answers: { 200: { description: "Causes, with the resources that have them", schema: driftSchema } },
      handle: async ({ parameters, query, caller }) => {
        const { organizationId, organization } = await requireScope(context, parameters);
        const { kind, limit } = query;
        if (kind !== undefined && !context.kinds.has(kind))
          throw new Problem(
            "KIND_UNKNOWN",
            `There is no kind "${kind}". Kinds: ${[...context.kinds.keys()].join(", ")}`,
          );
        const asked = { organizationId, under: undefined, kind, limit: limit + 1 };
        const left = await context.governance.leftToDo(asked);
        const shown = left.slice(0, limit).filter((entry) => mayRead(context.kinds, caller, organization, entry));
        return {
          status: 200,
          body: {
            causes: causesOf(context, organization, shown),
            ...(await ignoredBy(context, { organizationId, organization, kind, caller })),
            resources: new Set(shown.filter(({ summary }) => summary !== undefined).map(({ uid }) => uid)).size,
            truncated: left.length > limit,
          },
        };
      },
    }),
  ];
}

/** Rules name resources: they are shown to those who may read what they are about. */
async function ignoredBy(
  context: ApiContext,
  about: {
    readonly organizationId: string;
    readonly organization: string;
    readonly kind: string | undefined;
    readonly caller: Caller;
  },
): Promise<Pick<DriftDocument, "ignored">> {
  const { organizationId, organization, caller } = about;
  const platform = await context.governance.policy(undefined, "platform");
  const policies = [
    ...(platform === undefined ? [] : [platform.policy]),
    ...(await context.reads.listPolicies(organizationId)),
  ];
  const ignored = effectivePolicy(policies, undefined).ignore.filter(({ kind, name = "", from }) => {
    // What the platform says is about everything of the organization.
    const scope = from === "platform" ? `organization/${organizationId}` : from;
    return (about.kind ?? kind) === kind && mayRead(context.kinds, caller, organization, { kind, name, scope });
  });
  return ignored.length === 0 ? {} : { ignored: ignored.map((rule) => ignoreDocument(rule)) };
}

type Cause = DriftDocument["causes"][number];

function causesOf(context: ApiContext, organization: string, left: readonly LeftToDo[]): Cause[] {
  const causes = new Map<string, Cause>();
  // The oldest come first, so that the first to name a cause says since when there is one.
  for (const entry of left) {
    for (const { action, field, count } of entry.summary?.causes ?? []) {
      const key = `${entry.kind} ${action} ${field}`;
      const since = isoTime(entry.sinceMs);
      const { kind } = entry;
      const empty = { kind, action, field, items: 0, resources: [], resourceCount: 0, since, guards: [] };
      const known: Cause = causes.get(key) ?? empty;
      known.items += count;
      known.resourceCount += 1;
      known.guards = [...new Set([...known.guards, ...(entry.summary?.guards ?? [])])];
      if (known.resources.length < namedAtMost)
        known.resources.push({
          name: entry.name,
          scope: scopeLabel(entry.scope),
          link: resourceLink(context.kinds, organization, entry),
          since,
          items: count,
        });
      causes.set(key, known);
    }
  }
  return [...causes.values()];
}
