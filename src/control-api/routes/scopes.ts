import { z } from "zod";
import { sees } from "../access/can.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { projectScopeOf, workspaceScopeOf } from "../names.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope, scopeUnknown } from "../scope.ts";
import { removedSchema } from "../schemas/access.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
import { namedSchema, scopeListSchema, scopeSchema } from "../schemas/organization.ts";
import { inUse } from "./organizations.ts";

const inOrganization = scopeParametersSchema.pick({ organization: true });
const inProject = z.strictObject({ organization: nameSchema, project: nameSchema });
const inWorkspace = inProject.extend({ workspace: nameSchema });
const projects = "/v1/organizations/{organization}/projects";
const workspaces = `${projects}/{project}/workspaces`;
const tag = "organizations";

/** Projects and workspaces. */
export function scopeRoutes(context: ApiContext): readonly Route[] {
  return [...projectRoutes(context), ...workspaceRoutes(context)];
}

function projectRoutes(context: ApiContext): readonly Route[] {
  return [
    listRoute(context, { path: projects, plural: "projects", parameters: inOrganization }),
    defineRoute({
      method: "POST",
      path: projects,
      summary: "Create a project",
      need: { at: "path", key: "organization.project", action: "create" },
      tag,
      parameters: inOrganization,
      body: namedSchema,
      answers: { 201: { description: "Created", schema: scopeSchema } },
      handle: async ({ caller, parameters, body }) => {
        const parent = await requireScope(context, parameters);
        const scope = projectScopeOf(parameters.organization, body.name);
        await createScope(context, caller, parent, { scope, what: `project "${body.name}"` });
        return { status: 201, body };
      },
    }),
    ...oneRoutes(context, {
      path: `${projects}/{project}`,
      what: "project",
      key: "organization.project",
      parameters: inProject,
    }),
  ];
}

function workspaceRoutes(context: ApiContext): readonly Route[] {
  return [
    listRoute(context, { path: workspaces, plural: "workspaces", parameters: inProject }),
    defineRoute({
      method: "POST",
      path: workspaces,
      summary: "Create a workspace",
      need: { at: "path", key: "project.workspace", action: "create" },
      tag,
      parameters: inProject,
      body: namedSchema,
      answers: { 201: { description: "Created", schema: scopeSchema } },
      handle: async ({ caller, parameters, body }) => {
        const parent = await requireScope(context, parameters);
        const scope = workspaceScopeOf(parameters.organization, parameters.project, body.name);
        await createScope(context, caller, parent, { scope, what: `workspace "${body.name}"` });
        return { status: 201, body };
      },
    }),
    ...oneRoutes(context, {
      path: `${workspaces}/{workspace}`,
      what: "workspace",
      key: "project.workspace",
      parameters: inWorkspace,
    }),
  ];
}

function listRoute(
  context: ApiContext,
  about: {
    readonly path: string;
    readonly plural: "projects" | "workspaces";
    readonly parameters: typeof inOrganization | typeof inProject;
  },
): Route {
  return defineRoute({
    method: "GET",
    path: about.path,
    summary: `List ${about.plural}`,
    need: { at: "visible", key: about.plural === "projects" ? "organization.project" : "project.workspace" },
    tag,
    parameters: about.parameters as typeof inOrganization,
    answers: { 200: { description: `The ${about.plural} that you may see`, schema: scopeListSchema } },
    handle: async ({ parameters, caller }) => {
      const parent = await requireScope(context, parameters);
      const all = await context.reads.listScopes(parent.organizationId);
      const items = all
        .filter((scope) => scope.parent === parent.scope)
        .map(({ scope }) => scopeNames(scope))
        .filter((names) => sees(caller, scopePathOf({ ...parameters, ...names })))
        .map(({ project, workspace }) => ({ name: workspace ?? project ?? "" }));
      return { status: 200, body: { items } };
    },
  });
}

function oneRoutes(
  context: ApiContext,
  about: {
    readonly path: string;
    readonly what: "project" | "workspace";
    readonly key: string;
    readonly parameters: typeof inProject | typeof inWorkspace;
  },
): readonly Route[] {
  const { path, what, key } = about;
  const parameters = about.parameters as z.ZodObject<{
    organization: typeof nameSchema;
    project: typeof nameSchema;
    workspace: z.ZodOptional<typeof nameSchema>;
  }>;
  return [
    defineRoute({
      method: "GET",
      path,
      summary: `One ${what}`,
      need: { at: "visible", key },
      tag,
      parameters,
      answers: { 200: { description: "It is there", schema: scopeSchema } },
      handle: async ({ parameters: names }) => {
        await requireScope(context, names);
        return { status: 200, body: { name: names.workspace ?? names.project } };
      },
    }),
    defineRoute({
      method: "DELETE",
      path,
      summary: `Delete a ${what} that is empty; roles, policies and tokens that are about it go with it`,
      need: { at: "path", key, action: "delete" },
      onlyPeople: true,
      tag,
      parameters,
      answers: { 200: { description: "Gone", schema: removedSchema } },
      handle: async ({ parameters: names, caller }) => {
        const { organizationId, scope } = await requireScope(context, names);
        const answer = await context.members.deleteScope({ organizationId, scope, author: caller.principal });
        const name = names.workspace ?? names.project;
        if (answer.result === "not-found") throw scopeUnknown(names);
        if (answer.result === "in-use") throw inUse(`The ${what} "${name}"`, answer.users);
        context.rights.forget();
        return { status: 200, body: { removed: name } };
      },
    }),
  ];
}

async function createScope(
  context: ApiContext,
  { principal: author }: Caller,
  parent: { readonly organizationId: string; readonly scope: string },
  { scope, what }: { readonly scope: string; readonly what: string },
): Promise<void> {
  const known = await context.reads.listScopes(parent.organizationId);
  if (known.some((entry) => entry.scope === scope)) throw new Problem("ALREADY_EXISTS", `There is already a ${what}`);
  await context.intents.createScope({ organizationId: parent.organizationId, scope, parent: parent.scope, author });
}
