import type { Kind } from "../../kernel/kind.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { earlierDeclaration } from "../resources/history.ts";
import { requireResource } from "../resources/place.ts";
import { declareAgain } from "../resources/writes.ts";
import { defineRoute, type Route } from "../route.ts";
import { rollbackQuerySchema } from "../schemas/resource-query.ts";
import { reconcileAnswerSchema, resourceSchema, rollbackBodySchema } from "../schemas/resource.ts";
import { namedParameters } from "./resource-manifest.ts";

/** Verbs on one resource. */
export function resourceActionRoutes(context: ApiContext, kind: Kind, path: string): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${path}:reconcile`,
      summary: "Look again now, and try again what stopped",
      need: { at: "path", key: kind.permission, action: "execute" },
      tag: kind.kind,
      parameters: namedParameters,
      answers: { 202: { description: "Due now", schema: reconcileAnswerSchema } },
      handle: async ({ caller, parameters }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        const { uid, name } = view.resource;
        if (kind.loop === undefined) {
          throw new Problem(
            "GUARD_REFUSED",
            `${kind.kind} has no loop: ${kind.withoutLoop ?? "nothing to run"} Reconcile what it is part of instead`,
          );
        }
        await context.intents.reconcileNow({ organizationId: place.organizationId, uid, author: caller.principal });
        return { status: 202, body: { kind: kind.kind, name, message: "due now" } };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}:rollback`,
      summary: "Declare again what was declared before: itself a declaration, within the guards",
      need: { at: "path", key: kind.permission, action: "update" },
      tag: kind.kind,
      parameters: namedParameters,
      query: rollbackQuerySchema,
      body: rollbackBodySchema,
      takesIfMatch: true,
      answers: { 200: { description: "Declared; with dryRun the plan", schema: resourceSchema } },
      handle: async ({ parameters, query, body, headers, caller }) => {
        const { place, view } = await requireResource(context, kind, parameters);
        const declaration = await earlierDeclaration(context, place.organizationId, view, body);
        const { fieldManager: manager, ...how } = query;
        return await declareAgain(context, kind, {
          parameters,
          headers,
          caller,
          ...how,
          manager,
          declaration,
          standing: view,
        });
      },
    }),
  ];
}
