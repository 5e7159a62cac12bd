import type { Kind } from "../../kernel/kind.ts";
import type { ApiContext } from "../context.ts";
import { listResources, watchResources } from "../resources/listing.ts";
import { createResource } from "../resources/writes.ts";
import { defineRoute, type Route } from "../route.ts";
import { scopePaths } from "../scope.ts";
import { scopeParametersSchema } from "../schemas/common.ts";
import { dryRunSchema } from "../schemas/dry-run.ts";
import { resourceListQuerySchema, writeQuerySchema } from "../schemas/resource-query.ts";
import { manifestSchema, resourceListSchema, resourceSchema } from "../schemas/resource.ts";
import { resourceActionRoutes } from "./resource-actions.ts";
import { manifestOf } from "./resource-manifest.ts";
import { resourceOperationRoutes } from "./resource-operations.ts";
import { resourceRecordRoutes } from "./resource-records.ts";
import { resourceWriteRoutes } from "./resource-writes.ts";

/** One set of routes for every kind, in every scope where it lives. */
export function resourceRoutes(context: ApiContext): readonly Route[] {
  return [...context.kinds.values()].flatMap((kind) =>
    scopePaths
      .filter(({ type }) => kind.scopes.includes(type))
      .flatMap(({ path }) => {
        const base = `${path}/${kind.plural}`;
        return [
          listRoute(context, kind, base),
          createRoute(context, kind, base),
          ...resourceWriteRoutes(context, kind, `${base}/{name}`),
          ...resourceRecordRoutes(context, kind, `${base}/{name}`),
          ...resourceActionRoutes(context, kind, `${base}/{name}`),
          ...resourceOperationRoutes(context, kind, `${base}/{name}`),
        ];
      }),
  );
}

function listRoute(context: ApiContext, kind: Kind, base: string): Route {
  return defineRoute({
    method: "GET",
    path: base,
    summary: `List ${kind.kind} resources of this scope, or watch them`,
    need: { at: "path", key: kind.permission, action: "read" },
    tag: kind.kind,
    parameters: scopeParametersSchema,
    query: resourceListQuerySchema,
    answers: {
      200: { description: "One page; with watch=true server-sent events instead", schema: resourceListSchema },
    },
    handle: ({ parameters, query, headers, caller }) =>
      query.watch
        ? watchResources(context, kind, { parameters, query, caller, lastEventId: headers["last-event-id"] })
        : listResources(context, kind, parameters, query),
  });
}

function createRoute(context: ApiContext, kind: Kind, base: string): Route {
  return defineRoute({
    method: "POST",
    path: base,
    summary: `Declare a new ${kind.kind}; refused when there is one of this name`,
    need: { at: "path", key: kind.permission, action: "create" },
    tag: kind.kind,
    parameters: scopeParametersSchema,
    query: writeQuerySchema,
    body: manifestSchema,
    documentedBody: manifestOf(kind),
    answers: {
      200: { description: "The plan, with dryRun", schema: dryRunSchema },
      201: { description: "Declared", schema: resourceSchema },
      202: {
        description: "Declared, and an operation was started: Location is where to watch it",
        schema: resourceSchema,
      },
    },
    handle: ({ parameters, query, body: manifest, headers, caller, keeping }) => {
      const { fieldManager: manager, ...how } = query;
      const named = { ...parameters, name: manifest.metadata.name };
      const request = { parameters: named, headers, caller, ...how, manifest, manager, keeping };
      return createResource(context, kind, request);
    },
  });
}
