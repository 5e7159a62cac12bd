import { z } from "zod";
import type { OrganizationRecord } from "../../ports/member-store.ts";
import { forgetStatus } from "../access/organization-status.ts";
import type { Caller } from "../access/caller.ts";
import { can, sees } from "../access/can.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { organizationUnknown, requireScope } from "../scope.ts";
import { nameSchema } from "../schemas/common.ts";
import { removedSchema } from "../schemas/access.ts";
import {
  namedSchema,
  type OrganizationDocument,
  organizationListSchema,
  organizationSchema,
  organizationStatusSchema,
} from "../schemas/organization.ts";

const nothing = z.strictObject({});
const parameters = z.strictObject({ organization: nameSchema });
const path = "/v1/organizations/{organization}";
const tag = "organizations";

/** Enough for anybody, and few enough that nobody takes all the names. */
const ownedAtMost = 20;

export function organizationRoutes(context: ApiContext): readonly Route[] {
  return [listRoute(context), createRoute(context), getRoute(context), ...statusRoutes(context), deleteRoute(context)];
}

function listRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/organizations",
    summary: "List organizations",
    need: { at: "self" },
    tag,
    parameters: nothing,
    answers: { 200: { description: "The organizations you may see", schema: organizationListSchema } },
    handle: async ({ caller }) => {
      const all = await context.members.organizations();
      const items = all
        .filter(({ name }) => sees(caller, scopePathOf({ organization: name })))
        .map(organizationDocument);
      return { status: 200, body: { items } };
    },
  });
}

function createRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/organizations",
    summary: "Create an organization; whoever creates it owns it",
    need: { at: "self" },
    onlyPeople: true,
    tag,
    parameters: nothing,
    body: namedSchema,
    answers: { 201: { description: "Created", schema: organizationSchema } },
    handle: async ({ body, caller }) => {
      const { name } = body;
      const id = organizationIdOf(name);
      const byPlatform = can(caller, "platform.organization", "create", ["platform"]).allowed;
      if (!byPlatform) await requireFewOwned(context, caller);
      const verification = byPlatform || !context.verifyOrganizations ? "verified" : "in_setup";
      if ((await context.reads.listScopes(id)).length > 0) throw taken(name);
      const ownerId = caller.personId;
      await context.members.createOrganization({ id, name, verification, ownerId, author: caller.principal });
      if (ownerId !== undefined) context.rights.forget(ownerId);
      return { status: 201, body: organizationDocument({ id, name, verification, state: "active", reason: "" }) };
    },
  });
}

async function requireFewOwned(context: ApiContext, { personId, principal }: Caller): Promise<void> {
  const owned = personId === undefined ? 0 : await context.members.countOwned(personId);
  if (owned < ownedAtMost) return;
  throw new Problem(
    "QUOTA_EXCEEDED",
    `${principal.name} owns ${owned} organizations, and may own ${ownedAtMost}. Delete one, give one away, or ask an operator of the platform to create it`,
  );
}

function getRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path,
    summary: "One organization with its status",
    need: { at: "visible", key: "organization" },
    tag,
    parameters,
    answers: { 200: { description: "The organization", schema: organizationSchema } },
    handle: async ({ parameters: { organization } }) => ({
      status: 200,
      body: organizationDocument(await requireOrganization(context, organization)),
    }),
  });
}

function statusRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "PUT",
      path: `${path}/status`,
      summary: "Verify, block, queue or deactivate an organization, and say why",
      need: { at: "platform", key: "platform.organization", action: "update" },
      onlyPeople: true,
      tag,
      parameters,
      body: organizationStatusSchema,
      answers: { 200: { description: "In force everywhere within 5 s", schema: organizationSchema } },
      handle: async ({ parameters: { organization }, body, caller }) => {
        const organizationId = organizationIdOf(organization);
        const { verification, state, reason } = body;
        const author = caller.principal;
        const set = await context.members.setStatus({ organizationId, verification, state, reason, author });
        if (set === undefined) throw organizationUnknown(organization);
        forgetStatus(context, organizationId);
        return { status: 200, body: organizationDocument(set) };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}:submit`,
      summary: "Ask an operator of the platform to verify the organization",
      need: { at: "path", key: "organization", action: "update" },
      onlyPeople: true,
      tag,
      parameters,
      answers: { 200: { description: "It waits, unless it needs no verification", schema: organizationSchema } },
      handle: async ({ parameters: { organization }, caller }) => {
        const organizationId = organizationIdOf(organization);
        const set = await context.members.setStatus({
          organizationId,
          verification: "pending",
          state: undefined,
          ifVerification: "in_setup",
          reason: `asked for by ${caller.principal.name}`,
          author: caller.principal,
        });
        if (set === undefined) throw organizationUnknown(organization);
        forgetStatus(context, organizationId);
        return { status: 200, body: organizationDocument(set) };
      },
    }),
  ];
}

function deleteRoute(context: ApiContext): Route {
  return defineRoute({
    method: "DELETE",
    path,
    summary: "Delete an organization that has no projects and no resources. Its name stays taken",
    need: { at: "path", key: "organization", action: "delete" },
    onlyPeople: true,
    stepUp: true,
    tag,
    parameters,
    answers: { 200: { description: "Gone, with its members, roles and accounts", schema: removedSchema } },
    handle: async ({ parameters: { organization }, caller }) => {
      const { organizationId } = await requireScope(context, { organization });
      const answer = await context.members.deleteOrganization({ organizationId, author: caller.principal });
      if (answer.result === "not-found") throw organizationUnknown(organization);
      if (answer.result === "in-use") throw inUse(`The organization "${organization}"`, answer.users);
      context.rights.forget();
      forgetStatus(context, organizationId);
      return { status: 200, body: { removed: organization } };
    },
  });
}

async function requireOrganization(context: ApiContext, organization: string): Promise<OrganizationRecord> {
  const found = await context.members.organization(organizationIdOf(organization));
  if (found === undefined) throw organizationUnknown(organization);
  return found;
}

export function inUse(what: string, users: readonly string[]): Problem {
  const listed = users.slice(0, 20);
  return new Problem("IN_USE", `${what} is in use: ${listed.join(", ")}. Delete or change these first`, {
    errors: listed.map((user) => ({ pointer: "", message: user })),
  });
}

function taken(name: string): Problem {
  return new Problem("ALREADY_EXISTS", `The name "${name}" is taken. Choose another one`);
}

function organizationDocument({ id, name, verification, state, reason }: OrganizationRecord): OrganizationDocument {
  return { name, id, verification, state: state === "inactive" ? "inactive" : "active", reason };
}
