import { z } from "zod";
import { sees } from "../access/can.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf, projectScopeOf, scopeNames, workspaceScopeOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope } from "../scope.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
import { namedSchema, organizationListSchema, organizationSchema, scopeListSchema } from "../schemas/organization.ts";

const organizationParameters = scopeParametersSchema.pick({ organization: true });
const projectParameters = z.strictObject({ organization: nameSchema, project: nameSchema });

export function organizationRoutes(context: ApiContext): readonly Route[] {
  return [...organizations(context), ...scopes(context)];
}

function organizations(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/organizations",
      summary: "List organizations",
      need: { at: "self" },
      tag: "organizations",
      parameters: z.strictObject({}),
      answers: { 200: { description: "The organizations you may see", schema: organizationListSchema } },
      handle: async ({ caller }) => {
        const all = await context.reads.listOrganizations();
        const items = all.filter(({ name }) => sees(caller, scopePathOf({ organization: name })));
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/organizations",
      summary: "Create an organization",
      need: { at: "platform", key: "platform.organization", action: "create" },
      tag: "organizations",
      parameters: z.strictObject({}),
      body: namedSchema,
      answers: { 201: { description: "Created", schema: organizationSchema } },
      handle: async ({ body }) => {
        const organization = { id: organizationIdOf(body.name), name: body.name };
        if ((await context.reads.listScopes(organization.id)).length > 0) throw exists("organization", body.name);
        await context.intents.createOrganization(organization);
        return { status: 201, body: organization };
      },
    }),
  ];
}

function scopes(context: ApiContext): readonly Route[] {
  return [
    scopeList(context, {
      path: "/v1/organizations/{organization}/projects",
      plural: "projects",
      parameters: organizationParameters,
    }),
    defineRoute({
      method: "POST",
      path: "/v1/organizations/{organization}/projects",
      summary: "Create a project",
      need: { at: "path", key: "organization.project", action: "create" },
      tag: "organizations",
      parameters: organizationParameters,
      body: namedSchema,
      answers: { 201: { description: "Created", schema: namedSchema } },
      handle: async ({ parameters, body }) => {
        const parent = await requireScope(context, parameters);
        await createScope(context, parent, projectScopeOf(parameters.organization, body.name), `project`, body.name);
        return { status: 201, body };
      },
    }),
    scopeList(context, {
      path: "/v1/organizations/{organization}/projects/{project}/workspaces",
      plural: "workspaces",
      parameters: projectParameters,
    }),
    defineRoute({
      method: "POST",
      path: "/v1/organizations/{organization}/projects/{project}/workspaces",
      summary: "Create a workspace",
      need: { at: "path", key: "project.workspace", action: "create" },
      tag: "organizations",
      parameters: projectParameters,
      body: namedSchema,
      answers: { 201: { description: "Created", schema: namedSchema } },
      handle: async ({ parameters, body }) => {
        const parent = await requireScope(context, parameters);
        const scope = workspaceScopeOf(parameters.organization, parameters.project, body.name);
        await createScope(context, parent, scope, "workspace", body.name);
        return { status: 201, body };
      },
    }),
  ];
}

function scopeList(
  context: ApiContext,
  about: {
    readonly path: string;
    readonly plural: "projects" | "workspaces";
    readonly parameters: typeof organizationParameters | typeof projectParameters;
  },
): Route {
  return defineRoute({
    method: "GET",
    path: about.path,
    summary: `List ${about.plural}`,
    need: { at: "visible", key: about.plural === "projects" ? "organization.project" : "project.workspace" },
    tag: "organizations",
    parameters: about.parameters as typeof organizationParameters,
    answers: { 200: { description: `All ${about.plural} there`, schema: scopeListSchema } },
    handle: async ({ parameters, caller }) => {
      const parent = await requireScope(context, parameters);
      const below = (await context.reads.listScopes(parent.organizationId)).filter(
        (scope) => scope.parent === parent.scope,
      );
      const items = below
        .map(({ scope }) => scopeNames(scope))
        .filter((names) => sees(caller, scopePathOf({ ...parameters, ...names })))
        .map(({ project, workspace }) => ({ name: workspace ?? project ?? "" }));
      return { status: 200, body: { items } };
    },
  });
}

async function createScope(
  context: ApiContext,
  parent: { readonly organizationId: string; readonly scope: string },
  scope: string,
  what: string,
  name: string,
): Promise<void> {
  const known = await context.reads.listScopes(parent.organizationId);
  if (known.some((entry) => entry.scope === scope)) throw exists(what, name);
  await context.intents.createScope({ organizationId: parent.organizationId, scope, parent: parent.scope });
}

function exists(what: string, name: string): Problem {
  return new Problem(
    "ALREADY_EXISTS",
    `There is already ${what === "project" || what === "workspace" ? "a" : "an"} ${what} "${name}"`,
  );
}
