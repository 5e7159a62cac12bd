import type { Kind } from "../../kernel/kind.ts";
import type { ApiContext } from "../context.ts";
import { requireResource } from "../resources/place.ts";
import { startPipeline } from "../resources/starting.ts";
import { defineRoute, type Route } from "../route.ts";
import {
  operationListQuerySchema,
  operationListSchema,
  operationSchema,
  startBodySchema,
} from "../schemas/operation.ts";
import { operationPage } from "./operations.ts";
import { namedParameters } from "./resource-manifest.ts";

/** Long work on one resource, for kinds that have any. */
export function resourceOperationRoutes(context: ApiContext, kind: Kind, path: string): readonly Route[] {
  if ((kind.pipelines ?? []).length === 0) return [];
  return [
    defineRoute({
      method: "GET",
      path: `${path}/operations`,
      summary: `Operations on one ${kind.kind}, newest first`,
      need: { at: "path", key: kind.permission, action: "read" },
      tag: kind.kind,
      parameters: namedParameters,
      query: operationListQuerySchema,
      answers: { 200: { description: "One page", schema: operationListSchema } },
      handle: async ({ parameters, query }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        const of = { organizationId: place.organizationId, uid: view.resource.uid };
        return { status: 200, body: await operationPage(context, of, query) };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/operations`,
      summary: `Start a pipeline on a ${kind.kind}; one that runs already is the answer`,
      need: { at: "path", key: kind.permission, action: "execute" },
      tag: kind.kind,
      parameters: namedParameters,
      body: startBodySchema,
      answers: { 202: { description: "It runs; Location is where to watch it", schema: operationSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        return await startPipeline(context, kind, { ...place, view, caller }, body);
      },
    }),
  ];
}
