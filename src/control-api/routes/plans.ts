import type { Kind } from "../../kernel/kind.ts";
import type { SubjectPlan } from "../../ports/governance-store.ts";
import type { ApiContext } from "../context.ts";
import { differenceOf, verdictOf } from "../held-document.ts";
import { isoTime } from "../iso-time.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
import { type PlanDocument, planSchema } from "../schemas/governance.ts";
import { requireScope, scopePaths } from "../scope.ts";

const parameters = scopeParametersSchema.extend({ name: nameSchema });

/** What the last cycle wanted and has not done, for every kind that has a loop. */
export function planRoutes(context: ApiContext): readonly Route[] {
  return [...context.kinds.values()]
    .filter((kind) => kind.loop !== undefined)
    .flatMap((kind) =>
      scopePaths
        .filter(({ type }) => kind.scopes.includes(type))
        .map(({ path }) => planRoute(context, kind, `${path}/${kind.plural}/{name}/plan`)),
    );
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
    other: (plan?.items ?? [])
      .filter(({ action }) => !known.includes(action))
      .map((item) => ({ ...itemOf(item), action: item.action })),
    truncated: plan?.truncated ?? false,
    verdicts: (plan?.verdicts ?? []).map(verdictOf),
    heldChanges: [...found.heldChanges],
  };
}

function itemOf(item: NonNullable<SubjectPlan["plan"]>["items"][number]) {
  const { key, externalId, differences, origin, held } = item;
  return {
    key,
    ...(externalId === undefined ? {} : { externalId }),
    differences: differences.map(differenceOf),
    ...(origin === undefined ? {} : { origin }),
    held,
  };
}
