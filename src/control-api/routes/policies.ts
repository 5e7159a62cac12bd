import { z } from "zod";
import type { ScopePolicy } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { defineRoute, type Route } from "../route.ts";
import { type ScopeParameters, scopeParametersSchema } from "../schemas/common.ts";
import { type PolicyDocument, policySchema } from "../schemas/governance.ts";
import { requireScope, scopePaths } from "../scope.ts";

/** Mode, limits, ceilings, protection and four eyes of each scope. A resource says its own in its metadata. */
export function policyRoutes(context: ApiContext): readonly Route[] {
  return [
    ...scopePaths.flatMap(({ type, path }) => scopePolicy(context, type, `${path}/policy`)),
    ...platformPolicy(context),
  ];
}

function scopePolicy(context: ApiContext, type: string, path: string): readonly Route[] {
  const shared = { path, tag: "policies", parameters: scopeParametersSchema } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      summary: `The policy of this ${type}`,
      need: { at: "path", key: "organization.policy", action: "read" },
      answers: { 200: { description: "What this scope says; scopes above may say more", schema: policySchema } },
      handle: async ({ parameters }) => ({ status: 200, body: await readPolicy(context, parameters) }),
    }),
    defineRoute({
      ...shared,
      method: "PUT",
      summary: `Set the policy of this ${type}`,
      need: { at: "path", key: "organization.policy", action: "update" },
      onlyPeople: true,
      body: policySchema,
      answers: { 200: { description: "Set; every subject below is due", schema: policySchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId, scope } = await requireScope(context, parameters);
        await context.intents.setPolicy({
          organizationId,
          policy: { scope, ...(body as Omit<ScopePolicy, "scope">) },
          author: caller.principal,
        });
        return { status: 200, body };
      },
    }),
  ];
}

function platformPolicy(context: ApiContext): readonly Route[] {
  const shared = { path: "/v1/policy", tag: "policies", parameters: z.strictObject({}) } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      summary: "The policy of the platform",
      need: { at: "platform", key: "platform.policy", action: "read" },
      answers: { 200: { description: "What holds for everybody", schema: policySchema } },
      handle: async () => {
        const [first] = await context.reads.listOrganizations();
        const policies = first === undefined ? [] : await context.reads.listPolicies(first.id);
        return { status: 200, body: documentOf(policies, "platform") };
      },
    }),
    defineRoute({
      ...shared,
      method: "PUT",
      summary: "Set the policy of the platform",
      need: { at: "platform", key: "platform.policy", action: "update" },
      onlyPeople: true,
      body: policySchema,
      answers: { 200: { description: "Set; every subject is due", schema: policySchema } },
      handle: async ({ body, caller }) => {
        const policy = { scope: "platform", ...(body as Omit<ScopePolicy, "scope">) };
        await context.intents.setPolicy({ organizationId: undefined, policy, author: caller.principal });
        return { status: 200, body };
      },
    }),
  ];
}

async function readPolicy(context: ApiContext, parameters: ScopeParameters): Promise<PolicyDocument> {
  const { organizationId, scope } = await requireScope(context, parameters);
  return documentOf(await context.reads.listPolicies(organizationId), scope);
}

function documentOf(policies: readonly ScopePolicy[], scope: string): PolicyDocument {
  const found = Object.entries(policies.find((policy) => policy.scope === scope) ?? {});
  return Object.fromEntries(found.filter(([name, value]) => name !== "scope" && value !== undefined));
}
