import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import { defaultLimits, effectivePolicy } from "../../kernel/policy.ts";
import type { ScopePolicy } from "../../ports/records.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import type { ApiContext } from "../context.ts";
import { governanceDocument } from "../held-document.ts";
import { ignoreDocument } from "../ignore-document.ts";
import { limitSources } from "../policy-change.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route, type RouteAnswer } from "../route.ts";
import {
  fourEyesHeld,
  holdPolicy,
  policiesOnPath,
  type PolicyPlace,
  type WeighedPolicy,
  weighPolicy,
} from "../rule-proposals.ts";
import { scopeParametersSchema } from "../schemas/common.ts";
import {
  heldChangeSchema,
  type LimitsDocument,
  limitsQuerySchema,
  limitsSchema,
  type PolicyDocument,
  policyHistorySchema,
  policyQuerySchema,
  policySchema,
} from "../schemas/governance.ts";
import { requireScope, scopePaths } from "../scope.ts";

const kept = 100;

/** Mode, limits, ceilings, protection and four eyes of each scope. A resource says its own in its metadata. */
export function policyRoutes(context: ApiContext): readonly Route[] {
  return [
    ...scopePaths.flatMap(({ type, path }) =>
      routesOf(context, {
        type,
        path,
        parameters: scopeParametersSchema,
        read: { at: "path", key: "organization.policy", action: "read" },
        write: { at: "path", key: "organization.policy", action: "update" },
        place: async (parameters) => await requireScope(context, scopeParametersSchema.parse(parameters)),
      }),
    ),
    ...routesOf(context, {
      type: "platform",
      path: "/v1",
      parameters: z.strictObject({}),
      read: { at: "platform", key: "platform.policy", action: "read" },
      write: { at: "platform", key: "platform.policy", action: "update" },
      place: async () => ({ organizationId: undefined, organization: undefined, scope: "platform" }),
    }),
  ];
}

type PolicyNeed = { readonly key: string; readonly action: "read" | "update" } & (
  | { readonly at: "path" }
  | { readonly at: "platform" }
);

interface Where {
  readonly type: string;
  readonly path: string;
  readonly parameters: z.ZodObject;
  readonly read: PolicyNeed;
  readonly write: PolicyNeed;
  place(parameters: unknown): Promise<PolicyPlace>;
}

function routesOf(context: ApiContext, where: Where): readonly Route[] {
  const { type, read, parameters } = where;
  const shared = { tag: "policies", parameters } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      path: `${where.path}/policy`,
      summary: `The policy of this ${type}`,
      need: read,
      answers: { 200: { description: "What this scope says; its version is the ETag", schema: policySchema } },
      handle: async (call) => {
        const { organizationId, scope } = await where.place(call.parameters);
        const stands = await context.governance.policy(organizationId, scope);
        return answerWith(stands?.policy ?? { scope }, stands?.version ?? 0);
      },
    }),
    writeRoute(context, where),
    defineRoute({
      ...shared,
      method: "GET",
      path: `${where.path}/policy/history`,
      summary: `Each policy this ${type} ever had, newest first, with who set it`,
      need: read,
      answers: { 200: { description: "Versions", schema: policyHistorySchema } },
      handle: async (call) => {
        const { organizationId, scope } = await where.place(call.parameters);
        const versions = await context.governance.policyHistory({ organizationId, scope, limit: kept });
        const items = versions.map(({ version, policy, author, atMs, reason }) => ({
          version,
          policy: documentOf(policy),
          author,
          at: isoTime(atMs),
          ...(reason === undefined ? {} : { reason }),
        }));
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      ...shared,
      method: "GET",
      path: `${where.path}/limits`,
      summary: `What holds in this ${type}: each limit with the scope it comes from, and its ceiling`,
      need: read,
      query: limitsQuerySchema,
      answers: { 200: { description: "Effective mode, protection and limits", schema: limitsSchema } },
      handle: async (call) => ({
        status: 200,
        body: await limitsOf(context, await where.place(call.parameters), call.query.kind),
      }),
    }),
  ];
}

function writeRoute(context: ApiContext, where: Where): Route {
  return defineRoute({
    method: "PUT",
    path: `${where.path}/policy`,
    summary: `Set the policy of this ${where.type}. What loosens a rule waits for an approval`,
    need: where.write,
    onlyPeople: true,
    tag: "policies",
    parameters: where.parameters,
    query: policyQuerySchema,
    body: policySchema,
    takesIfMatch: true,
    answers: {
      200: { description: "Set; every subject below is due", schema: policySchema },
      202: { description: "It loosens a rule and waits for a person", schema: heldChangeSchema },
    },
    handle: async ({ parameters, query, body, headers, caller }) => {
      const place = await where.place(parameters);
      requireKinds(context, body);
      const weighed = await weighPolicy(context, place, body as Omit<ScopePolicy, "scope">);
      requireVersion(headers["if-match"], weighed.version);
      const { reason } = query;
      if (weighed.loosened.length === 0) return await set(context, place, weighed, { caller, reason });
      if (query.approve === "true") return await approveAtOnce(context, place, weighed, { caller, query });
      const change = await holdPolicy(context, place, weighed, { author: caller.principal, reason });
      const { organization } = place;
      return { status: 202, body: governanceDocument(change, { context, organization, caller }) };
    },
  });
}

/** A rule about a kind that is misspelt would ignore nothing, and nobody would notice. */
function requireKinds({ kinds }: ApiContext, { ignore = [] }: PolicyDocument): void {
  const errors = ignore.flatMap(({ kind }, index) =>
    kinds.has(kind)
      ? []
      : [{ pointer: `/ignore/${index}/kind`, message: `no such kind. Kinds: ${[...kinds.keys()].join(", ")}` }],
  );
  const [first] = errors;
  if (first !== undefined)
    throw new Problem("KIND_UNKNOWN", `A rule of the policy names no kind: ${first.message}`, { errors });
}

async function set(
  context: ApiContext,
  { organizationId }: PolicyPlace,
  { policy, version }: WeighedPolicy,
  { caller, reason }: { readonly caller: Caller; readonly reason: string | undefined },
): Promise<RouteAnswer> {
  const request = { organizationId, policy, ifVersion: version, author: caller.principal, reason };
  const answer = await context.governance.setPolicy(request);
  if (answer.result === "conflict") throw changedMeanwhile(answer.version);
  return answerWith(policy, answer.version);
}

/** Whoever could approve it anyway may do so in the same request, once they have seen what it is. */
async function approveAtOnce(
  context: ApiContext,
  place: PolicyPlace,
  weighed: WeighedPolicy,
  { caller, query }: { readonly caller: Caller; readonly query: z.output<typeof policyQuerySchema> },
): Promise<RouteAnswer> {
  const { organizationId, organization } = place;
  const decision =
    organization === undefined
      ? can(caller, "platform.policy", "update", ["platform"])
      : can(caller, "organization.held_change", "execute", ["platform", `organization/${organizationId}`]);
  if (!decision.allowed)
    throw new Problem("FORBIDDEN", `${caller.principal.name} may not approve this: ${decision.because}`);
  if (query.digest !== weighed.digest)
    throw new Problem(
      "DIGEST_MOVED",
      `Approve what you have seen: send digest=${weighed.digest} if this is it, or leave approve out to have it held`,
      { digest: weighed.digest },
    );
  const { reason } = query;
  const change = await holdPolicy(context, place, weighed, { author: caller.principal, reason });
  const answer = await context.governance.decide({
    organizationId,
    id: change.id,
    decision: "approve",
    digest: weighed.digest,
    approver: caller.principal,
    comment: reason,
  });
  if (answer.result === "approved") return answerWith(weighed.policy, weighed.version + 1);
  if (answer.result === "four-eyes") throw fourEyesHeld(change);
  throw changedMeanwhile((await context.governance.policy(organizationId, place.scope))?.version ?? 0);
}

function requireVersion(ifMatch: string | undefined, version: number): void {
  const given = /^"(\d{1,15})"$/.exec(ifMatch?.trim() ?? "")?.[1];
  if (ifMatch === undefined && version > 0)
    throw new Problem(
      "PRECONDITION_REQUIRED",
      `There is a policy already: send If-Match with the ETag you read (now "${version}"), so that nobody's change is lost`,
    );
  if (ifMatch !== undefined && ifMatch.trim() !== "*" && Number(given ?? -1) !== version)
    throw changedMeanwhile(version);
}

function changedMeanwhile(version: number): Problem {
  return new Problem(
    "REVISION_CONFLICT",
    `The policy is at version ${version}, not at the one you read. Read it again: GET …/policy/history says what changed and by whom`,
    { revision: version },
  );
}

async function limitsOf(
  context: ApiContext,
  place: PolicyPlace,
  kindName: string | undefined,
): Promise<LimitsDocument> {
  const kind = kindName === undefined ? undefined : context.kinds.get(kindName);
  if (kindName !== undefined && kind === undefined)
    throw new Problem("KIND_UNKNOWN", `There is no kind "${kindName}". Kinds: ${[...context.kinds.keys()].join(", ")}`);
  const policies = await policiesOnPath(context, place);
  const { mode, modeFrom, protectedBy, fourEyes, ignore } = effectivePolicy(policies, kind?.loop?.limits);
  const eyes = policies.find((policy) => policy.fourEyes === true)?.scope;
  return {
    mode: { value: mode, from: modeFrom },
    protect: { value: protectedBy !== undefined, ...(protectedBy === undefined ? {} : { from: protectedBy }) },
    fourEyes: { value: fourEyes, ...(eyes === undefined ? {} : { from: eyes }) },
    limits: limitSources(policies, kind?.loop?.limits, defaultLimits).map((limit) => ({
      name: limit.name,
      value: limit.value,
      default: limit.default,
      ...(limit.ceiling === undefined ? {} : { ceiling: limit.ceiling }),
    })),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map(ignoreDocument) }),
  };
}

function answerWith(policy: ScopePolicy, version: number): RouteAnswer {
  return { status: 200, body: documentOf(policy), headers: { etag: `"${version}"` } };
}

function documentOf(policy: ScopePolicy): PolicyDocument {
  return Object.fromEntries(Object.entries(policy).filter(([name, value]) => name !== "scope" && value !== undefined));
}
