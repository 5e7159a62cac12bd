import { isoTime } from "../../kernel/iso-time.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { ApiContext } from "../context.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { comparisonOf } from "../resources/comparison.ts";
import { declarationDocuments, declarationsOf } from "../resources/declarations.ts";
import { historyOf } from "../resources/history.ts";
import { observationOf } from "../resources/observation.ts";
import { requireResource } from "../resources/place.ts";
import { defineRoute, type Route } from "../route.ts";
import { comparisonSchema } from "../schemas/comparison.ts";
import { historyQuerySchema } from "../schemas/resource-query.ts";
import {
  declarationListSchema,
  historySchema,
  observationSchema,
  resourceEventListSchema,
  statusSubresourceSchema,
  whySchema,
} from "../schemas/resource.ts";
import { cursorText } from "../watch/cursor.ts";
import { explain } from "../why.ts";
import { namedParameters } from "./resource-manifest.ts";

/** What is on record about one resource. */
export function resourceRecordRoutes(context: ApiContext, kind: Kind, path: string): readonly Route[] {
  const shared = {
    method: "GET",
    need: { at: "path", key: kind.permission, action: "read" },
    tag: kind.kind,
    parameters: namedParameters,
  } as const;
  return [
    defineRoute({
      ...shared,
      path: `${path}/status`,
      summary: "What was seen of it, with its age",
      answers: { 200: { description: "The status alone", schema: statusSubresourceSchema } },
      handle: async ({ parameters }) => {
        const { view } = await requireResource(context, kind, parameters);
        const { metadata, status } = await new ResourceDocuments(context, parameters.organization).document(kind, view);
        const { name, uid, generation, statusRevision } = metadata;
        return { status: 200, body: { kind: kind.kind, name, uid, generation, statusRevision, status } };
      },
    }),
    defineRoute({
      ...shared,
      path: `${path}/why`,
      summary: "Why it is as it is: the chain from declaration to the last call, in words and as data",
      answers: { 200: { description: "The explanation", schema: whySchema } },
      handle: async ({ parameters }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        return { status: 200, body: await explain(context, kind, { ...place, view }) };
      },
    }),
    defineRoute({
      ...shared,
      path: `${path}/history`,
      summary: "What was declared, decided and done, newest first",
      query: historyQuerySchema,
      answers: { 200: { description: "The history, as far as it is kept", schema: historySchema } },
      handle: async ({ parameters, query: { limit } }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        return { status: 200, body: { items: await historyOf(context, kind, { ...place, view }, limit) } };
      },
    }),
    ...(isLooping(kind)
      ? [observationRoute(context, kind, path, shared), comparisonRoute(context, kind, path, shared)]
      : []),
    ...logRoutes(context, kind, path, shared),
  ];
}

type Shared = Pick<Parameters<typeof defineRoute>[0], "method" | "need" | "tag"> & {
  parameters: typeof namedParameters;
};

function observationRoute(context: ApiContext, kind: Kind, path: string, shared: Shared): Route {
  return defineRoute({
    ...shared,
    path: `${path}/observation`,
    summary: "What was last seen outside: what is ours, who declares it, and how the rest would be declared",
    answers: { 200: { description: "The last look of each of its subjects", schema: observationSchema } },
    handle: async ({ parameters }) => {
      const { place, view } = await requireResource(context, kind, parameters);
      return { status: 200, body: await observationOf(context, kind, { ...place, view }) };
    },
  });
}

type Looping = Kind & { readonly loop: NonNullable<Kind["loop"]> };

function isLooping(kind: Kind): kind is Looping {
  return kind.loop !== undefined;
}

function comparisonRoute(context: ApiContext, kind: Looping, path: string, shared: Shared): Route {
  return defineRoute({
    ...shared,
    path: `${path}/comparison`,
    summary:
      "What is declared, what was last wanted and what was last seen, side by side, with what is ignored and why",
    answers: { 200: { description: "The three sides of each of its items", schema: comparisonSchema } },
    handle: async ({ parameters }) => {
      const { place, view } = await requireResource(context, kind, parameters);
      return { status: 200, body: await comparisonOf(context, kind, { ...place, view }) };
    },
  });
}

function logRoutes(context: ApiContext, kind: Kind, path: string, shared: Shared): readonly Route[] {
  return [
    defineRoute({
      ...shared,
      path: `${path}/declarations`,
      summary: "What was declared before, newest first: what a rollback can go back to",
      query: historyQuerySchema,
      answers: { 200: { description: "The declarations, as far as they are kept", schema: declarationListSchema } },
      handle: async ({ parameters, query: { limit } }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        const past = await declarationsOf(context, place.organizationId, view, limit);
        return { status: 200, body: { items: declarationDocuments(past, limit) } };
      },
    }),
    defineRoute({
      ...shared,
      path: `${path}/events`,
      summary: "What the log says about it, newest first",
      query: historyQuerySchema,
      answers: {
        200: { description: "The entries, as far as they are sealed and kept", schema: resourceEventListSchema },
      },
      handle: async ({ parameters, query: { limit } }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        const request = { organizationId: place.organizationId, uid: view.resource.uid, limit };
        const [{ incarnation }, entries] = await Promise.all([
          context.reads.logPosition(),
          context.reads.resourceEntries({ ...request, types: undefined, beforePosition: undefined }),
        ]);
        const items = entries.map(({ type, atMs, actor, revision, position }) => ({
          type,
          at: isoTime(atMs),
          by: actor,
          ...(revision === undefined ? {} : { revision }),
          position: cursorText({ incarnation, position }),
        }));
        return { status: 200, body: { items } };
      },
    }),
  ];
}
