import { z } from "zod";
import type { Proposal, ProposalState } from "../../ports/proposal-store.ts";
import type { Caller } from "../access/caller.ts";
import { requireMayWithdraw } from "../access/may-withdraw.ts";
import { requireCreatable } from "../access/organization-status.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf } from "../names.ts";
import { Problem } from "../problem.ts";
import { compute, prepare, proposalDocument, refusedAt, requireDistinct, requireRights } from "../proposals.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  approveProposalSchema,
  proposalBodySchema,
  proposalListQuerySchema,
  proposalListSchema,
  proposalSchema,
  type ProposedChange,
  rejectProposalSchema,
  withdrawProposalSchema,
} from "../schemas/proposal.ts";
import { requireScope } from "../scope.ts";

const base = "/v1/organizations/{organization}/proposals";
const organizationParameters = z.strictObject({ organization: nameSchema });
const oneParameters = organizationParameters.extend({ id: z.string().min(1).max(63) });
const key = "organization.proposal";
const everyState: readonly ProposalState[] = ["open", "approved", "rejected", "applied", "withdrawn"];

/** Sets of changes to what is declared: proposed by anybody, machines included; decided by people; applied whole. */
export function proposalRoutes(context: ApiContext): readonly Route[] {
  return [
    ...readRoutes(context),
    proposeRoute(context),
    ...decideRoutes(context),
    withdrawRoute(context),
    applyRoute(context),
  ];
}

function readRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: base,
      summary: "Proposed sets of changes, newest first",
      need: { at: "path", key, action: "read" },
      tag: "Proposal",
      parameters: organizationParameters,
      query: proposalListQuerySchema,
      answers: { 200: { description: "The proposals", schema: proposalListSchema } },
      handle: async ({ parameters, query: { state, limit } }) => {
        const { organizationId } = await requireScope(context, parameters);
        const states = state === "all" ? everyState : [state];
        const found = await context.proposals.list({ organizationId, states, limit });
        return { status: 200, body: { items: found.map(proposalDocument) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/{id}`,
      summary: "One proposal with its plan and the digest to approve it by",
      need: { at: "path", key, action: "read" },
      tag: "Proposal",
      parameters: oneParameters,
      answers: { 200: { description: "The proposal", schema: proposalSchema } },
      handle: async ({ parameters }) => {
        const proposal = await requireProposal(context, parameters);
        return { status: 200, body: proposalDocument(proposal) };
      },
    }),
  ];
}

function proposeRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: base,
    summary: "Propose a set of changes; the answer has the plan of all of them together",
    need: { at: "path", key, action: "create" },
    tag: "Proposal",
    parameters: organizationParameters,
    body: proposalBodySchema,
    answers: { 201: { description: "It waits for a person", schema: proposalSchema } },
    handle: async ({ parameters: { organization }, body: { reason, changes }, caller }) => {
      requireDistinct(changes);
      const author = caller.principal;
      const prepared = await prepare(context, organization, { changes, author, revisions: undefined });
      // Whoever proposes sees what would come of it, so it must be something he may see.
      requireRights(caller, prepared, "read");
      const computed = await compute(context, organization, prepared, changes);
      const organizationId = organizationIdOf(organization);
      const kept = JSON.parse(JSON.stringify(changes)) as Proposal["changes"];
      const request = { organizationId, id: context.ids.next(), author, reason, changes: kept, computed };
      const proposal = await context.proposals.propose(request);
      return { status: 201, body: proposalDocument(proposal) };
    },
  });
}

function decideRoutes(context: ApiContext): readonly Route[] {
  const shared = {
    method: "POST",
    need: { at: "path", key, action: "execute" },
    onlyPeople: true,
    tag: "Proposal",
    parameters: oneParameters,
    answers: { 200: { description: "Decided", schema: proposalSchema } },
  } as const;
  return [
    defineRoute({
      ...shared,
      path: `${base}/{id}:approve`,
      summary: "Approve what was shown, by its digest",
      body: approveProposalSchema,
      handle: async ({ parameters, body: { digest }, caller }) => {
        const proposal = await requireProposal(context, parameters);
        await requireOtherEyes(context, proposal, caller, parameters.organization);
        requireRights(caller, await preparedOf(context, parameters.organization, proposal));
        const decided = await decide(context, parameters, { proposal, digest, to: "approved", caller });
        return { status: 200, body: proposalDocument(decided) };
      },
    }),
    defineRoute({
      ...shared,
      path: `${base}/{id}:reject`,
      summary: "Reject it, with a comment for whoever proposed it",
      body: rejectProposalSchema,
      handle: async ({ parameters, body: { digest, comment }, caller }) => {
        const proposal = await requireProposal(context, parameters);
        const decided = await decide(context, parameters, { proposal, digest, to: "rejected", caller, comment });
        return { status: 200, body: proposalDocument(decided) };
      },
    }),
  ];
}

function withdrawRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: `${base}/{id}:withdraw`,
    summary: "Take back what you proposed, or what you could approve, before it is applied",
    need: { at: "path", key, action: "read" },
    tag: "Proposal",
    parameters: oneParameters,
    body: withdrawProposalSchema,
    answers: { 200: { description: "Withdrawn; nothing of it happens", schema: proposalSchema } },
    handle: async ({ parameters, body: { comment }, caller }) => {
      const { organization, id } = parameters;
      const proposal = await requireProposal(context, parameters);
      requireMayWithdraw(caller, proposal.author, { what: `Proposal ${id}`, key, organization });
      const withdrawn = await decide(context, parameters, {
        proposal,
        digest: undefined,
        to: "withdrawn",
        caller,
        comment,
      });
      return { status: 200, body: proposalDocument(withdrawn) };
    },
  });
}

function applyRoute(context: ApiContext): Route {
  return defineRoute({
    method: "POST",
    path: `${base}/{id}:apply`,
    summary: "Make all changes of an approved proposal in one transaction, or none",
    need: { at: "path", key, action: "update" },
    tag: "Proposal",
    parameters: oneParameters,
    answers: { 200: { description: "Applied", schema: proposalSchema } },
    handle: async ({ parameters, caller }) => {
      const { organization } = parameters;
      const organizationId = organizationIdOf(organization);
      const proposal = await requireProposal(context, parameters);
      if (proposal.state !== "approved") throw notDecidable(proposal, "apply");
      const prepared = await preparedOf(context, organization, proposal, caller);
      requireRights(caller, prepared);
      if (prepared.some(({ standing }) => standing === undefined)) await requireCreatable(context, organizationId);
      const { id, digest } = proposal;
      const changes = prepared.map(({ change }) => change);
      const about = { id, digest, author: caller.principal };
      const answer = await context.declaring.apply({ organizationId, changes, proposal: about });
      const now = (await context.proposals.get({ organizationId, id })) ?? proposal;
      if (answer.made) return { status: 200, body: proposalDocument(now) };
      if (answer.refusal.result === "not-approved") throw notDecidable(now, "apply");
      if (answer.refusal.result !== "conflict") throw await refusedAt(context, prepared, answer);
      throw await askAgain(context, organization, proposal, caller);
    },
  });
}

/** What it was computed from has moved, so what was approved is not what would happen: a person must look again. */
async function askAgain(
  context: ApiContext,
  organization: string,
  proposal: Proposal,
  caller: Caller,
): Promise<Problem> {
  const { id, author } = proposal;
  const changes = proposal.changes as unknown as readonly ProposedChange[];
  const prepared = await prepare(context, organization, { changes, author, revisions: undefined });
  const computed = await compute(context, organization, prepared, changes);
  const organizationId = organizationIdOf(organization);
  await context.proposals.askAgain({ organizationId, id, author: caller.principal, computed });
  return new Problem(
    "DIGEST_MOVED",
    `What proposal ${id} changes was changed by somebody else since it was approved. It was computed again and waits for a person: look at it, then approve its new digest`,
    { digest: computed.digest },
  );
}

async function preparedOf(context: ApiContext, organization: string, proposal: Proposal, caller?: Caller) {
  const changes = proposal.changes as unknown as readonly ProposedChange[];
  const author = caller?.principal ?? proposal.author;
  return await prepare(context, organization, { changes, author, revisions: proposal.revisions });
}

async function decide(
  context: ApiContext,
  { organization, id }: { readonly organization: string; readonly id: string },
  decision: {
    readonly proposal: Proposal;
    /** Undefined: whatever it would lead to by now. */
    readonly digest: string | undefined;
    readonly to: "approved" | "rejected" | "withdrawn";
    readonly caller: Caller;
    readonly comment?: string | undefined;
  },
): Promise<Proposal> {
  const { proposal, digest, to, caller, comment } = decision;
  const from: readonly ProposalState[] = to === "approved" ? ["open"] : ["open", "approved"];
  const organizationId = organizationIdOf(organization);
  const author = caller.principal;
  const decided = await context.proposals.decide({ organizationId, id, digest, from, to, author, comment });
  if (decided !== undefined) return decided;
  const now = (await context.proposals.get({ organizationId, id })) ?? proposal;
  if (!from.includes(now.state)) throw notDecidable(now, verbs[to]);
  throw new Problem("DIGEST_MOVED", `Proposal ${id} is not what you looked at any more: look again, then decide`, {
    digest: now.digest,
  });
}

const verbs = { approved: "approve", rejected: "reject", withdrawn: "withdraw" } as const;

function notDecidable({ id, state, decidedBy }: Proposal, what: string): Problem {
  const todo =
    state === "open" && what === "apply" ? "A person must approve it first" : "Propose it again if it is still wanted";
  const by = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  return new Problem("HELD_CHANGE_CLOSED", `Proposal ${id} is ${state}${by}: there is nothing to ${what}. ${todo}`);
}

async function requireOtherEyes(
  context: ApiContext,
  { id, author }: Proposal,
  caller: Caller,
  organization: string,
): Promise<void> {
  if (author.name !== caller.principal.name) return;
  const policies = await context.reads.listPolicies(organizationIdOf(organization));
  if (!policies.some(({ fourEyes }) => fourEyes === true)) return;
  throw new Problem("FOUR_EYES", `${author.name} proposed ${id}: policy asks for somebody else to approve it`);
}

async function requireProposal(
  context: ApiContext,
  { organization, id }: { readonly organization: string; readonly id: string },
): Promise<Proposal> {
  const proposal = await context.proposals.get({ organizationId: organizationIdOf(organization), id });
  if (proposal !== undefined) return proposal;
  await requireScope(context, { organization });
  throw new Problem("NOT_FOUND", `There is no proposal "${id}" in organization "${organization}"`);
}
