import { z } from "zod";
import { epochMsOf, isoTime } from "../../kernel/iso-time.ts";
import { Secret } from "../../kernel/secret.ts";
import type { SecretView } from "../../ports/secret-store.ts";
import type { ApiContext } from "../context.ts";
import { accountIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  accountCredentialSchema,
  credentialAnswerSchema,
  newSecretSchema,
  rotationRequestSchema,
  rotationSchema,
  secretListSchema,
  secretSchema,
} from "../schemas/secrets.ts";
import { requireScope } from "../scope.ts";
import { sealCredential } from "../secrets/seal-credential.ts";

const tag = "secrets";
const organizationParameters = z.strictObject({ organization: nameSchema });
const secretParameters = organizationParameters.extend({ secret: nameSchema });
const ownerPrefix = "secret/";
const field = "value";

export function secretRoutes(context: ApiContext): readonly Route[] {
  return [...ofOrganization(context), accountCredential(context), rotation(context)];
}

function ofOrganization(context: ApiContext): readonly Route[] {
  const path = "/v1/organizations/{organization}/secrets";
  const key = "organization.secret";
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "List secrets: that they are there, and never what they are",
      need: { at: "path", key, action: "read" },
      tag,
      parameters: organizationParameters,
      answers: { 200: { description: "By name", schema: secretListSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const items = (await context.secrets.list({ organizationId, ownerPrefix })).map(secretDocument);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: `${path}/{secret}`,
      summary: "Store or replace a secret",
      need: { at: "path", key, action: "update" },
      notAssistants: true,
      stepUp: true,
      tag,
      parameters: secretParameters,
      body: newSecretSchema,
      answers: { 200: { description: "Stored", schema: secretSchema } },
      handle: async ({ caller, parameters, body }) => {
        const { organizationId } = await requireScope(context, { organization: parameters.organization });
        const owner = ownerPrefix + parameters.secret;
        const value = new Secret(body.value);
        const view = await context.secrets.put({ organizationId, owner, field, value, author: caller.principal });
        return { status: 200, body: secretDocument(view) };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{secret}`,
      summary: "Remove a secret for good",
      need: { at: "path", key, action: "delete" },
      notAssistants: true,
      stepUp: true,
      tag,
      parameters: secretParameters,
      answers: { 204: { description: "Removed" } },
      handle: async ({ caller, parameters }) => {
        const { organizationId } = await requireScope(context, { organization: parameters.organization });
        const owner = ownerPrefix + parameters.secret;
        const isGone = await context.secrets.remove({ organizationId, owner, field, author: caller.principal });
        if (!isGone) throw new Problem("NOT_FOUND", `There is no secret "${parameters.secret}" here`);
        return { status: 204 };
      },
    }),
  ];
}

function accountCredential(context: ApiContext): Route {
  return defineRoute({
    method: "PUT",
    path: "/v1/organizations/{organization}/accounts/{account}/credential",
    summary: "Store the credential of an account, sealed to the engine",
    need: { at: "path", key: "organization.account", action: "update" },
    onlyPeople: true,
    stepUp: true,
    tag: "accounts",
    parameters: organizationParameters.extend({ account: nameSchema }),
    body: accountCredentialSchema,
    answers: { 200: { description: "Stored; what depends on it is looked at again", schema: credentialAnswerSchema } },
    handle: async ({ caller, parameters, body }) => {
      const { organizationId, organization } = await requireScope(context, { organization: parameters.organization });
      const accountId = accountIdOf(organization, parameters.account);
      await requireOwnAccount(context, organizationId, accountId);
      const sealed = await sealCredential(context, { organizationId, id: accountId }, body);
      const { write, read } = sealed;
      const request = { organizationId, accountId, write, read, author: caller.principal };
      if (!(await context.accountCredentials.replace(request)))
        throw new Problem("NOT_FOUND", `There is no account "${parameters.account}" in "${organization}"`);
      const parts = read === undefined ? ["write"] : ["read", "write"];
      return { status: 200, body: { account: parameters.account, sealedTo: sealed.key.id, parts } };
    },
  });
}

/** What the operator gives to claim has the operator's credential. */
async function requireOwnAccount(context: ApiContext, organizationId: string, accountId: string): Promise<void> {
  const found = (await context.reads.listAccounts(organizationId)).find(({ id }) => id === accountId);
  if (found?.pool === undefined) return;
  throw new Problem(
    "ENTITY_STATUS",
    `The account "${found.name}" comes from the operator's pool, and so does its credential. For one of your own add another account: setpoint account add`,
  );
}

function rotation(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/keys/rotation",
    summary: "Seal a batch of secrets anew: under the current root key, and under new keys of their tenants",
    need: { at: "platform", key: "platform.key", action: "execute" },
    onlyPeople: true,
    stepUp: true,
    tag: "platform",
    parameters: z.strictObject({}),
    body: rotationRequestSchema,
    answers: { 200: { description: "What was done and what is left", schema: rotationSchema } },
    handle: async ({ caller, body }) => {
      const { tenantKeys, batchSize } = body;
      const startedAtMs = body.startedAt === undefined ? undefined : epochMsOf(body.startedAt);
      const step = await context.secrets.rotate({ startedAtMs, tenantKeys, batchSize, author: caller.principal });
      const { rootKeyId, moved, left } = step;
      return { status: 200, body: { rootKeyId, startedAt: isoTime(step.startedAtMs), moved, left } };
    },
  });
}

function secretDocument({ owner, version, changedAtMs, changedBy }: SecretView) {
  return { name: owner.slice(ownerPrefix.length), version, changedAt: isoTime(changedAtMs), changedBy };
}
