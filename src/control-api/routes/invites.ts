import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { InviteRecord, PersonRef } from "../../ports/member-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { Caller } from "../access/caller.ts";
import { mayStillGrant, requireMayGrant } from "../access/granting.ts";
import { requireRules } from "../access/roles.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { openLimits } from "../identity/attempt-limits.ts";
import { baseUrl, claimedAuthor, takeAttempts } from "../identity/identity.ts";
import { newOpaqueToken, tokenHash } from "../identity/opaque-token.ts";
import { requireStrong } from "../identity/password-rules.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { Problem } from "../problem.ts";
import { defineOpenRoute, defineRoute, type Route } from "../route.ts";
import { requireScope } from "../scope.ts";
import {
  acceptedInviteSchema,
  createdInviteSchema,
  type InviteDocument,
  inviteListSchema,
  inviteSecretSchema,
  joinInviteSchema,
  newInviteSchema,
  removedSchema,
} from "../schemas/access.ts";
import { nameSchema } from "../schemas/common.ts";

const path = "/v1/organizations/{organization}/invites";
const inOrganization = z.strictObject({ organization: nameSchema });
const ofInvite = inOrganization.extend({ invite: z.string().min(1).max(100) });
const tag = "access";
const secretPrefix = "spt_inv_";

export function inviteRoutes(context: ApiContext): readonly Route[] {
  return [listRoute(context), createRoute(context), revokeRoute(context), acceptRoute(context), joinRoute(context)];
}

function listRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path,
    summary: "Invites, newest first. Their secrets are shown to nobody again",
    need: { at: "path", key: "organization.membership_invite", action: "read" },
    tag,
    parameters: inOrganization,
    answers: { 200: { description: "The latest 500", schema: inviteListSchema } },
    handle: async ({ parameters }) => {
      const { organizationId } = await requireScope(context, parameters);
      const items = (await context.members.invites(organizationId)).map(inviteDocument);
      return { status: 200, body: { items } };
    },
  });
}

function createRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path,
    summary: "Invite somebody by e-mail, with the roles they will have",
    need: { at: "path", key: "organization.membership_invite", action: "create" },
    onlyPeople: true,
    stepUp: true,
    tag,
    parameters: inOrganization,
    body: newInviteSchema,
    answers: { 201: { description: "Mailed, or the link shown this once", schema: createdInviteSchema } },
    handle: async ({ parameters, body, caller }) => {
      const { organization } = parameters;
      const { organizationId } = await requireScope(context, { organization });
      const bindings = await grantable(context, organization, body.bindings, caller);
      const secret = newOpaqueToken(context.secretRandom, secretPrefix);
      const invite = await context.members.createInvite({
        organizationId,
        id: context.ids.next(),
        email: body.email,
        secretHash: tokenHash(secret),
        bindings,
        inviterId: caller.personId,
        forMs: body.forSeconds * 1_000,
        author: caller.principal,
      });
      const told = await tell(context, { organization, invite, secret, inviter: caller.principal.name });
      return { status: 201, body: { ...inviteDocument(invite), ...told } };
    },
  });
}

function revokeRoute(context: ApiContext): Route {
  return defineRoute({
    method: "DELETE",
    path: `${path}/{invite}`,
    summary: "Revoke an invite that nobody accepted yet",
    need: { at: "path", key: "organization.membership_invite", action: "delete" },
    onlyPeople: true,
    tag,
    parameters: ofInvite,
    answers: { 200: { description: "Its link leads nowhere", schema: removedSchema } },
    handle: async ({ parameters, caller }) => {
      const { organizationId } = await requireScope(context, parameters);
      const id = parameters.invite;
      const answer = await context.members.revokeInvite({ organizationId, id, author: caller.principal });
      if (answer === "not-found") throw new Problem("NOT_FOUND", `There is no invite ${id} in this organization`);
      if (answer === "closed")
        throw new Problem(
          "IN_USE",
          `The invite ${id} was accepted or revoked, or has expired: there is nothing to revoke`,
        );
      return { status: 200, body: { removed: id } };
    },
  });
}

function acceptRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/invites/accept",
    summary: "Accept an invite that was made for your e-mail",
    need: { at: "self" },
    onlyPeople: true,
    tag,
    parameters: z.strictObject({}),
    body: inviteSecretSchema,
    answers: { 200: { description: "You belong to the organization", schema: acceptedInviteSchema } },
    handle: async ({ body, caller }) => {
      const { personId, principal } = caller;
      if (personId === undefined)
        throw new Problem("PRINCIPAL_REFUSED", "The operator's file is no person: sign in as whoever was invited");
      const person = { id: personId, email: principal.name };
      return { status: 200, body: await accept(context, body.secret, person, principal) };
    },
  });
}

/** Also where sign-up is off: whoever invites somebody has said that they may come in. */
function joinRoute(context: ApiContext): Route {
  return defineOpenRoute({
    method: "POST",
    path: "/v1/invites/join",
    summary: "Accept an invite as somebody who has not been here before: makes the person, with the invite's e-mail",
    tag,
    parameters: z.strictObject({}),
    body: joinInviteSchema,
    answers: { 201: { description: "You belong to the organization: sign in", schema: acceptedInviteSchema } },
    handle: async ({ body, origin }) => {
      const { identity } = context;
      const { secret, name, password } = body;
      await takeAttempts(identity, openLimits("invite from", origin.address));
      const found = await context.members.openInvite(tokenHash(secret));
      if (found === undefined) throw notUsable("you");
      const { email } = found.invite;
      requireStrong(password, { email, name });
      await requireStillGranted(context, found.organization, found.invite);
      const author = claimedAuthor(email, `invite/${found.invite.id}`, origin);
      const passwordHash = await identity.passwords.hash(password);
      // The secret was sent to that address, or given by whoever knows its owner.
      const made = { id: context.ids.next(), email, name, passwordHash, platformRole: "none", verified: true } as const;
      const person = await identity.store.createPerson({ person: made, author });
      if (person === undefined)
        throw new Problem("ALREADY_EXISTS", `${email} has been here before: sign in, then accept the invite`);
      return { status: 201, body: await accept(context, secret, person, author) };
    },
  });
}

/** Single use, for one e-mail, and never more than the inviter has by now. One answer to all that is wrong with it. */
async function accept(context: ApiContext, secret: string, person: PersonRef, author: Principal) {
  const found = await context.members.openInvite(tokenHash(secret));
  if (found === undefined || found.invite.email !== person.email) throw notUsable(person.email);
  const { invite, organization } = found;
  await requireStillGranted(context, organization, invite);
  const { organizationId, id, bindings } = invite;
  const bindingIds = bindings.map(() => context.ids.next());
  if (!(await context.members.acceptInvite({ organizationId, id, person, bindingIds, author })))
    throw notUsable(person.email);
  context.rights.forget(person.id);
  return { organization, bindings: bindings.length };
}

async function requireStillGranted(context: ApiContext, organization: string, invite: InviteRecord): Promise<void> {
  if (invite.inviterId === undefined) return;
  const inviter = await context.rights.bindingsOfPerson(invite.inviterId);
  for (const { role, scope } of invite.bindings) {
    const rules = await requireRules(context, invite.organizationId, role);
    if (mayStillGrant(inviter, rules, scopePathOf({ organization, ...scopeNames(scope) }))) continue;
    throw new Problem(
      "CREDENTIAL_SCOPE",
      `${invite.invitedBy} may no longer give the role "${role}" that this invite promises. Ask for a new invite`,
    );
  }
}

async function grantable(
  context: ApiContext,
  organization: string,
  wanted: z.output<typeof newInviteSchema>["bindings"],
  caller: Caller,
) {
  const bindings: { readonly role: string; readonly scope: string }[] = [];
  for (const { role, project, workspace } of wanted) {
    const { organizationId, scope } = await requireScope(context, { organization, project, workspace });
    const rules = await requireRules(context, organizationId, role);
    requireMayGrant(caller, role, rules, scopePathOf({ organization, project, workspace }));
    bindings.push({ role, scope });
  }
  return bindings;
}

/** By mail where there is a mail server; what it does not take is shown instead, so that nobody is left without. */
async function tell(
  context: ApiContext,
  about: {
    readonly organization: string;
    readonly invite: InviteRecord;
    readonly secret: string;
    readonly inviter: string;
  },
) {
  const { organization, invite, secret, inviter } = about;
  // Behind the #, which browsers send to nobody.
  const link = `${baseUrl(context.identity)}/invite#${secret}`;
  const shown = { mailed: false, link, secret };
  if (context.mailer === undefined) return shown;
  const text = `${inviter} invites you to the organization "${organization}".\n\nAccept until ${isoTime(invite.expiresAtMs)}:\n${link}\n\nIf you did not expect this, do nothing.\n`;
  try {
    await context.mailer.send(invite.email, `You are invited to ${organization}`, text);
    return { mailed: true };
  } catch (thrown) {
    context.log.warn("invite.mail-failed", {
      invite: invite.id,
      message: thrown instanceof Error ? thrown.message : "",
    });
    return shown;
  }
}

function notUsable(email: string): Problem {
  return new Problem(
    "NOT_FOUND",
    `This invite cannot be used by ${email}: it is for another e-mail, was used or revoked, or has expired. Ask for a new one`,
  );
}

function inviteDocument(invite: InviteRecord): InviteDocument {
  const { id, email, bindings, invitedBy, createdAtMs, expiresAtMs, state } = invite;
  return {
    id,
    email,
    bindings: bindings.map(({ role, scope }) => ({ role, ...scopeNames(scope) })),
    invitedBy,
    createdAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
    state,
  };
}
