import { isoTime } from "../../kernel/iso-time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GivenBack } from "../../ports/pool-store.ts";
import type { AccountUse, ReadStore } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import { requireRecentProof } from "../access/require-need.ts";
import { checkedSettings } from "../account-settings.ts";
import type { ApiContext } from "../context.ts";
import { accountIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { scopeText } from "../resources/refusals.ts";
import { defineRoute, type Route } from "../route.ts";
import { requireScope } from "../scope.ts";
import { sealCredential } from "../secrets/seal-credential.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
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
        const fromPool = body.fromPool === true;
        const settings = fromPool ? {} : checkedSettings(context, body);
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
          fromPool,
          author: caller.principal,
        });
        const pool = fromPool ? { pool: { locations: [] } } : {};
        return { status: 201, body: { id, name, provider, settings, callsPerSecond, ...pool } };
      },
    }),
    releaseRoute(context, path),
  ];
}

function releaseRoute(context: ApiContext, path: string): Route {
  return defineRoute({
    method: "POST",
    path: `${path}/{account}:release`,
    summary: "Give back what an account has of the operator's pool; refused while anything names the account",
    need: { at: "path", key: "organization.account", action: "delete" },
    tag: "accounts",
    parameters: organizationParameters.extend({ account: nameSchema }),
    answers: {
      200: { description: "It has none any more, and claims another one when it is needed", schema: accountSchema },
    },
    handle: async ({ caller, parameters }) => {
      const { organizationId, organization } = await requireScope(context, { organization: parameters.organization });
      const name = parameters.account;
      const accountId = accountIdOf(organization, name);
      const answer = await context.pool.giveBack({ organizationId, accountId, author: caller.principal });
      if (answer.result === "own")
        throw new Problem("ENTITY_STATUS", `The account "${name}" is your own, and nothing of the operator's pool`);
      if (answer.result === "in-use") throw stillNamed(name, answer);
      const account = (await context.reads.listAccounts(organizationId)).find(({ id }) => id === accountId);
      if (answer.result === "not-found" || account === undefined)
        throw new Problem("NOT_FOUND", `There is no account "${name}" in "${organization}"`);
      return { status: 200, body: accountDocument(account) };
    },
  });
}

function stillNamed(name: string, { users, total }: Extract<GivenBack, { readonly result: "in-use" }>): Problem {
  const named = users.map((user) => `${user.kind}/${user.name}`);
  const more = total > users.length ? ` and ${total - users.length} more` : "";
  return new Problem(
    "IN_USE",
    `The account "${name}" is still named by ${named.join(", ")}${more}: delete them, and wait until they are gone`,
    { users: users.map((user) => ({ ...user, scope: scopeText(user.scope) })) },
  );
}

/**
 * A reference names a file or a variable of the machine that the scheduler runs on, and what stands there is sent to the
 * account's address: an organization that could name one would be handed the platform's own keys.
 */
function requireOwnCredential(caller: Caller, { credentialRef }: NewAccount): void {
  if (credentialRef === undefined || can(caller, "platform.key", "update", ["platform"]).allowed) return;
  throw new Problem(
    "FORBIDDEN",
    "Only administrators of the platform name a file or a variable of schedulers and workers as a credential. If the credential is yours, send it as `credential`: it is sealed so that only they can read it",
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

function accountDocument(account: Awaited<ReturnType<ReadStore["listAccounts"]>>[number]): AccountDocument {
  const { id, name, provider, settings, callsPerSecond, fingerprint, claimedIncarnation, pool } = account;
  return {
    id,
    name,
    provider,
    // Those of an account of the pool are the operator's.
    settings: pool === undefined ? { ...settings } : {},
    callsPerSecond,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(claimedIncarnation === undefined ? {} : { claimedIncarnation }),
    ...(pool === undefined ? {} : { pool: { ...pool, locations: [...(pool.locations ?? [])] } }),
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
