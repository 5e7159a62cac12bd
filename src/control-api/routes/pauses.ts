import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { GovernanceChange } from "../../ports/governance-store.ts";
import type { Pause, Principal } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { pauseScopeOf } from "../pause-scope.ts";
import { pendingChanges } from "../pending.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route, type RouteAnswer } from "../route.ts";
import { fourEyesHeld, holdPauseEnd } from "../rule-proposals.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  endedSchema,
  extensionSchema,
  freezePreviewSchema,
  freezeSchema,
  newPauseSchema,
  type PauseDocument,
  pauseListSchema,
  pausePreviewSchema,
  pauseSchema,
  pendingSchema,
} from "../schemas/governance.ts";
import { requireScope } from "../scope.ts";

const nothing = z.strictObject({});
const organizationParameters = z.strictObject({ organization: nameSchema });
const idParameters = organizationParameters.extend({ id: z.string().min(1).max(100) });
const path = "/v1/organizations/{organization}/pauses";

export function pauseRoutes(context: ApiContext): readonly Route[] {
  return [
    ...organizationPauses(context),
    ...extendRoutes(context),
    ...freezeRoutes(context),
    ...previewRoutes(context),
  ];
}

function organizationPauses(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "Pauses in force, with those of the platform",
      need: { at: "path", key: "organization.pause", action: "read" },
      tag: "pauses",
      parameters: organizationParameters,
      answers: { 200: { description: "Pauses", schema: pauseListSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const pauses = await context.reads.listPauses(organizationId);
        return { status: 200, body: { items: pauses.map((pause) => pauseDocument(context, pause)) } };
      },
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Stop deletes, writes or everything in a scope, for a while",
      need: { at: "path", key: "organization.pause", action: "create" },
      inAnyStatus: true,
      tag: "pauses",
      parameters: organizationParameters,
      body: newPauseSchema,
      answers: { 201: { description: "In force within a second", schema: pauseSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const scope = await pauseScopeOf(context, parameters.organization, body.on);
        const author = caller.principal;
        return { status: 201, body: await pause(context, { organizationId, scope, on: body.on, body, author }) };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{id}`,
      summary: "End a pause; what waited is due at once. Under four eyes it waits for another person",
      need: { at: "path", key: "organization.pause", action: "delete" },
      onlyPeople: true,
      tag: "pauses",
      parameters: idParameters,
      answers: { 200: { description: "Ended", schema: endedSchema } },
      handle: async ({ parameters, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const { id } = parameters;
        const found = (await context.reads.listPauses(organizationId)).find((entry) => entry.id === id);
        if (found === undefined) throw notInForce(id);
        if (found.scope === "platform")
          throw new Problem("GUARD_REFUSED", `${id} is a freeze of the whole platform: it ends with DELETE /v1/freeze`);
        return await endPauses(context, [found], organizationId, caller.principal);
      },
    }),
  ];
}

function freezeRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/freeze",
      summary: "Freeze: a pause of the whole platform",
      need: { at: "platform", key: "platform.freeze", action: "create" },
      tag: "pauses",
      parameters: nothing,
      body: freezeSchema,
      answers: { 201: { description: "In force within a second", schema: pauseSchema } },
      handle: async ({ body, caller }) => {
        const author = caller.principal;
        return {
          status: 201,
          body: await pause(context, { organizationId: undefined, scope: "platform", body, author }),
        };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/freeze",
      summary: "The freezes in force",
      need: { at: "platform", key: "platform.freeze", action: "read" },
      tag: "pauses",
      parameters: nothing,
      answers: { 200: { description: "Freezes", schema: pauseListSchema } },
      handle: async () => ({
        status: 200,
        body: { items: (await freezes(context)).map((pause) => pauseDocument(context, pause)) },
      }),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/freeze",
      summary: "End every freeze; what waited is due at once. Under four eyes it waits for another person",
      need: { at: "platform", key: "platform.freeze", action: "delete" },
      onlyPeople: true,
      tag: "pauses",
      parameters: nothing,
      answers: { 200: { description: "Ended", schema: endedSchema } },
      handle: async ({ caller }) => await endPauses(context, await freezes(context), undefined, caller.principal),
    }),
  ];
}

function extendRoutes(context: ApiContext): readonly Route[] {
  const extend = async (id: string, organizationId: string | undefined, forSeconds: number, author: Principal) => {
    const forMs = forSeconds * 1_000;
    const answer = await context.governance.extendPause({ id, organizationId, forMs, author });
    const known =
      organizationId === undefined ? await freezes(context) : await context.reads.listPauses(organizationId);
    const found = known.find((entry) => entry.id === id);
    if (answer === undefined || found === undefined) throw notInForce(id);
    return { status: 200, body: pauseDocument(context, { ...found, expiresAtMs: answer.expiresAtMs }) };
  };
  const answers = { 200: { description: "It lasts until then, or longer if it did before", schema: pauseSchema } };
  return [
    defineRoute({
      method: "POST",
      path: `${path}/{id}:extend`,
      summary: "Let a pause last longer; never shorter, which would be resuming",
      need: { at: "path", key: "organization.pause", action: "create" },
      inAnyStatus: true,
      tag: "pauses",
      parameters: idParameters,
      body: extensionSchema,
      answers,
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        return await extend(parameters.id, organizationId, body.forSeconds, caller.principal);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/freeze/{id}:extend",
      summary: "Let a freeze last longer; never shorter, which would be resuming",
      need: { at: "platform", key: "platform.freeze", action: "create" },
      tag: "pauses",
      parameters: z.strictObject({ id: z.string().min(1).max(100) }),
      body: extensionSchema,
      answers,
      handle: ({ parameters, body, caller }) => extend(parameters.id, undefined, body.forSeconds, caller.principal),
    }),
  ];
}

function previewRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/organizations/{organization}/pending",
      summary: "What would be written if nothing paused it, from what was last seen",
      need: { at: "path", key: "organization.pause", action: "read" },
      tag: "pauses",
      parameters: organizationParameters,
      answers: { 200: { description: "Resources that differ from their declaration", schema: pendingSchema } },
      handle: async ({ parameters, caller }) => {
        const scope = await requireScope(context, parameters);
        return { status: 200, body: await pendingChanges(context, scope, { caller, under: undefined }) };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{id}/preview`,
      summary: "What ending a pause would set in motion, and what else would still stand in the way",
      need: { at: "path", key: "organization.pause", action: "read" },
      tag: "pauses",
      parameters: idParameters,
      answers: { 200: { description: "What is left to do below the pause", schema: pausePreviewSchema } },
      handle: async ({ parameters, caller }) => {
        const scope = await requireScope(context, parameters);
        const pauses = await context.reads.listPauses(scope.organizationId);
        const found = pauses.find(({ id }) => id === parameters.id);
        if (found === undefined) throw notInForce(parameters.id);
        const pending = await pendingChanges(context, scope, { caller, under: found.scope });
        return { status: 200, body: { pauses: [pauseDocument(context, found)], pending } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/freeze/preview",
      summary: "What ending every freeze would set in motion, by organization",
      need: { at: "platform", key: "platform.freeze", action: "read" },
      tag: "pauses",
      parameters: nothing,
      answers: { 200: { description: "Counts by organization", schema: freezePreviewSchema } },
      handle: async () => {
        const [frozen, left] = await Promise.all([freezes(context), context.governance.leftByOrganization()]);
        const organizations = left.map(({ organization, subjects, waiting }) => ({
          name: organization,
          leftToDo: subjects,
          due: waiting,
        }));
        return {
          status: 200,
          body: { freezes: frozen.map((pause) => pauseDocument(context, pause)), organizations },
        };
      },
    }),
  ];
}

function notInForce(id: string): Problem {
  return new Problem("NOT_FOUND", `There is no pause ${id} in force here: it ended, or it never was`);
}

async function pause(
  context: ApiContext,
  request: {
    readonly organizationId: string | undefined;
    readonly scope: string;
    readonly on?: string;
    readonly body: z.output<typeof freezeSchema>;
    readonly author: Principal;
  },
): Promise<PauseDocument> {
  const { organizationId, scope, on, body, author } = request;
  const id = context.ids.next();
  const { level, reason } = body;
  await context.intents.pause({
    id,
    organizationId,
    scope,
    on,
    level,
    author,
    reason,
    forMs: body.forSeconds * 1_000,
  });
  const expiresAtMs = context.clock.nowMs() + body.forSeconds * 1_000;
  return pauseDocument(context, { id, scope, on, level, author: author.name, reason, expiresAtMs });
}

/** Where policy asks for four eyes, each waits for another person instead. */
async function endPauses(
  context: ApiContext,
  pauses: readonly Pause[],
  organizationId: string | undefined,
  author: Principal,
): Promise<RouteAnswer> {
  const asked = { author, reason: author.via?.reason };
  const waiting: GovernanceChange[] = [];
  for (const pause of pauses) {
    const answer = await context.intents.endPause({ id: pause.id, organizationId, author });
    if (answer === "refused")
      throw new Problem("PRINCIPAL_REFUSED", "Machines and assistants may pause and never resume: a person must");
    if (answer === "four-eyes") waiting.push(await holdPauseEnd(context, { organizationId, pause }, asked));
  }
  const [first] = waiting;
  if (first === undefined) return { status: 200, body: { ended: pauses.map(({ id }) => id) } };
  throw fourEyesHeld(first);
}

/** Platform pauses are shown to every tenant, so any one of them can be asked. */
async function freezes(context: ApiContext): Promise<readonly Pause[]> {
  const [first] = await context.reads.listOrganizations();
  if (first === undefined) return [];
  return (await context.reads.listPauses(first.id)).filter((entry) => entry.scope === "platform");
}

function pauseDocument(context: ApiContext, pause: Pause): PauseDocument {
  const { id, scope, on, level, author, reason, expiresAtMs } = pause;
  const remainingSeconds = Math.max(0, Math.ceil((expiresAtMs - context.clock.nowMs()) / 1_000));
  const called = on === undefined ? {} : { on };
  return { id, scope, ...called, level, author, reason, expiresAt: isoTime(expiresAtMs), remainingSeconds };
}
