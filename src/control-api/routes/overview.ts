import { z } from "zod";
import type { ApiContext } from "../context.ts";
import { mapOf } from "../resources/map.ts";
import { figuresOf, listEverything } from "../resources/overview.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import { mapQuerySchema, mapSchema } from "../schemas/map.ts";
import { changesQuerySchema, changesSchema, figuresSchema, overviewQuerySchema } from "../schemas/overview.ts";
import { resourceListSchema } from "../schemas/resource.ts";
import { requireScope } from "../scope.ts";
import { ChangeStream } from "../watch/change-stream.ts";
import { requireCursor } from "../watch/cursor.ts";

const parameters = z.strictObject({ organization: nameSchema });
const path = "/v1/organizations/{organization}";

/** What a console shows of an organization: everything of every kind, in pages, in figures, and as it changes. */
export function overviewRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${path}/resources`,
      summary: "Resources of every kind and scope that the caller may read: by kind, scope and name",
      need: { at: "visible", key: "organization" },
      tag: "resources",
      parameters,
      query: overviewQuerySchema,
      answers: { 200: { description: "One page", schema: resourceListSchema } },
      handle: ({ parameters: { organization }, query, caller }) => listEverything(context, organization, query, caller),
    }),
    defineRoute({
      method: "GET",
      path: `${path}/figures`,
      summary: "How many resources there are, by kind and scope, and how many are not as they should be",
      need: { at: "visible", key: "organization" },
      tag: "resources",
      parameters,
      answers: { 200: { description: "Figures", schema: figuresSchema } },
      handle: async ({ parameters: { organization }, caller }) => ({
        status: 200,
        body: await figuresOf(context, organization, caller),
      }),
    }),
    defineRoute({
      method: "GET",
      path: `${path}/map`,
      summary:
        "What relates to what, of what the caller may read: a bounded map of everything, or of one neighbourhood",
      need: { at: "visible", key: "organization" },
      tag: "resources",
      parameters,
      query: mapQuerySchema,
      answers: { 200: { description: "Cards, groups and their relations", schema: mapSchema } },
      handle: async ({ parameters: { organization }, query, caller }) => ({
        status: 200,
        body: await mapOf(context, organization, query, caller),
      }),
    }),
    changesRoute(context),
  ];
}

function changesRoute(context: ApiContext): Route {
  return defineRoute({
    method: "GET",
    path: `${path}/changes`,
    summary: "Server-sent events that say what changed in the organization, of what the caller may read",
    need: { at: "visible", key: "organization" },
    tag: "resources",
    parameters,
    query: changesQuerySchema,
    answers: { 200: { description: "`SYNCED`, then `CHANGED` and `BOOKMARK` for ever", schema: changesSchema } },
    handle: async ({ parameters: { organization }, query, caller, headers }) => {
      const place = await requireScope(context, { organization });
      const cursor = headers["last-event-id"] ?? query.cursor;
      const from = cursor === undefined ? undefined : requireCursor(cursor, await context.reads.logPosition());
      return {
        status: 200,
        headers: { "content-type": "text/event-stream; charset=utf-8" },
        stream: (stream) => void new ChangeStream(context, { place, from, caller }, stream).run(),
      };
    },
  });
}
