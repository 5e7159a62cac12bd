import { z } from "zod";
import type { Principal } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import { quotaBodySchema, quotaListSchema, quotaSchema } from "../schemas/quota.ts";
import { requireScope } from "../scope.ts";

const organizationParameters = z.strictObject({ organization: nameSchema });
const kindSchema = z.string().min(1).max(63);

/** How much an organization may declare. Reading is its members' business, setting the platform's. */
export function quotaRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/organizations/{organization}/quotas",
      summary: "How many resources of each kind there are, and how many there may be",
      need: { at: "path", key: "organization.quota", action: "read" },
      tag: "Quota",
      parameters: organizationParameters,
      answers: { 200: { description: "The quotas", schema: quotaListSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        return { status: 200, body: { items: await quotasOf(context, organizationId) } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/organizations/{organization}/quotas/{kind}",
      summary: "Set how many resources of a kind an organization may have",
      need: { at: "platform", key: "platform.quota", action: "update" },
      onlyPeople: true,
      tag: "Quota",
      parameters: organizationParameters.extend({ kind: kindSchema }),
      body: quotaBodySchema,
      answers: { 200: { description: "Set", schema: quotaListSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, { organization: parameters.organization });
        await setQuota(context, { organizationId, kind: parameters.kind, limit: body.limit, author: caller.principal });
        return { status: 200, body: { items: await quotasOf(context, organizationId) } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/quotas/{kind}",
      summary: "Set how many resources of a kind every organization may have that has no limit of its own",
      need: { at: "platform", key: "platform.quota", action: "update" },
      onlyPeople: true,
      tag: "Quota",
      parameters: z.strictObject({ kind: kindSchema }),
      body: quotaBodySchema,
      answers: { 200: { description: "Set", schema: quotaSchema.partial() } },
      handle: async ({ parameters: { kind }, body: { limit }, caller }) => {
        if (kind === "*" && limit === null)
          throw new Problem("FIELDS_INVALID", "The default of all kinds must be a number");
        await setQuota(context, { organizationId: undefined, kind, limit, author: caller.principal });
        return { status: 200, body: { kind, own: false, ...(limit === null ? {} : { limit }) } };
      },
    }),
  ];
}

async function setQuota(
  context: ApiContext,
  request: { organizationId: string | undefined; kind: string; limit: number | null; author: Principal },
): Promise<void> {
  const { organizationId, kind, limit, author } = request;
  if (kind !== "*" && !context.kinds.has(kind)) {
    const kinds = [...context.kinds.keys()].join(", ");
    throw new Problem(
      "KIND_UNKNOWN",
      `There is no kind "${kind}". Kinds: ${kinds}; * stands for those without a limit`,
    );
  }
  await context.declaring.setQuota({ organizationId, kind, most: limit ?? undefined, author });
}

async function quotasOf(context: ApiContext, organizationId: string): Promise<z.output<typeof quotaSchema>[]> {
  const { limits, used } = await context.declaring.quotas(organizationId);
  const counts = new Map(used.map(({ kind, count }) => [kind, count]));
  // An organization's own limit comes before the platform's for the same kind.
  const first = (kind: string) =>
    limits.find((limit) => limit.kind === kind && limit.own) ?? limits.find((limit) => limit.kind === kind);
  const kinds = [...new Set([...context.kinds.keys(), ...counts.keys()])].sort();
  const own = (kind: string) => limits.find((limit) => limit.kind === kind && limit.own);
  return kinds.flatMap((kind) => {
    const limit = own(kind) ?? own("*") ?? first(kind) ?? first("*");
    if (limit === undefined) return [];
    return [{ kind, limit: limit.most, used: counts.get(kind) ?? 0, own: limit.own }];
  });
}
