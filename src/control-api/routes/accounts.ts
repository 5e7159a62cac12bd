import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../ports/json.ts";
import type { AccountUse, ReadStore } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import { requireRecentProof } from "../access/require-need.ts";
import type { ApiContext } from "../context.ts";
import { isoTime } from "../iso-time.ts";
import { accountIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope } from "../scope.ts";
import { sealCredential } from "../secrets/seal-credential.ts";
import { scopeParametersSchema } from "../schemas/common.ts";
import {
  type AccountDocument,
  accountListSchema,
  accountSchema,
  type NewAccount,
  newAccountSchema,
} from "../schemas/organization.ts";

const organizationParameters = scopeParametersSchema.pick({ organization: true });

export function accountRoutes(context: ApiContext): readonly Route[] {
  const path = "/v1/organizations/{organization}/accounts";
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "List accounts",
      need: { at: "path", key: "organization.account", action: "read" },
      tag: "accounts",
      parameters: organizationParameters,
      answers: { 200: { description: "All accounts of the organization", schema: accountListSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const [accounts, used] = await Promise.all([
          context.reads.listAccounts(organizationId),
          context.reads.accountUse(organizationId),
        ]);
        const nowMs = context.clock.nowMs();
        const uses = new Map(used.map((use) => [use.id, use]));
        const items = accounts.map((account) => ({
          ...accountDocument(account),
          ...useDocument(uses.get(account.id), account.callsPerSecond, nowMs),
        }));
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Add an account: one credential's world at a provider",
      need: { at: "path", key: "organization.account", action: "create" },
      tag: "accounts",
      parameters: organizationParameters,
      body: newAccountSchema,
      answers: { 201: { description: "Added", schema: accountSchema } },
      handle: async ({ caller, parameters, body }) => {
        const { organizationId, organization } = await requireScope(context, parameters);
        requireOwnCredential(caller, body);
        if (body.credential !== undefined) requirePersonsCredential(caller, context.clock);
        const known = await context.reads.listAccounts(organizationId);
        if (known.some((account) => account.name === body.name))
          throw new Problem("ALREADY_EXISTS", `There is already an account "${body.name}"`);
        const settings = checkedSettings(context, body);
        const { name, provider, credential, callsPerSecond } = body;
        const id = accountIdOf(organization, name);
        const sealed = credential && (await sealCredential(context, { organizationId, id }, credential));
        await context.intents.createAccount({
          id,
          organizationId,
          name,
          provider,
          settings,
          credentialRef: sealed?.write ?? body.credentialRef,
          readCredentialRef: sealed?.read,
          callsPerSecond,
          author: caller.principal,
        });
        return { status: 201, body: { id, name, provider, settings, callsPerSecond } };
      },
    }),
  ];
}

/**
 * A reference names a file or a variable of the machine that the scheduler runs on, and what stands there is sent to the
 * account's address: an organization that could name one would be handed the platform's own keys.
 */
function requireOwnCredential(caller: Caller, { credentialRef }: NewAccount): void {
  if (credentialRef === undefined || can(caller, "platform.key", "update", ["platform"]).allowed) return;
  throw new Problem(
    "FORBIDDEN",
    "Only administrators of the platform name a file or a variable of the scheduler as a credential. If the credential is yours, send it as `credential`: it is sealed so that only the scheduler can read it",
    { errors: [{ pointer: "/credentialRef", message: "is for administrators of the platform" }] },
  );
}

/** As for replacing one later: what opens a provider comes from a person, who has just proven to be that person. */
function requirePersonsCredential(caller: Caller, clock: Clock): void {
  const { type, name } = caller.principal;
  if (type !== "person")
    throw new Problem(
      "PRINCIPAL_REFUSED",
      `${name} is a ${type}, and only people store a provider's credential. Add the account without one, and have a person store it: setpoint secret set-credential`,
      { errors: [{ pointer: "/credential", message: "is for people alone" }] },
    );
  if (caller.credential.type === "session") requireRecentProof(caller, clock);
}

function checkedSettings(context: ApiContext, account: NewAccount): JsonObject {
  const schema = context.accountSettings.get(account.provider);
  if (schema === undefined) {
    const known = [...context.accountSettings.keys()].sort().join(", ");
    throw new Problem("PROVIDER_UNKNOWN", `There is no provider "${account.provider}". Installed: ${known}`, {
      errors: [{ pointer: "/provider", message: `must be one of: ${known}` }],
    });
  }
  const parsed = schema.safeParse(account.settings);
  if (parsed.success) return parsed.data as JsonObject;
  const errors = parsed.error.issues.map((issue) => ({
    pointer: `/settings${issue.path.map((part) => `/${String(part)}`).join("")}`,
    message: issue.message,
  }));
  throw new Problem(
    "FIELDS_INVALID",
    `The settings of account "${account.name}" are not those of a ${account.provider} account`,
    { errors },
  );
}

function accountDocument(account: Awaited<ReturnType<ReadStore["listAccounts"]>>[number]): AccountDocument {
  const { id, name, provider, settings, callsPerSecond, fingerprint, claimedIncarnation } = account;
  return {
    id,
    name,
    provider,
    settings: { ...settings },
    callsPerSecond,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(claimedIncarnation === undefined ? {} : { claimedIncarnation }),
  };
}

function useDocument(
  use: AccountUse | undefined,
  callsPerSecond: number,
  nowMs: number,
): Pick<AccountDocument, "credential" | "use"> {
  if (use === undefined) return {};
  const { credential, subjects, failing, owned, oldestLookAtMs, lastLookAtMs, blockedUntilMs, tookMs, tookAtMs } = use;
  // Calls are counted when they are taken: since then as many came back as time has passed, up to two seconds' worth.
  const callsAtMost = Math.max(1, 2 * callsPerSecond);
  const refilled = use.tokens + (Math.max(0, nowMs - use.tokensAtMs) / 1_000) * callsPerSecond;
  return {
    credential,
    use: {
      callsLeft: Math.floor(Math.min(callsAtMost, refilled)),
      callsAtMost,
      ...(blockedUntilMs > nowMs ? { blockedUntil: isoTime(blockedUntilMs) } : {}),
      ...(tookAtMs === undefined || tookMs.length === 0 ? {} : { latency: latencyOf(tookMs, tookAtMs) }),
      inventories: use.inventories.map(({ collection, completeAtMs }) => ({
        collection,
        completeAt: isoTime(completeAtMs),
      })),
      subjects,
      failing,
      owned,
      ...(oldestLookAtMs === undefined ? {} : { oldestLookAt: isoTime(oldestLookAtMs) }),
      ...(lastLookAtMs === undefined ? {} : { lastLookAt: isoTime(lastLookAtMs) }),
    },
  };
}

/** The time within which so many were answered: the call at that rank, and no guess between two. */
function latencyOf(tookMs: readonly number[], atMs: number): NonNullable<AccountDocument["use"]>["latency"] {
  const sorted = tookMs.toSorted((left, right) => left - right);
  const within = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { medianMs: within(0.5), p95Ms: within(0.95), slowestMs: within(1), calls: sorted.length, at: isoTime(atMs) };
}
