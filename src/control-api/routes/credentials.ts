import { z } from "zod";
import type { CredentialOwner, TokenType } from "../../ports/credential-store.ts";
import type { Caller } from "../access/caller.ts";
import { readTokenText, tokenWords } from "../authentication/token-text.ts";
import type { ApiContext } from "../context.ts";
import { grantedAccess } from "../credentials/granted-access.ts";
import { dayMs, makeToken, minuteMs } from "../credentials/make-token.ts";
import { tokenDocument } from "../credentials/token-document.ts";
import { organizationIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { defineOpenRoute, defineRoute, type Route, type RouteAnswer } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  leakedTokenSchema,
  newEnrolmentTokenSchema,
  newOrganizationTokenSchema,
  newPersonalTokenSchema,
  newTokenSchema,
  newWorkspaceKeySchema,
  tokenListSchema,
  tokenSchema,
} from "../schemas/credentials.ts";
import { requireScope } from "../scope.ts";

const tag = "tokens";
const tokenParameter = { token: z.uuid() };
const nothing = z.strictObject({});
const organizationParameters = z.strictObject({ organization: nameSchema });
const workspaceParameters = z.strictObject({
  organization: nameSchema,
  project: nameSchema,
  workspace: nameSchema,
});
const listed = { 200: { description: "Newest first, without the tokens themselves", schema: tokenListSchema } };
const made = { 201: { description: "Made. The token is shown this once", schema: newTokenSchema } };
const ended = { 200: { description: "Revoked: it is refused everywhere within 5 s", schema: tokenSchema } };

export function credentialRoutes(context: ApiContext): readonly Route[] {
  return [...personal(context), ...ofOrganization(context), ...ofWorkspace(context), leaked(context)];
}

function personal(context: ApiContext): readonly Route[] {
  const path = "/v1/me/tokens";
  const ownerOf = ({ personId }: Caller): CredentialOwner => ({ organizationId: undefined, personId });
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "List your personal tokens",
      need: { at: "self" },
      tag,
      parameters: nothing,
      answers: listed,
      handle: ({ caller }) => list(context, ownerOf(caller)),
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Make a personal token: it acts in your name, as a machine, with at most your rights",
      need: { at: "self" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: nothing,
      body: newPersonalTokenSchema,
      answers: made,
      handle: async ({ caller, body }) => {
        const wanted = body.access?.map(({ organization, project, workspace, rules }) => ({
          organization,
          project,
          workspace,
          rules,
        }));
        const bindings = wanted === undefined ? undefined : grantedAccess(caller, context.kinds, wanted);
        for (const { organization, project, workspace } of wanted ?? [])
          if (organization !== undefined) await requireScope(context, { organization, project, workspace });
        return makeToken(context, caller, {
          organizationId: undefined,
          type: "personal-token",
          name: body.name,
          scope: "platform",
          bindings,
          forMs: body.expiresInDays * dayMs,
        });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{token}`,
      summary: "Revoke a personal token of yours",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: z.strictObject(tokenParameter),
      answers: ended,
      handle: ({ caller, parameters }) => revoke(context, caller, ownerOf(caller), parameters.token),
    }),
  ];
}

function ofOrganization(context: ApiContext): readonly Route[] {
  const path = "/v1/organizations/{organization}/tokens";
  const key = "organization.token";
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "List the tokens of an organization, those of its workspaces included",
      need: { at: "path", key, action: "read" },
      tag,
      parameters: organizationParameters,
      answers: listed,
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        return list(context, { organizationId, scope: undefined, type: undefined });
      },
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Make a service token or an assistant token",
      need: { at: "path", key, action: "create" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: organizationParameters,
      body: newOrganizationTokenSchema,
      answers: made,
      handle: async ({ caller, parameters, body }) => {
        const { organization } = parameters;
        const wanted = body.access.map(({ project, workspace, rules }) => ({
          organization,
          project,
          workspace,
          rules,
        }));
        const bindings = grantedAccess(caller, context.kinds, wanted);
        for (const { project, workspace } of wanted) await requireScope(context, { organization, project, workspace });
        const { organizationId, scope } = await requireScope(context, { organization });
        const forMs = body.expiresInDays * dayMs;
        const { type, name } = body;
        return makeToken(context, caller, { organizationId, type, name, scope, bindings, forMs });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{token}`,
      summary: "Revoke a token of an organization or of one of its workspaces",
      need: { at: "path", key, action: "delete" },
      onlyPeople: true,
      tag,
      parameters: organizationParameters.extend(tokenParameter),
      answers: ended,
      handle: ({ caller, parameters }) => {
        const organizationId = organizationIdOf(parameters.organization);
        return revoke(context, caller, { organizationId, scope: undefined, type: undefined }, parameters.token);
      },
    }),
  ];
}

/** Two sets of routes: a key that a workspace speaks with is not a token that lets a machine join. */
function ofWorkspace(context: ApiContext): readonly Route[] {
  const workspace = "/v1/organizations/{organization}/projects/{project}/workspaces/{workspace}";
  const keys = { path: `${workspace}/keys`, key: "project.workspace.key", type: "workspace-key" } as const;
  const enrolments = {
    path: `${workspace}/enrolment-tokens`,
    key: "project.workspace.agent_token",
    type: "agent-enrolment",
  } as const;
  return [
    ...listAndEnd(context, keys),
    ...listAndEnd(context, enrolments),
    defineRoute({
      method: "POST",
      path: keys.path,
      summary: "Make a workspace key: with it something in a workspace speaks to the platform",
      need: { at: "path", key: keys.key, action: "create" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: workspaceParameters,
      body: newWorkspaceKeySchema,
      answers: made,
      handle: async ({ caller, parameters, body }) => {
        const bindings = grantedAccess(caller, context.kinds, [{ ...parameters, rules: body.rules }]);
        const { organizationId, scope } = await requireScope(context, parameters);
        const forMs = body.expiresInDays * dayMs;
        return makeToken(context, caller, { organizationId, type: keys.type, name: body.name, scope, bindings, forMs });
      },
    }),
    defineRoute({
      method: "POST",
      path: enrolments.path,
      summary: "Make a token that lets one agent join",
      need: { at: "path", key: enrolments.key, action: "create" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: workspaceParameters,
      body: newEnrolmentTokenSchema,
      answers: made,
      handle: async ({ caller, parameters, body }) => {
        const { organizationId, scope } = await requireScope(context, parameters);
        const forMs = body.expiresInMinutes * minuteMs;
        // It may call nothing; what the agent may do is decided when it joins.
        const about = { organizationId, type: enrolments.type, name: body.name, scope, bindings: [], forMs };
        return makeToken(context, caller, about);
      },
    }),
  ];
}

function listAndEnd(
  context: ApiContext,
  about: { readonly path: string; readonly key: string; readonly type: TokenType },
): readonly Route[] {
  const { path, key, type } = about;
  return [
    defineRoute({
      method: "GET",
      path,
      summary: `List what was made here: each is ${tokenWords[type]}`,
      need: { at: "path", key, action: "read" },
      tag,
      parameters: workspaceParameters,
      answers: listed,
      handle: async ({ parameters }) => {
        const { organizationId, scope } = await requireScope(context, parameters);
        return list(context, { organizationId, scope, type });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{token}`,
      summary: `Revoke ${tokenWords[type]}`,
      need: { at: "path", key, action: "delete" },
      onlyPeople: true,
      tag,
      parameters: workspaceParameters.extend(tokenParameter),
      answers: ended,
      handle: async ({ caller, parameters: { token, ...names } }) => {
        const { organizationId, scope } = await requireScope(context, names);
        return revoke(context, caller, { organizationId, scope, type }, token);
      },
    }),
  ];
}

/** For whoever finds a token where it should not be: having it is enough to end it. */
function leaked(context: ApiContext): Route {
  return defineOpenRoute({
    method: "POST",
    path: "/v1/leaked-tokens",
    summary: "End a token that was found in the open",
    tag,
    parameters: nothing,
    body: leakedTokenSchema,
    answers: { 204: { description: "If it was a token of this installation, it is revoked" } },
    handle: async ({ body, origin }) => {
      const text = readTokenText(body.token);
      if (text.is !== "token") {
        const meant = text.is === "broken" && text.type !== undefined ? ` It looks like ${tokenWords[text.type]}.` : "";
        throw new Problem("FIELDS_INVALID", `This is not a whole token of Setpoint.${meant} Send all of it`, {
          errors: [{ pointer: "/token", message: "is not a whole token" }],
        });
      }
      const via = { credential: "leaked-token", address: origin.address, requestId: origin.requestId };
      const author = { name: "whoever found it", type: "machine", via } as const;
      const record = await context.credentials.revokeByHash({ hash: text.hash, author });
      if (record !== undefined) context.authenticator.forget(record.id);
      return { status: 204 };
    },
  });
}

async function list(context: ApiContext, owner: CredentialOwner): Promise<RouteAnswer> {
  const records = await context.credentials.list(owner);
  return { status: 200, body: { items: records.map(tokenDocument) } };
}

async function revoke(context: ApiContext, caller: Caller, owner: CredentialOwner, id: string): Promise<RouteAnswer> {
  const record = await context.credentials.revoke({ owner, id, author: caller.principal });
  if (record === undefined)
    throw new Problem("NOT_FOUND", `There is no token ${id} here. List them to see which there are`);
  context.authenticator.forget(id);
  return { status: 200, body: tokenDocument(record) };
}
