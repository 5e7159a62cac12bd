import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { OpenPlan, SubjectPlan } from "../../ports/governance-store.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { differenceOf, verdictOf } from "../held-document.ts";
import { Problem } from "../problem.ts";
import { mayRead, resourceLink, scopeLabel } from "../resource-link.ts";
import { keyOfToken, pageToken } from "../resources/page-token.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
import {
  type PlanDocument,
  type PlanListDocument,
  planListQuerySchema,
  planListSchema,
  planSchema,
} from "../schemas/governance.ts";
import { type ResolvedScope, requireScope, scopePaths } from "../scope.ts";

/** Candidates that one request looks at. */
const lookedAtMost = 5_000;

const parameters = scopeParametersSchema.extend({ name: nameSchema });

/** What the last cycle wanted and has not done, for every kind that has a loop. */
export function planRoutes(context: ApiContext): readonly Route[] {
  const ofKinds = [...context.kinds.values()]
    .filter((kind) => kind.loop !== undefined)
    .flatMap((kind) =>
      scopePaths
        .filter(({ type }) => kind.scopes.includes(type))
        .map(({ path }) => planRoute(context, kind, `${path}/${kind.plural}/{name}/plan`)),
    );
  return [planListRoute(context), ...ofKinds];
}

function planListRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/organizations/{organization}/plans",
    summary: "Every plan of the organization that is not carried out, of what the caller may read, the oldest first",
    need: { at: "visible", key: "organization" },
    tag: "plans",
    parameters: z.strictObject({ organization: nameSchema }),
    query: planListQuerySchema,
    answers: { 200: { description: "One page of plans", schema: planListSchema } },
    handle: async ({ parameters: names, query, caller }) => {
      const place = await requireScope(context, names);
      const { kind } = query;
      if (kind !== undefined && !context.kinds.has(kind))
        throw new Problem("KIND_UNKNOWN", `There is no kind "${kind}". Kinds: ${[...context.kinds.keys()].join(", ")}`);
      return { status: 200, body: await planPage(context, place, query, caller) };
    },
  });
}

/** Goes on until the page is full, the plans are at their end, or enough of them were looked at for one request. */
async function planPage(
  context: ApiContext,
  { organization, organizationId }: ResolvedScope,
  { kind, pageSize, pageToken: token }: z.output<typeof planListQuerySchema>,
  caller: Caller,
): Promise<PlanListDocument> {
  const asked = { plansOf: organizationId, kind };
  const from = token === undefined ? undefined : keyOfToken(token, asked);
  let after = from === undefined ? undefined : { sinceMs: from.ms, subjectId: Number(from.id) };
  const shown: OpenPlan[] = [];
  let more = true;
  for (let looked = 0; more && shown.length < pageSize && looked < lookedAtMost; looked += pageSize) {
    const page = await context.governance.plans({ organizationId, kind, after, limit: pageSize });
    more = page.length === pageSize;
    for (const [index, plan] of page.entries()) {
      after = { sinceMs: plan.sinceMs, subjectId: plan.subjectId };
      if (mayRead(context.kinds, caller, organization, plan)) shown.push(plan);
      if (shown.length < pageSize) continue;
      // Behind where this page is full the next one begins.
      more ||= index < page.length - 1;
      break;
    }
  }
  const accounts = new Map((await context.reads.listAccounts(organizationId)).map((one) => [one.id, one.name]));
  const items = shown.map((plan) => openPlanDocument(context, organization, plan, accounts.get(plan.accountId ?? "")));
  if (!more || after === undefined) return { items };
  return { items, nextPageToken: pageToken({ name: "", ms: after.sinceMs, id: String(after.subjectId) }, asked) };
}

function openPlanDocument(
  context: ApiContext,
  organization: string,
  plan: OpenPlan,
  account: string | undefined,
): PlanListDocument["items"][number] {
  const { kind, name, summary, lookedAtMs } = plan;
  return {
    kind,
    name,
    scope: scopeLabel(plan.scope),
    link: resourceLink(context.kinds, organization, plan),
    ...(account === undefined ? {} : { account }),
    since: isoTime(plan.sinceMs),
    madeAt: isoTime(plan.madeAtMs),
    ...(lookedAtMs === undefined ? {} : { lookedAt: isoTime(lookedAtMs) }),
    counts: { ...summary.actions },
    guards: [...summary.guards],
    heldItems: summary.held,
    heldChanges: [...plan.heldChanges],
  };
}

function planRoute(context: ApiContext, kind: Kind, path: string): Route {
  return defineRoute({
    method: "GET",
    path,
    summary: `What the last cycle of a ${kind.kind} wanted and has not done, with each guard's verdict`,
    need: { at: "path", key: kind.permission, action: "read" },
    tag: kind.kind,
    parameters,
    answers: { 200: { description: "The plan of each of its subjects", schema: planSchema } },
    handle: async ({ parameters: names }) => {
      const { organizationId, scope } = await requireScope(context, {
        organization: names.organization,
        project: names.project,
        workspace: names.workspace,
      });
      const { name } = names;
      const view = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name });
      if (view === undefined) throw new Problem("NOT_FOUND", `There is no ${kind.kind} "${name}" here`);
      const plans = await context.governance.plansOf({ organizationId, uid: view.resource.uid });
      const accounts = new Map((await context.reads.listAccounts(organizationId)).map((one) => [one.id, one.name]));
      const nowMs = context.clock.nowMs();
      const subjects = plans.map((plan) => subjectOf(plan, accounts.get(plan.accountId ?? ""), nowMs));
      return { status: 200, body: { kind: kind.kind, name, subjects } };
    },
  });
}

type SubjectDocument = PlanDocument["subjects"][number];

function subjectOf(found: SubjectPlan, account: string | undefined, nowMs: number): SubjectDocument {
  const { status } = found;
  // A plan that the status no longer names was carried out, or is being replaced right now.
  const plan = found.plan?.hash === status?.planHash ? found.plan : undefined;
  const observedAtMs = plan?.observedAtMs ?? status?.lookedAtMs;
  const items = (actions: readonly string[]) =>
    (plan?.items ?? []).filter(({ action }) => actions.includes(action)).map(itemOf);
  const known = ["create", "update", "replace", "takeover", "delete"];
  return {
    ...(account === undefined ? {} : { account }),
    state: status?.lookedAtMs === undefined ? "unknown" : plan === undefined ? "done" : "open",
    ...(plan === undefined || found.sinceMs === undefined ? {} : { since: isoTime(found.sinceMs) }),
    ...(plan === undefined || found.madeAtMs === undefined ? {} : { madeAt: isoTime(found.madeAtMs) }),
    ...(observedAtMs === undefined
      ? {}
      : {
          observedAt: isoTime(observedAtMs),
          observationAgeSeconds: Math.max(0, Math.round((nowMs - observedAtMs) / 1_000)),
        }),
    ...(plan === undefined ? {} : { completeness: plan.completeness }),
    counts: { ...plan?.summary.actions },
    create: items(["create"]),
    update: items(["update", "replace", "takeover"]),
    delete: items(["delete"]),
    other: (plan?.items ?? []).filter(({ action }) => !known.includes(action)).map(itemOf),
    truncated: plan?.truncated ?? false,
    verdicts: (plan?.verdicts ?? []).map(verdictOf),
    heldChanges: [...found.heldChanges],
  };
}

function itemOf(item: NonNullable<SubjectPlan["plan"]>["items"][number]) {
  const { key, action, externalId, differences, origin, held } = item;
  return {
    key,
    action,
    ...(externalId === undefined ? {} : { externalId }),
    differences: differences.map(differenceOf),
    ...(origin === undefined ? {} : { origin }),
    held,
  };
}
