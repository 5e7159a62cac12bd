import type { Kind } from "../../kernel/kind.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { requireResource } from "../resources/place.ts";
import { applyResource, deleteResource, replaceResource, resourceAnswer } from "../resources/writes.ts";
import { defineRoute, type Route } from "../route.ts";
import { dryRunSchema } from "../schemas/dry-run.ts";
import { applyQuerySchema, deleteQuerySchema, writeQuerySchema } from "../schemas/resource-query.ts";
import { manifestSchema, resourceSchema } from "../schemas/resource.ts";
import { manifestOf, namedParameters } from "./resource-manifest.ts";

const applyType = "application/apply+json";
const changed = {
  200: { description: "Changed, or as it was (header Setpoint-Result); with dryRun the plan", schema: resourceSchema },
  201: { description: "Declared", schema: resourceSchema },
  202: { description: "Declared, and an operation was started: Location is where to watch it", schema: resourceSchema },
};

/** What is done to one resource as a whole. */
export function resourceWriteRoutes(context: ApiContext, kind: Kind, path: string): readonly Route[] {
  return [
    getRoute(context, kind, path),
    replaceRoute(context, kind, path),
    applyRoute(context, kind, path),
    deleteRoute(context, kind, path),
  ];
}

function getRoute(context: ApiContext, kind: Kind, path: string): Route {
  return defineRoute({
    method: "GET",
    path,
    summary: `Read one ${kind.kind}: what is declared, and what was last seen with its age`,
    need: { at: "path", key: kind.permission, action: "read" },
    tag: kind.kind,
    parameters: namedParameters,
    answers: { 200: { description: "The resource; its revision is the ETag", schema: resourceSchema } },
    handle: async ({ parameters }) => {
      const { view } = await requireResource(context, kind, parameters);
      return await resourceAnswer(context, kind, parameters, view, 200);
    },
  });
}

function replaceRoute(context: ApiContext, kind: Kind, path: string): Route {
  return defineRoute({
    method: "PUT",
    path,
    summary: `Replace what is declared, or declare a ${kind.kind} under a free name`,
    need: { at: "path", key: kind.permission, action: "update" },
    tag: kind.kind,
    parameters: namedParameters,
    query: writeQuerySchema,
    body: manifestSchema,
    documentedBody: manifestOf(kind),
    takesIfMatch: true,
    answers: changed,
    handle: ({ parameters, query: { fieldManager: manager, ...how }, body: manifest, headers, caller }) =>
      replaceResource(context, kind, { parameters, headers, caller, ...how, manifest, manager }),
  });
}

function applyRoute(context: ApiContext, kind: Kind, path: string): Route {
  return defineRoute({
    method: "PATCH",
    path,
    summary: `Apply the fields that one owner wants of a ${kind.kind}; those of other owners stay`,
    need: { at: "path", key: kind.permission, action: "update" },
    tag: kind.kind,
    parameters: namedParameters,
    query: applyQuerySchema,
    body: manifestSchema,
    bodyType: applyType,
    takesIfMatch: true,
    answers: changed,
    handle: async ({ parameters, query: { fieldManager: manager, ...how }, body: manifest, headers, caller }) => {
      if (!headers["content-type"]?.startsWith(applyType))
        throw new Problem("BODY_INVALID", `What is merged is sent as "Content-Type: ${applyType}"`);
      return await applyResource(context, kind, { parameters, headers, caller, ...how, manifest, manager });
    },
  });
}

function deleteRoute(context: ApiContext, kind: Kind, path: string): Route {
  return defineRoute({
    method: "DELETE",
    path,
    summary: `Delete a ${kind.kind} and what it made outside`,
    need: { at: "path", key: kind.permission, action: "delete" },
    tag: kind.kind,
    parameters: namedParameters,
    query: deleteQuerySchema,
    takesIfMatch: true,
    answers: {
      200: { description: "The plan, with dryRun", schema: dryRunSchema },
      202: { description: "A tombstone stands; the loop removes what is outside", schema: resourceSchema },
    },
    handle: ({ parameters, query, headers, caller }) =>
      deleteResource(context, kind, { parameters, headers, caller, ...query, confirm: query.confirm }),
  });
}
