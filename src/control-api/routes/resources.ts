import { z } from "zod";
import { type Kind, parseSpec } from "../../kernel/kind.ts";
import { effectivePolicy } from "../../kernel/policy.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { Json } from "../../ports/json.ts";
import type { Principal } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { defineRoute, type Route } from "../route.ts";
import { type ResolvedScope, requireScope, scopePaths } from "../scope.ts";
import { nameSchema, type ScopeParameters, scopeParametersSchema } from "../schemas/common.ts";
import {
  deleteQuerySchema,
  type Manifest,
  manifestSchema,
  reconcileAnswerSchema,
  resourceListQuerySchema,
  resourceListSchema,
  resourceSchema,
  whySchema,
} from "../schemas/resource.ts";
import { explain } from "../why.ts";

const namedParameters = scopeParametersSchema.extend({ name: nameSchema });

/** One set of routes for every kind, in every scope where it lives. */
export function resourceRoutes(context: ApiContext): readonly Route[] {
  return [...context.kinds.values()].flatMap((kind) =>
    scopePaths
      .filter(({ type }) => kind.scopes.includes(type))
      .flatMap(({ path }) => {
        const base = `${path}/${kind.plural}`;
        return [
          listRoute(context, kind, base),
          ...oneRoutes(context, kind, base),
          ...actionRoutes(context, kind, base),
        ];
      }),
  );
}

function listRoute(context: ApiContext, kind: Kind, base: string): Route {
  return defineRoute({
    method: "GET",
    path: base,
    summary: `List ${kind.kind} resources of this scope`,
    need: { at: "path", key: kind.permission, action: "read" },
    tag: kind.kind,
    parameters: scopeParametersSchema,
    query: resourceListQuerySchema,
    answers: { 200: { description: "One page, by name", schema: resourceListSchema } },
    handle: async ({ parameters, query }) => {
      const { organization, organizationId, scope } = await requireScope(context, parameters);
      const documents = new ResourceDocuments(context, organization);
      const { pageSize } = query;
      const request = {
        organizationId,
        scope,
        kind: kind.kind,
        labels: labelsOf(query.labels),
        afterName: nameOf(query.pageToken),
      };
      // One more than a page says whether there is a next one.
      const views = await context.reads.listResources({ ...request, limit: pageSize + 1 });
      const page = views.slice(0, pageSize);
      const items = await Promise.all(page.map((view) => documents.document(kind, view)));
      const last = page.at(-1)?.resource.name;
      const more = views.length > pageSize && last !== undefined;
      return { status: 200, body: { items, ...(more ? { nextPageToken: tokenOf(last) } : {}) } };
    },
  });
}

function oneRoutes(context: ApiContext, kind: Kind, base: string): readonly Route[] {
  const path = `${base}/{name}`;
  return [
    defineRoute({
      method: "GET",
      path,
      summary: `Read one ${kind.kind}: what is declared, and what was last seen with its age`,
      need: { at: "path", key: kind.permission, action: "read" },
      tag: kind.kind,
      parameters: namedParameters,
      answers: { 200: { description: "The resource; its revision is the ETag", schema: resourceSchema } },
      handle: async ({ parameters }) => {
        const found = await requireResource(context, kind, parameters);
        return answerWith(context, kind, found.scope, found.view, 200);
      },
    }),
    defineRoute({
      method: "PUT",
      path,
      summary: `Declare a ${kind.kind}, or change what is declared`,
      need: { at: "path", key: kind.permission, action: "update" },
      tag: kind.kind,
      parameters: namedParameters,
      body: manifestSchema,
      documentedBody: manifestOf(kind),
      takesIfMatch: true,
      answers: {
        200: { description: "Changed, or as it was (header Setpoint-Result)", schema: resourceSchema },
        201: { description: "Declared", schema: resourceSchema },
      },
      handle: ({ parameters, body, headers, caller }) =>
        declare(context, kind, { parameters, manifest: body, headers, author: caller.principal }),
    }),
    defineRoute({
      method: "DELETE",
      path,
      summary: `Delete a ${kind.kind} and what it made outside`,
      need: { at: "path", key: kind.permission, action: "delete" },
      tag: kind.kind,
      parameters: namedParameters,
      query: deleteQuerySchema,
      takesIfMatch: true,
      answers: { 202: { description: "A tombstone stands; the loop removes what is outside", schema: resourceSchema } },
      handle: ({ parameters, query, headers, caller }) =>
        remove(context, kind, { parameters, query, headers, author: caller.principal }),
    }),
  ];
}

function actionRoutes(context: ApiContext, kind: Kind, base: string): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${base}/{name}:reconcile`,
      summary: "Look again now, and try again what stopped",
      need: { at: "path", key: kind.permission, action: "execute" },
      tag: kind.kind,
      parameters: namedParameters,
      answers: { 202: { description: "Due now", schema: reconcileAnswerSchema } },
      handle: async ({ parameters }) => {
        const { scope, view } = await requireResource(context, kind, parameters);
        const { uid, name } = view.resource;
        if (kind.loop === undefined) {
          throw new Problem(
            "GUARD_REFUSED",
            `${kind.kind} has no loop: ${kind.withoutLoop ?? "nothing to run"} Reconcile what it is part of instead`,
          );
        }
        await context.intents.reconcileNow({ organizationId: scope.organizationId, uid });
        return { status: 202, body: { kind: kind.kind, name, message: "due now" } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/{name}/why`,
      summary: "Why it is as it is: the chain from declaration to the last call, in words and as data",
      need: { at: "path", key: kind.permission, action: "read" },
      tag: kind.kind,
      parameters: namedParameters,
      answers: { 200: { description: "The explanation", schema: whySchema } },
      handle: async ({ parameters }) => {
        const { scope, view } = await requireResource(context, kind, parameters);
        return { status: 200, body: await explain(context, kind, { ...scope, view }) };
      },
    }),
  ];
}

const manifests = new WeakMap<Kind, z.ZodType>();

/** What the document says about the manifests of one kind. Made once per kind, because it has a name. */
function manifestOf(kind: Kind): z.ZodType {
  const known = manifests.get(kind);
  if (known !== undefined) return known;
  const { metadata } = manifestSchema.shape;
  const named = kind.modeRequired ? metadata.required({ mode: true }) : metadata;
  const made = manifestSchema
    .extend({ kind: z.literal(kind.kind), metadata: named, spec: kind.schema })
    .meta({ id: `${kind.kind}Manifest` });
  manifests.set(kind, made);
  return made;
}

type Named = ScopeParameters & { readonly name: string };

async function requireResource(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
): Promise<{ readonly scope: ResolvedScope; readonly view: ResourceView }> {
  const scope = await requireScope(context, parameters);
  const view = await context.reads.getResource({
    organizationId: scope.organizationId,
    scope: scope.scope,
    kind: kind.kind,
    name: parameters.name,
  });
  if (view === undefined) throw new Problem("NOT_FOUND", `There is no ${kind.kind} "${parameters.name}" in this scope`);
  return { scope, view };
}

async function declare(
  context: ApiContext,
  kind: Kind,
  request: {
    readonly parameters: Named;
    readonly manifest: Manifest;
    readonly headers: Headers;
    readonly author: Principal;
  },
) {
  const { parameters, manifest } = request;
  const { metadata } = manifest;
  if (manifest.kind !== kind.kind || metadata.name !== parameters.name) {
    throw new Problem(
      "NAME_MISMATCH",
      `The path names ${kind.kind}/${parameters.name}, the body ${manifest.kind}/${metadata.name}`,
    );
  }
  const parsed = parseSpec(kind, manifest.spec);
  if (!parsed.ok)
    throw new Problem("FIELDS_INVALID", `The spec of ${kind.kind}/${metadata.name} is not valid`, {
      errors: parsed.errors,
    });
  if (kind.modeRequired && metadata.mode === undefined) {
    const message = `A ${kind.kind} exists outside already, so its mode has no default: name one. Begin with "observe"`;
    throw new Problem("MODE_REQUIRED", message, {
      errors: [{ pointer: "/metadata/mode", message: 'must be "observe", "propose" or "enforce"' }],
    });
  }
  const scope = await requireScope(context, parameters);
  const target = { organizationId: scope.organizationId, scope: scope.scope, kind: kind.kind, name: metadata.name };
  const existing = await context.reads.getResource(target);
  const answer = await context.intents.declare({
    ...target,
    uid: context.ids.next(),
    spec: parsed.spec as Json,
    labels: metadata.labels ?? {},
    author: request.author,
    ifRevision: expectedRevision(request.headers),
    mode: metadata.mode,
    // Not asking for protection is the same as not mentioning it: a scope above may still ask.
    protect: metadata.protect === true ? true : undefined,
    accounts: await accountIdsOf(context, kind, parsed.spec, scope),
    links: kind.links(parsed.spec),
  });
  if (answer.result === "conflict" && existing?.resource.deletion !== undefined) {
    throw new Problem(
      "BEING_DELETED",
      `${kind.kind}/${metadata.name} is being deleted: wait until it is gone, then declare it again`,
    );
  }
  if (answer.result === "conflict") throw revisionConflict(kind, metadata.name, answer.revision);
  const view = await context.reads.getResource(target);
  if (view === undefined)
    throw new Problem(
      "REVISION_CONFLICT",
      `${kind.kind}/${metadata.name} was deleted by somebody else at the same moment`,
    );
  const replied = await answerWith(context, kind, scope, view, answer.result === "created" ? 201 : 200);
  return { ...replied, headers: { ...replied.headers, "setpoint-result": answer.result } };
}

async function accountIdsOf(
  context: ApiContext,
  kind: Kind,
  spec: unknown,
  scope: ResolvedScope,
): Promise<readonly (string | undefined)[]> {
  if (kind.loop === undefined) return [];
  const names = kind.accounts(spec);
  if (names.length === 0) return [undefined];
  const known = await context.reads.listAccounts(scope.organizationId);
  return names.map((name) => {
    const account = known.find((entry) => entry.name === name);
    if (account !== undefined) return account.id;
    const message = `There is no account "${name}" in organization "${scope.organization}". Add it with: setpoint account add ${name}`;
    throw new Problem("ACCOUNT_UNKNOWN", message, {
      errors: [{ pointer: "/spec", message: `names the account "${name}", which does not exist` }],
    });
  });
}

interface DeleteRequest {
  readonly parameters: Named;
  readonly query: z.output<typeof deleteQuerySchema>;
  readonly headers: Headers;
  readonly author: Principal;
}

async function remove(context: ApiContext, kind: Kind, request: DeleteRequest) {
  const { scope, view } = await requireResource(context, kind, request.parameters);
  const { uid, name } = view.resource;
  const policy = effectivePolicy(view.policies, kind.loop?.limits);
  // Forgetting takes nothing away outside, so protection has nothing to say about it.
  if (policy.protectedBy !== undefined && !request.query.orphan) {
    const reason = `${kind.kind}/${name} is protected against deletion by ${policy.protectedBy === `resource/${uid}` ? "its own declaration" : policy.protectedBy}`;
    throw new Problem("GUARD_REFUSED", `${reason}. Take the protection away first, or delete with orphan=true`, {
      verdict: { guard: "protection", answer: "refuse", reason, numbers: { items: 1 }, keys: [] },
    });
  }
  const owned = view.subjects.reduce((sum, subject) => sum + (subject.status?.owned ?? 0), 0);
  const { confirm } = request.query;
  if (confirm !== undefined && kind.loop !== undefined && confirm !== owned) {
    throw new Problem(
      "COUNT_MISMATCH",
      `${kind.kind}/${name} owns ${owned} things outside, and ${confirm} were confirmed. Look again, then confirm ${owned}`,
    );
  }
  const answer = await context.intents.requestDeletion({
    organizationId: scope.organizationId,
    uid,
    ifRevision: expectedRevision(request.headers),
    author: request.author,
    orphan: request.query.orphan,
    confirmedCount: confirm,
  });
  if (!answer.found) throw new Problem("NOT_FOUND", `There is no ${kind.kind} "${name}" in this scope`);
  if (answer.conflict) throw revisionConflict(kind, name, view.revision);
  const after = await context.reads.getResource({
    organizationId: scope.organizationId,
    scope: scope.scope,
    kind: kind.kind,
    name,
  });
  return answerWith(context, kind, scope, after ?? view, 202);
}

async function answerWith(context: ApiContext, kind: Kind, scope: ResolvedScope, view: ResourceView, status: number) {
  const body = await new ResourceDocuments(context, scope.organization).document(kind, view);
  return { status, body, headers: { etag: `"${view.revision}"` } };
}

type Headers = Readonly<Record<string, string | undefined>>;

/** If-None-Match: * means "must not exist"; If-Match names the revision that was read. Without either, whatever stands. */
function expectedRevision(headers: Headers): number | undefined {
  if (headers["if-none-match"] === "*") return 0;
  const match = headers["if-match"];
  if (match === undefined || match === "*") return undefined;
  const revision = /^"(\d{1,15})"$/.exec(match)?.[1];
  if (revision === undefined)
    throw new Problem(
      "BODY_INVALID",
      `If-Match must be an ETag of this resource, such as "3"; it was ${match.slice(0, 80)}`,
    );
  return Number(revision);
}

function revisionConflict(kind: Kind, name: string, revision: number): Problem {
  const message =
    revision === 0
      ? `${kind.kind}/${name} does not exist`
      : `${kind.kind}/${name} is at revision ${revision}, not at the one that was expected`;
  return new Problem("REVISION_CONFLICT", `${message}. Read it again, then repeat the change`, { revision });
}

function labelsOf(text: string | undefined): Readonly<Record<string, string>> {
  return text === undefined
    ? {}
    : Object.fromEntries(text.split(",").map((pair) => pair.split("=") as [string, string]));
}

function tokenOf(name: string): string {
  return Buffer.from(name, "utf8").toString("base64url");
}

function nameOf(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  const name = Buffer.from(token, "base64url").toString("utf8");
  if (nameSchema.safeParse(name).success) return name;
  throw new Problem("FIELDS_INVALID", "The page token is not one of ours: use the nextPageToken of the page before", {
    errors: [{ pointer: "/pageToken", message: "not a page token" }],
  });
}
