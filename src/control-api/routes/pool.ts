import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { PoolAccountView } from "../../ports/pool-store.ts";
import { StoreError } from "../../store/errors.ts";
import { checkedSettings } from "../account-settings.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import { newPoolAccountSchema, type PoolAccountDocument, poolAccountSchema, poolSchema } from "../schemas/pool.ts";

const tag = "pool";
const key = "platform.pool";
const path = "/v1/pool";
const accountParameters = z.strictObject({ account: nameSchema });

/** The operator's pool: accounts that organizations claim when they first make something there. */
export function poolRoutes(context: ApiContext): readonly Route[] {
  return [...keeping(context), ...leaving(context)];
}

function keeping(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "The operator's pool: accounts that organizations may claim, and who has which",
      need: { at: "platform", key, action: "read" },
      tag,
      parameters: z.strictObject({}),
      answers: { 200: { description: "By name", schema: poolSchema } },
      handle: async () => ({ status: 200, body: { items: (await context.pool.list()).map(poolDocument) } }),
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Put an account into the pool",
      need: { at: "platform", key, action: "create" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: z.strictObject({}),
      body: newPoolAccountSchema,
      answers: { 201: { description: "In the pool", schema: poolAccountSchema } },
      handle: async ({ caller, body }) => {
        const settings = checkedSettings(context, body);
        await context.pool.add({ ...body, settings, author: caller.principal }).catch((thrown: unknown) => {
          if (thrown instanceof StoreError && thrown.code === "ALREADY_EXISTS")
            throw new Problem("ALREADY_EXISTS", `There is already an account "${body.name}" in the pool`);
          throw thrown;
        });
        return { status: 201, body: poolDocument(await requirePoolAccount(context, body.name)) };
      },
    }),
  ];
}

function leaving(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "DELETE",
      path: `${path}/{account}`,
      summary: "Take an account out of the pool; one that an organization has stays",
      need: { at: "platform", key, action: "delete" },
      onlyPeople: true,
      tag,
      parameters: accountParameters,
      answers: { 204: { description: "Taken out" } },
      handle: async ({ caller, parameters: { account: name } }) => {
        const answer = await context.pool.remove({ name, author: caller.principal });
        if (answer.result === "not-found") throw unknownPoolAccount(name);
        if (answer.result === "claimed")
          throw new Problem(
            "IN_USE",
            `"${name}" is claimed by organization "${answer.organization}": it can be taken out when it was given back. See: setpoint pool list`,
          );
        return { status: 204 };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/{account}:release`,
      summary:
        "Put an account back that nothing names any more, saying that it is empty: another organization may claim it",
      need: { at: "platform", key, action: "execute" },
      onlyPeople: true,
      tag,
      parameters: accountParameters,
      answers: { 200: { description: "Free", schema: poolAccountSchema } },
      handle: async ({ caller, parameters: { account: name } }) => {
        const answer = await context.pool.free({ name, author: caller.principal });
        if (answer.result === "not-found") throw unknownPoolAccount(name);
        if (answer.result === "in-use")
          throw new Problem(
            "IN_USE",
            `${answer.resources} resources of organization "${answer.organization}" are still at "${name}": they have to be deleted, and gone, first`,
          );
        return { status: 200, body: poolDocument(await requirePoolAccount(context, name)) };
      },
    }),
  ];
}

async function requirePoolAccount(context: ApiContext, name: string): Promise<PoolAccountView> {
  const found = (await context.pool.list()).find((one) => one.name === name);
  if (found === undefined) throw unknownPoolAccount(name);
  return found;
}

function unknownPoolAccount(name: string): Problem {
  return new Problem("NOT_FOUND", `There is no account "${name}" in the pool. See: setpoint pool list`);
}

/** Without the reference: where the credential is concerns the engine's machine alone. */
function poolDocument(account: PoolAccountView): PoolAccountDocument {
  const { name, provider, settings, locations, callsPerSecond, state, organization, sinceMs } = account;
  return {
    name,
    provider,
    settings: { ...settings },
    locations: [...locations],
    callsPerSecond,
    state,
    ...(organization === undefined ? {} : { organization }),
    since: isoTime(sinceMs),
  };
}
