import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { RoleRecord, RoleWrite } from "../../ports/member-store.ts";
import type { Caller } from "../access/caller.ts";
import { requireMayGrant } from "../access/granting.ts";
import { requireKnownRules, roleBook } from "../access/roles.ts";
import { scopePathOf } from "../access/scope-path.ts";
import { seedRoleDescriptions } from "../access/seed-roles.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope } from "../scope.ts";
import {
  newRoleSchema,
  permissionListSchema,
  removedSchema,
  roleBodySchema,
  type RoleDocument,
  roleListSchema,
  roleSchema,
} from "../schemas/access.ts";
import { nameSchema } from "../schemas/common.ts";
import { inUse } from "./organizations.ts";

const path = "/v1/organizations/{organization}/roles";
const inOrganization = z.strictObject({ organization: nameSchema });
const named = inOrganization.extend({ role: nameSchema });
const tag = "access";
/** Whoever can change a role can change what everybody with it may do. */
const dangerous = { onlyPeople: true, stepUp: true } as const;

export function roleRoutes(context: ApiContext): readonly Route[] {
  return [permissionsRoute(context), ...readRoutes(context), ...writeRoutes(context), deleteRoute(context)];
}

function permissionsRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/permissions",
    summary: "Every permission key, with its scope and actions",
    need: { at: "self" },
    tag,
    parameters: z.strictObject({}),
    answers: { 200: { description: "By key", schema: permissionListSchema } },
    handle: async () => {
      const items = [...roleBook(context).catalogue.values()].map(
        ({ key, scope, actions, description, sensitive }) => ({
          key,
          scope,
          actions: [...actions],
          description,
          sensitive,
        }),
      );
      return { status: 200, body: { items } };
    },
  });
}

function readRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "The roles that can be given here: those that came with Setpoint, and the organization's own",
      need: { at: "path", key: "organization.role", action: "read" },
      tag,
      parameters: inOrganization,
      answers: { 200: { description: "Roles with their rules", schema: roleListSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const own = (await context.members.roles(organizationId)).map(roleDocument);
        const seeds = [...roleBook(context).seeds.keys()].map((name) => seedDocument(context, name));
        return { status: 200, body: { items: [...seeds, ...own].filter((role) => role !== undefined) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{role}`,
      summary: "One role",
      need: { at: "path", key: "organization.role", action: "read" },
      tag,
      parameters: named,
      answers: { 200: { description: "The role with its rules", schema: roleSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const name = parameters.role;
        const seed = seedDocument(context, name);
        if (seed !== undefined) return { status: 200, body: seed };
        const found = await context.members.role({ organizationId, name });
        if (found === undefined) throw unknown(name);
        return { status: 200, body: roleDocument(found) };
      },
    }),
  ];
}

function writeRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path,
      summary: "Make a role of the organization's own, out of what you may do yourself",
      need: { at: "path", key: "organization.role", action: "create" },
      ...dangerous,
      tag,
      parameters: inOrganization,
      body: newRoleSchema,
      answers: { 201: { description: "Made", schema: roleSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const request = { organizationId, ...body, author: caller.principal };
        requireOwnRole(context, parameters.organization, request, caller);
        if ((await context.members.role(request)) !== undefined)
          throw new Problem("ALREADY_EXISTS", `There is already a role "${body.name}" in this organization`);
        return { status: 201, body: roleDocument(await context.members.createRole(request)) };
      },
    }),
    defineRoute({
      method: "PUT",
      path: `${path}/{role}`,
      summary: "Replace the rules of a role; whoever has it has them within 5 s",
      need: { at: "path", key: "organization.role", action: "update" },
      ...dangerous,
      tag,
      parameters: named,
      body: roleBodySchema,
      answers: { 200: { description: "Replaced", schema: roleSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const name = parameters.role;
        const request = { organizationId, name, ...body, author: caller.principal };
        requireOwnRole(context, parameters.organization, request, caller);
        const before = await context.members.role(request);
        if (before === undefined) throw unknown(name);
        // Taking something out of a role takes it from whoever has it.
        requireMayGrant(caller, name, before.rules, scopePathOf(parameters));
        const changed = await context.members.updateRole(request);
        if (changed === undefined) throw unknown(name);
        context.rights.forget();
        return { status: 200, body: roleDocument(changed) };
      },
    }),
  ];
}

function deleteRoute(context: ApiContext): Route {
  return defineRoute({
    method: "DELETE",
    path: `${path}/{role}`,
    summary: "Delete a role that nobody has",
    need: { at: "path", key: "organization.role", action: "delete" },
    ...dangerous,
    tag,
    parameters: named,
    answers: { 200: { description: "Gone", schema: removedSchema } },
    handle: async ({ parameters, caller }) => {
      const { organizationId } = await requireScope(context, parameters);
      const name = parameters.role;
      requireNotSeed(context, name);
      const answer = await context.members.deleteRole({ organizationId, name, author: caller.principal });
      if (answer.result === "not-found") throw unknown(name);
      if (answer.result === "in-use") throw inUse(`The role "${name}"`, answer.users);
      return { status: 200, body: { removed: name } };
    },
  });
}

function requireOwnRole(context: ApiContext, organization: string, { name, rules }: RoleWrite, caller: Caller): void {
  requireNotSeed(context, name);
  requireKnownRules(roleBook(context).catalogue, rules);
  requireMayGrant(caller, name, rules, scopePathOf({ organization }));
}

function requireNotSeed(context: ApiContext, name: string): void {
  if (!roleBook(context).seeds.has(name)) return;
  throw new Problem("ALREADY_EXISTS", `The role "${name}" came with Setpoint and stays as it is. Use another name`);
}

function seedDocument(context: ApiContext, name: string): RoleDocument | undefined {
  const rules = roleBook(context).seeds.get(name);
  return rules === undefined
    ? undefined
    : { name, description: seedRoleDescriptions[name] ?? "", seed: true, rules: rules.map(ruleDocument) };
}

function roleDocument({ name, description, rules, revision, changedBy, changedAtMs }: RoleRecord): RoleDocument {
  const changedAt = isoTime(changedAtMs);
  return { name, description, seed: false, rules: rules.map(ruleDocument), revision, changedBy, changedAt };
}

function ruleDocument({ key, actions }: RoleRecord["rules"][number]): RoleDocument["rules"][number] {
  return { key, actions: [...actions] };
}

function unknown(name: string): Problem {
  return new Problem("NOT_FOUND", `There is no role "${name}" in this organization`);
}
