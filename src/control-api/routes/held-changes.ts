import { z } from "zod";
import type { DecisionAnswer } from "../../ports/governance-store.ts";
import type { HeldChangeState } from "../../ports/read-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { Caller } from "../access/caller.ts";
import { requireMayWithdraw } from "../access/may-withdraw.ts";
import type { ApiContext } from "../context.ts";
import { governanceDocument, planDocument } from "../held-document.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { proposeRules } from "../rule-proposals.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  approvalAnswerSchema,
  approvalSchema,
  type HeldChangeDocument,
  heldChangeListSchema,
  heldChangeQuerySchema,
  heldChangeSchema,
  proposalOfRulesSchema,
  rejectionAnswerSchema,
  rejectionSchema,
  withdrawalAnswerSchema,
  withdrawalSchema,
} from "../schemas/governance.ts";
import { requireScope } from "../scope.ts";

const organizationParameters = z.strictObject({ organization: nameSchema });
const id = z.string().min(1).max(100);
const idParameters = organizationParameters.extend({ id });
const path = "/v1/organizations/{organization}/held-changes";
const platformPath = "/v1/held-changes";
/** Of each held change, in the list and when it is looked at. */
const listedItems = 50;
const shownItems = 1_000;
const everyState: readonly HeldChangeState[] = ["open", "approved", "rejected", "withdrawn"];

/** One inbox for what waits for a person: items of plans, looser rules and declarations, ends of pauses. */
export function heldChangeRoutes(context: ApiContext): readonly Route[] {
  return [...readRoutes(context), ...decisionRoutes(context), withdrawRoute(context), ...platformRoutes(context)];
}

type Query = z.output<typeof heldChangeQuerySchema>;

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
      handle: async ({ parameters, query, caller }) => {
        const { organizationId, organization } = await requireScope(context, parameters);
        return { status: 200, body: await inboxOf(context, { organizationId, organization, caller }, query) };
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
      handle: async ({ parameters, caller }) => {
        const { organizationId, organization } = await requireScope(context, parameters);
        const found = await findOne(context, { organizationId, organization, caller }, parameters.id);
        if (found === undefined) throw notFound(parameters.id);
        return { status: 200, body: found };
      },
    }),
    defineRoute({
      method: "POST",
      path,
      summary: "Ask a person for a looser rule or for the end of a pause",
      need: { at: "path", key: "organization.proposal", action: "create" },
      tag: "held changes",
      parameters: organizationParameters,
      body: proposalOfRulesSchema,
      // Its links are addresses of pages; they let nobody in.
      showsSecret: false,
      answers: { 202: { description: "It waits for a person", schema: heldChangeSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId, organization } = await requireScope(context, parameters);
        const change = await proposeRules(context, { organizationId, organization, author: caller.principal }, body);
        return { status: 202, body: governanceDocument(change, { context, organization, caller }) };
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
        const request = { organizationId, id: parameters.id, approver: caller.principal, ...body };
        return { status: 200, body: { id: parameters.id, state: "approved", grants: await approve(context, request) } };
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
      body: rejectionSchema,
      answers: { 200: { description: "Rejected", schema: rejectionAnswerSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { organizationId } = await requireScope(context, parameters);
        await reject(context, {
          organizationId,
          id: parameters.id,
          approver: caller.principal,
          comment: body.comment,
        });
        return { status: 200, body: { id: parameters.id, state: "rejected" } };
      },
    }),
  ];
}

function withdrawRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: `${path}/{id}:withdraw`,
    summary: "Take back a rule, a declaration or the end of a pause that you asked for, or could approve",
    need: { at: "path", key: "organization.held_change", action: "read" },
    tag: "held changes",
    parameters: idParameters,
    body: withdrawalSchema,
    answers: { 200: { description: "Withdrawn; what it would have changed stays", schema: withdrawalAnswerSchema } },
    handle: async ({ parameters, body: { comment }, caller }) => {
      const { organizationId, organization } = await requireScope(context, parameters);
      const request = { organizationId, id: parameters.id, approver: withReason(caller.principal, comment), comment };
      const asker = await requireAsked(context, request);
      requireMayWithdraw(caller, asker, {
        what: `The held change ${parameters.id}`,
        key: "organization.held_change",
        organization,
      });
      const decision = { ...request, decision: "withdraw", digest: undefined } as const;
      requireDecided(await context.governance.decide(decision), request);
      return { status: 200, body: { id: parameters.id, state: "withdrawn" } };
    },
  });
}

/** Who asked for it. What a loop holds nobody asked for: it follows from what is declared, and goes with that. */
async function requireAsked(
  context: ApiContext,
  { organizationId, id: wanted }: DecisionRequest,
): Promise<Pick<Principal, "name" | "type">> {
  const one = { organizationId, states: everyState, id: wanted, limit: 1 };
  const [change] = await context.governance.governanceChanges(one);
  if (change !== undefined) return { name: change.author, type: change.authorType };
  const [plan] = await context.governance.inbox({ ...one, itemsAtMost: 0 });
  if (plan === undefined) throw notFound(wanted);
  throw new Problem(
    "FORBIDDEN",
    `The held change ${wanted} was made by a loop out of what is declared, so nobody can take it back: reject it, or declare what you want instead`,
  );
}

/** What concerns everybody is decided by who may set what holds for everybody. */
function platformRoutes(context: ApiContext): readonly Route[] {
  const read = { at: "platform", key: "platform.policy", action: "read" } as const;
  const decide = { at: "platform", key: "platform.policy", action: "update" } as const;
  const parameters = z.strictObject({ id });
  const shared = { tag: "held changes" } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      path: platformPath,
      summary: "Looser rules of the platform that wait for a person",
      need: read,
      parameters: z.strictObject({}),
      query: heldChangeQuerySchema,
      answers: { 200: { description: "Held changes, newest first", schema: heldChangeListSchema } },
      handle: async ({ query, caller }) => {
        const states = query.state === "any" ? everyState : [query.state];
        const asked = { organizationId: undefined, states, limit: query.limit + 1 };
        const found = await context.governance.governanceChanges(asked);
        const items = found.map((change) => governanceDocument(change, { context, organization: undefined, caller }));
        return { status: 200, body: { items: items.slice(0, query.limit), truncated: items.length > query.limit } };
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: `${platformPath}/{id}:approve`,
      summary: "Approve what the digest names, for the whole platform",
      need: decide,
      onlyPeople: true,
      parameters,
      body: approvalSchema,
      answers: { 200: { description: "It holds now", schema: approvalAnswerSchema } },
      handle: async ({ parameters: { id: wanted }, body, caller }) => {
        const { digest, comment } = body;
        const about = { organizationId: undefined, id: wanted, approver: caller.principal, digest, comment };
        const answer = await context.governance.decide({ ...about, decision: "approve" });
        requireDecided(answer, about);
        return { status: 200, body: { id: wanted, state: "approved", grants: 0 } };
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: `${platformPath}/{id}:reject`,
      summary: "Reject: what holds for everybody stays as it is",
      need: decide,
      onlyPeople: true,
      parameters,
      body: rejectionSchema,
      answers: { 200: { description: "Rejected", schema: rejectionAnswerSchema } },
      handle: async ({ parameters: { id: wanted }, body, caller }) => {
        const about = { organizationId: undefined, id: wanted, approver: caller.principal, comment: body.comment };
        requireDecided(await context.governance.decide({ ...about, decision: "reject", digest: undefined }), about);
        return { status: 200, body: { id: wanted, state: "rejected" } };
      },
    }),
  ];
}

interface Place {
  readonly organizationId: string;
  readonly organization: string;
  readonly caller: Caller;
}

async function inboxOf(context: ApiContext, place: Place, query: Query) {
  const { organizationId, organization, caller } = place;
  const { level, guard, kind, limit } = query;
  const states = query.state === "any" ? everyState : [query.state];
  const olderThanMs = query.olderThanSeconds === undefined ? undefined : query.olderThanSeconds * 1_000;
  const about = { context, organization, caller };
  const plans =
    level === "scope"
      ? []
      : await context.governance.inbox({
          organizationId,
          states,
          level,
          guard,
          kind,
          olderThanMs,
          limit: limit + 1,
          itemsAtMost: listedItems,
        });
  const wantsRules = level === undefined || level === "scope";
  const rules = wantsRules
    ? await context.governance.governanceChanges({ organizationId, states, limit: limit + 1 })
    : [];
  const nowMs = context.clock.nowMs();
  const items = [
    ...plans.map((view) => planDocument(view, about)),
    ...rules
      .filter((change) => guard === undefined || change.verdict.guard === guard)
      .filter((change) => olderThanMs === undefined || nowMs - change.openedAtMs >= olderThanMs)
      .map((change) => governanceDocument(change, about))
      .filter(({ items }) => kind === undefined || items.some((item) => item.kind === kind)),
  ].sort((left, right) => (left.openedAt < right.openedAt ? 1 : -1));
  return { items: items.slice(0, limit), truncated: items.length > limit };
}

async function findOne(context: ApiContext, place: Place, wanted: string): Promise<HeldChangeDocument | undefined> {
  const { organizationId, organization, caller } = place;
  const about = { context, organization, caller };
  const [plan] = await context.governance.inbox({
    organizationId,
    states: everyState,
    id: wanted,
    limit: 1,
    itemsAtMost: shownItems,
  });
  if (plan !== undefined) return planDocument(plan, about);
  const asked = { organizationId, states: everyState, id: wanted, limit: 1 };
  const [rule] = await context.governance.governanceChanges(asked);
  return rule === undefined ? undefined : governanceDocument(rule, about);
}

interface DecisionRequest {
  readonly organizationId: string;
  readonly id: string;
  readonly approver: Principal;
  readonly comment?: string | undefined;
}

async function approve(
  context: ApiContext,
  request: DecisionRequest & { readonly digest: string; readonly forSeconds: number },
): Promise<number> {
  const { organizationId, id: heldChangeId, digest, comment } = request;
  const approver = withReason(request.approver, comment);
  const grantForMs = request.forSeconds * 1_000;
  const answer = await context.intents.approve({
    organizationId,
    heldChangeId,
    digest,
    approver,
    grantForMs,
    comment,
  });
  if (answer.result === "approved") return answer.grants;
  if (answer.result !== "not-found") throw refusal(answer, request);
  // Plans and rules share one inbox and one route; their ids are never the same.
  const decided = await context.governance.decide({
    organizationId,
    id: heldChangeId,
    decision: "approve",
    digest,
    approver,
    comment,
  });
  requireDecided(decided, request);
  return 0;
}

async function reject(context: ApiContext, request: DecisionRequest): Promise<void> {
  const { organizationId, id: heldChangeId, comment } = request;
  const author = withReason(request.approver, comment);
  if (await context.intents.reject({ organizationId, heldChangeId, author, comment })) return;
  const [plan] = await context.governance.inbox({
    organizationId,
    states: everyState,
    id: heldChangeId,
    limit: 1,
    itemsAtMost: 0,
  });
  if (plan !== undefined)
    throw new Problem("HELD_CHANGE_CLOSED", `The held change ${heldChangeId} is ${plan.state} already`);
  const asked = { organizationId, id: heldChangeId, decision: "reject", digest: undefined, comment } as const;
  requireDecided(await context.governance.decide({ ...asked, approver: author }), request);
}

function withReason(principal: Principal, comment: string | undefined): Principal {
  return comment === undefined || principal.via === undefined
    ? principal
    : { ...principal, via: { ...principal.via, reason: comment } };
}

type Refusal =
  | { readonly result: "not-found" | "closed" | "refused-principal" | "four-eyes" }
  | { readonly result: "moved"; readonly digest: string };

function requireDecided(answer: DecisionAnswer, request: Pick<DecisionRequest, "id" | "approver">): void {
  if (answer.result === "approved" || answer.result === "rejected" || answer.result === "withdrawn") return;
  throw refusal(answer as Refusal, request);
}

function refusal(answer: Refusal, request: Pick<DecisionRequest, "id" | "approver">): Problem {
  const { id: wanted, approver } = request;
  switch (answer.result) {
    case "not-found":
      return notFound(wanted);
    case "closed":
      return new Problem(
        "HELD_CHANGE_CLOSED",
        `The held change ${wanted} is not open any more: what it named was decided, has moved on, or is no longer wanted`,
      );
    case "moved":
      return new Problem(
        "DIGEST_MOVED",
        `What waits under ${wanted} is not what this digest names. Look at it again, then approve its digest ${answer.digest}`,
        { digest: answer.digest },
      );
    case "four-eyes":
      return new Problem(
        "FOUR_EYES",
        `${approver.name} declared, deleted or asked for part of ${wanted}: policy asks for another person's approval`,
      );
    case "refused-principal":
      return new Problem("PRINCIPAL_REFUSED", "Machines and assistants may propose and never approve: a person must");
  }
}

function notFound(wanted: string): Problem {
  return new Problem("NOT_FOUND", `There is no held change ${wanted} here`);
}
