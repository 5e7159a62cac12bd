import { z } from "zod";
import type { HeldChangeState, HeldChangeView } from "../../ports/read-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { isoTime } from "../iso-time.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  approvalAnswerSchema,
  approvalSchema,
  type HeldChangeDocument,
  heldChangeListSchema,
  heldChangeQuerySchema,
  heldChangeSchema,
  rejectionAnswerSchema,
} from "../schemas/governance.ts";
import { requireScope } from "../scope.ts";

const organizationParameters = z.strictObject({ organization: nameSchema });
const idParameters = organizationParameters.extend({ id: z.string().min(1).max(100) });
const path = "/v1/organizations/{organization}/held-changes";
const everyState: readonly HeldChangeState[] = ["open", "approved", "rejected", "withdrawn"];

export function heldChangeRoutes(context: ApiContext): readonly Route[] {
  return [...readRoutes(context), ...decisionRoutes(context)];
}

function readRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "What waits for a person",
      need: { at: "path", key: "organization.held_change", action: "read" },
      tag: "held changes",
      parameters: organizationParameters,
      query: heldChangeQuerySchema,
      answers: { 200: { description: "Held changes, newest first", schema: heldChangeListSchema } },
      handle: async ({ parameters, query }) => {
        const { organizationId } = await requireScope(context, parameters);
        const states = query.state === "any" ? everyState : [query.state];
        const views = await context.reads.listHeldChanges({ organizationId, states, limit: 500 });
        return { status: 200, body: { items: views.map(heldChangeDocument) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{id}`,
      summary: "One held change with everything it would do, and the digest an approval binds to",
      need: { at: "path", key: "organization.held_change", action: "read" },
      tag: "held changes",
      parameters: idParameters,
      answers: { 200: { description: "The held change", schema: heldChangeSchema } },
      handle: async ({ parameters }) => {
        const { organizationId } = await requireScope(context, parameters);
        const view = await context.reads.getHeldChange({ organizationId, id: parameters.id });
        if (view === undefined) throw notFound(parameters.id);
        return { status: 200, body: heldChangeDocument(view) };
      },
    }),
  ];
}

function decisionRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${path}/{id}:approve`,
      summary: "Approve what the digest names, and nothing else",
      need: { at: "path", key: "organization.held_change", action: "execute" },
      onlyPeople: true,
      tag: "held changes",
      parameters: idParameters,
      body: approvalSchema,
      answers: { 200: { description: "Each item may now be done once", schema: approvalAnswerSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const { id } = parameters;
        const grants = await approve(context, {
          organizationId,
          id,
          approver: caller.principal,
          digest: body.digest,
          grantForMs: body.forSeconds * 1_000,
        });
        return { status: 200, body: { id, state: "approved", grants } };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/{id}:reject`,
      summary: "Reject: it stays undone until it changes",
      need: { at: "path", key: "organization.held_change", action: "execute" },
      onlyPeople: true,
      tag: "held changes",
      parameters: idParameters,
      answers: { 200: { description: "Rejected", schema: rejectionAnswerSchema } },
      handle: async ({ parameters, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        const { id } = parameters;
        const author = caller.principal;
        const rejected = await context.intents.reject({ organizationId, heldChangeId: id, author });
        if (rejected) return { status: 200, body: { id, state: "rejected" } };
        const view = await context.reads.getHeldChange({ organizationId, id });
        if (view === undefined) throw notFound(id);
        throw new Problem("HELD_CHANGE_CLOSED", `The held change ${id} is ${view.state} already`);
      },
    }),
  ];
}

interface ApproveRequest {
  readonly organizationId: string;
  readonly id: string;
  readonly digest: string;
  readonly approver: Principal;
  readonly grantForMs: number;
}

async function approve(
  context: ApiContext,
  { organizationId, id, digest, approver, grantForMs }: ApproveRequest,
): Promise<number> {
  const answer = await context.intents.approve({ organizationId, heldChangeId: id, digest, approver, grantForMs });
  switch (answer.result) {
    case "approved":
      return answer.grants;
    case "not-found":
      throw notFound(id);
    case "closed":
      throw new Problem(
        "HELD_CHANGE_CLOSED",
        `The held change ${id} is not open any more: what it named was decided, or is no longer wanted`,
      );
    case "moved": {
      const message = `What waits under ${id} is not what this digest names. Look at it again, then approve its digest ${answer.digest}`;
      throw new Problem("DIGEST_MOVED", message, { digest: answer.digest });
    }
    case "four-eyes":
      throw new Problem(
        "FOUR_EYES",
        `${approver.name} declared or deleted part of ${id}: policy asks for another person's approval`,
      );
    case "refused-principal":
      throw new Problem("PRINCIPAL_REFUSED", "Machines and assistants may propose and never approve: a person must");
  }
}

function heldChangeDocument(view: HeldChangeView): HeldChangeDocument {
  const { id, state, level, guard, digest, verdict } = view;
  return {
    id,
    state,
    level,
    guard,
    digest,
    verdict: { ...verdict, numbers: { ...verdict.numbers }, keys: [...verdict.keys] },
    openedAt: isoTime(view.openedAtMs),
    ...(view.decidedBy === undefined ? {} : { decidedBy: view.decidedBy }),
    ...(view.decidedAtMs === undefined ? {} : { decidedAt: isoTime(view.decidedAtMs) }),
    items: view.items.map(({ kind, name, key, action, externalId, differences, reason }) => ({
      kind,
      name,
      key,
      action,
      ...(externalId === undefined ? {} : { externalId }),
      differences: differences.map(({ field, wanted, seen }) => ({
        field,
        ...(wanted === undefined ? {} : { wanted }),
        ...(seen === undefined ? {} : { seen }),
      })),
      reason,
    })),
  };
}

function notFound(id: string): Problem {
  return new Problem("NOT_FOUND", `There is no held change ${id} in this organization`);
}
