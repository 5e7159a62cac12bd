import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { MemberRecord } from "../../ports/member-store.ts";
import type { Caller } from "../access/caller.ts";
import { requireMayGrant } from "../access/granting.ts";
import { requireCreatable } from "../access/organization-status.ts";
import { requireRules } from "../access/roles.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf } from "../names.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope, scopeUnknown } from "../scope.ts";
import {
  bindingSchema,
  type MemberDocument,
  memberListSchema,
  memberSchema,
  newBindingSchema,
  removedSchema,
} from "../schemas/access.ts";
import { nameSchema, pageQuerySchema } from "../schemas/common.ts";

const path = "/v1/organizations/{organization}/members";
const inOrganization = z.strictObject({ organization: nameSchema });
/** By id, or by the e-mail they sign in with. */
const ofPerson = inOrganization.extend({ person: z.string().trim().toLowerCase().min(1).max(254) });
const ofBinding = ofPerson.extend({ binding: z.string().min(1).max(100) });
const tag = "access";
const dangerous = { onlyPeople: true, stepUp: true } as const;

export function memberRoutes(context: ApiContext): readonly Route[] {
  return [...readRoutes(context), ...bindingRoutes(context), ...endRoutes(context), confirmRoute(context)];
}

function readRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "Who belongs to the organization, with their roles",
      need: { at: "path", key: "organization.membership", action: "read" },
      tag,
      parameters: inOrganization,
      query: pageQuerySchema,
      answers: { 200: { description: "One page", schema: memberListSchema } },
      handle: async ({ parameters, query }) => {
        const { organizationId } = await requireScope(context, parameters);
        const { pageSize, pageToken } = query;
        const afterPersonId = pageToken;
        const found = await context.members.members({ organizationId, afterPersonId, limit: pageSize + 1 });
        const page = found.slice(0, pageSize);
        const last = page.at(-1)?.person.id;
        const more = found.length > pageSize && last !== undefined;
        const items = page.map(memberDocument);
        return { status: 200, body: { items, ...(more ? { nextPageToken: last } : {}) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{person}`,
      summary: "One member, by id or e-mail",
      need: { at: "path", key: "organization.membership", action: "read" },
      tag,
      parameters: ofPerson,
      answers: { 200: { description: "The member with their roles", schema: memberSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const member = await requireMember(context, organizationId, parameters.person);
        return { status: 200, body: memberDocument(member) };
      },
    }),
  ];
}

function bindingRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${path}/{person}/bindings`,
      summary: "Give a member a role in the organization, a project or a workspace",
      need: { at: "path", key: "organization.membership", action: "update" },
      ...dangerous,
      tag,
      parameters: ofPerson,
      body: newBindingSchema,
      answers: { 201: { description: "In force within 5 s", schema: bindingSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organization } = parameters;
        const { role, project, workspace } = body;
        const { organizationId, scope } = await requireScope(context, { organization, project, workspace });
        await requireCreatable(context, organizationId);
        const rules = await requireRules(context, organizationId, role);
        requireMayGrant(caller, role, rules, scopePathOf({ organization, project, workspace }));
        const { person } = await requireMember(context, organizationId, parameters.person);
        const id = context.ids.next();
        const author = caller.principal;
        const answer = await context.members.addBinding({
          organizationId,
          id,
          personId: person.id,
          role,
          scope,
          author,
        });
        if (answer === "exists")
          throw new Problem("ALREADY_EXISTS", `${person.email} has the role "${role}" there already`);
        if (answer === "scope-unknown") throw scopeUnknown({ organization, project, workspace });
        if (answer !== "added") throw unknown(parameters.person);
        context.rights.forget(person.id);
        const madeAt = isoTime(context.clock.nowMs());
        return { status: 201, body: { id, role, ...scopeNames(scope), madeBy: author.name, madeAt } };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{person}/bindings/{binding}`,
      summary: "Take a role from a member; without one they still belong to the organization",
      need: { at: "path", key: "organization.membership", action: "update" },
      ...dangerous,
      tag,
      parameters: ofBinding,
      answers: { 200: { description: "Out of force within 5 s", schema: removedSchema } },
      handle: async ({ parameters, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const member = await requireMember(context, organizationId, parameters.person);
        const id = parameters.binding;
        const binding = member.bindings.find((entry) => entry.id === id);
        if (binding === undefined) throw new Problem("NOT_FOUND", `${member.person.email} has no role under ${id}`);
        await requireMayTake(context, parameters.organization, caller, binding);
        const author = caller.principal;
        const answer = await context.members.removeBinding({ organizationId, id, personId: member.person.id, author });
        if (answer === "last-owner") throw lastOwner(member);
        context.rights.forget(member.person.id);
        return { status: 200, body: { removed: id } };
      },
    }),
  ];
}

function endRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "DELETE",
      path: `${path}/{person}`,
      summary: "Remove a member, with their roles and the invites they made",
      need: { at: "path", key: "organization.membership", action: "delete" },
      ...dangerous,
      tag,
      parameters: ofPerson,
      answers: { 200: { description: "Out within 5 s, open streams included", schema: removedSchema } },
      handle: async ({ parameters, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const member = await requireMember(context, organizationId, parameters.person);
        for (const binding of member.bindings) await requireMayTake(context, parameters.organization, caller, binding);
        return end(context, organizationId, member, caller);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/organizations/{organization}:leave",
      summary: "Leave an organization",
      need: { at: "visible", key: "organization" },
      onlyPeople: true,
      tag,
      parameters: inOrganization,
      answers: { 200: { description: "You no longer belong to it", schema: removedSchema } },
      handle: async ({ parameters, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const own = caller.personId;
        const member = own === undefined ? undefined : await context.members.member({ organizationId, person: own });
        if (member === undefined) throw unknown(caller.principal.name);
        return end(context, organizationId, member, caller);
      },
    }),
  ];
}

function confirmRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: `${path}/{person}:confirm`,
    summary: "After a restore: say that somebody still belongs to the organization",
    need: { at: "platform", key: "platform.membership", action: "execute" },
    ...dangerous,
    tag,
    parameters: ofPerson,
    answers: { 200: { description: "Their roles count again", schema: memberSchema } },
    handle: async ({ parameters, caller }) => {
      const { organizationId } = await requireScope(context, parameters);
      const member = await requireMember(context, organizationId, parameters.person);
      const personId = member.person.id;
      await context.members.confirmMember({ organizationId, personId, author: caller.principal });
      context.rights.forget(personId);
      return { status: 200, body: memberDocument({ ...member, confirmed: true }) };
    },
  });
}

async function end(context: ApiContext, organizationId: string, member: MemberRecord, caller: Caller) {
  const personId = member.person.id;
  const answer = await context.members.removeMember({ organizationId, personId, author: caller.principal });
  if (answer === "last-owner") throw lastOwner(member);
  context.rights.forget(personId);
  return { status: 200, body: { removed: member.person.email } };
}

async function requireMember(context: ApiContext, organizationId: string, person: string): Promise<MemberRecord> {
  const member = await context.members.member({ organizationId, person });
  if (member === undefined) throw unknown(person);
  return member;
}

async function requireMayTake(
  context: ApiContext,
  organization: string,
  caller: Caller,
  { role, scope }: { readonly role: string; readonly scope: string },
): Promise<void> {
  const rules = await requireRules(context, organizationIdOf(organization), role);
  requireMayGrant(caller, role, rules, scopePathOf({ organization, ...scopeNames(scope) }));
}

function lastOwner({ person }: MemberRecord): Problem {
  return new Problem(
    "IN_USE",
    `${person.email} is the last owner of the organization. Make somebody else an owner first, or delete the organization`,
  );
}

/** The same for people who are elsewhere and for people who are nowhere. */
function unknown(person: string): Problem {
  return new Problem(
    "NOT_FOUND",
    `There is no member "${person}" in this organization. Invite them: setpoint invite create`,
  );
}

function memberDocument({ person, addedBy, addedAtMs, confirmed, bindings }: MemberRecord): MemberDocument {
  return {
    id: person.id,
    email: person.email,
    addedBy,
    addedAt: isoTime(addedAtMs),
    confirmed,
    bindings: bindings.map(({ id, role, scope, madeBy, madeAtMs }) => ({
      id,
      role,
      ...scopeNames(scope),
      madeBy,
      madeAt: isoTime(madeAtMs),
    })),
  };
}
