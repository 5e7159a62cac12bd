import type { Kind } from "../../kernel/kind.ts";
import { effectivePolicy } from "../../kernel/policy.ts";
import type { Change, ChangeDone, DeclareChange, DeleteChange } from "../../ports/declaring-store.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { planned } from "../dry-run.ts";
import { accountIdOf } from "../names.ts";
import { operationPath } from "../operation-document.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import type { Keeping, RouteAnswer } from "../route.ts";
import type { Manifest } from "../schemas/resource.ts";
import { applyFields, type OwnerConflict } from "./apply-fields.ts";
import {
  declarationDone,
  declarationOfManifest,
  declareChange,
  makeDeclaration,
  ownersOf,
  placeUnknown,
  requireCreate,
} from "./declaring.ts";
import { requireFitting } from "./fitting.ts";
import { changedFields, type Declaration, declarationOf, declarationOfView, fieldsOf } from "./fields.ts";
import { type Named, notFound, placeOf, requireResource } from "./place.ts";
import { type Precondition, preconditionOf, preconditionRequired, revisionOf } from "./preconditions.ts";
import { changeRefused, existsAlready } from "./refusals.ts";
import { operationWith } from "./starting.ts";

/**
 * How often a change is made anew when somebody else changes the resource in between. Each time is one that another
 * writer won, so it takes as many who write the same name at once to use them up.
 */
const attempts = 100;

export interface WriteRequest {
  readonly parameters: Named;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly caller: Caller;
  readonly dryRun: boolean;
  readonly fresh: boolean;
  readonly keeping?: Keeping | undefined;
}

/** The first declaration of a name. */
export async function createResource(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly manifest: Manifest; readonly manager: string | undefined },
): Promise<RouteAnswer> {
  const { parameters, caller, manifest } = request;
  const declaration = declarationOfManifest(kind, parameters, manifest);
  const owners = ownersOf(declaration, undefined, request.manager ?? caller.principal.name);
  const intent = { parameters, declaration, author: caller.principal, owners, ifRevision: 0 };
  const change = await declareChange(context, kind, intent);
  if (request.dryRun) return await planAnswer(context, kind, { ...request, change, before: undefined });
  const { keeping } = request;
  const made =
    keeping === undefined
      ? declared(context, kind, parameters, change)
      : createdAndKept(context, kind, parameters, change, keeping);
  return await made.catch((thrown: unknown) => {
    if (thrown instanceof Problem && thrown.code === "REVISION_CONFLICT")
      throw existsAlready(kind, parameters.name, thrown.details.revision ?? 0, "new");
    throw thrown;
  });
}

/** The whole declaration anew. Which one it replaces must be said; a name that is free is taken. */
export async function replaceResource(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly manifest: Manifest; readonly manager: string | undefined },
): Promise<RouteAnswer> {
  const said = preconditionOf(request.headers);
  // Whoever means whatever stands there is not told that it moved.
  for (let attempt = 1; ; attempt++) {
    try {
      return await replaceOnce(context, kind, request, said);
    } catch (thrown) {
      const moved = thrown instanceof Problem && thrown.code === "REVISION_CONFLICT";
      if (moved && said === "unsaid") throw preconditionRequired(kind, request.parameters.name, "replace");
      if (!moved || said !== "any" || attempt >= attempts) throw thrown;
    }
  }
}

async function replaceOnce(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly manifest: Manifest; readonly manager: string | undefined },
  said: Precondition,
): Promise<RouteAnswer> {
  const { parameters, caller, manifest } = request;
  const declaration = declarationOfManifest(kind, parameters, manifest);
  if (said === "none") await requireCreate(context, caller, kind, parameters);
  const standing = said === "none" ? undefined : await standingView(context, kind, parameters);
  if (said === "unsaid" && standing !== undefined && standing.resource.deletion === undefined)
    throw existsAlready(kind, parameters.name, standing.revision, "nothing");
  if (said === "unsaid" && standing === undefined) await requireCreate(context, caller, kind, parameters);
  // `If-Match: *` means one that is there.
  if (said === "any" && standing === undefined) throw notFound(kind, parameters.name);
  const owners = ownersOf(declaration, standing, request.manager ?? caller.principal.name);
  const ifRevision = typeof said === "object" ? said.revision : (standing?.revision ?? 0);
  const change = await declareChange(context, kind, {
    parameters,
    declaration,
    author: caller.principal,
    owners,
    ifRevision,
  });
  if (request.dryRun) return await planAnswer(context, kind, { ...request, change, before: standing });
  return await declared(context, kind, parameters, change);
}

/** The fields that one owner wants; those of others stay. */
export async function applyResource(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly manifest: Manifest; readonly manager: string; readonly force: boolean },
): Promise<RouteAnswer> {
  const { parameters, caller, manifest, manager, force } = request;
  const given = declarationOfManifest(kind, parameters, manifest);
  const said = preconditionOf(request.headers);
  for (let attempt = 1; ; attempt++) {
    const standing = said === "none" ? undefined : await standingView(context, kind, parameters);
    if (standing === undefined) await requireCreate(context, caller, kind, parameters);
    const before = standing === undefined ? new Map() : fieldsOf(declarationOfView(standing));
    const applied = applyFields({
      standing: before,
      owners: standing?.fieldOwners ?? {},
      applied: fieldsOf(given),
      manager,
      force,
    });
    if (!applied.ok) throw ownerConflict(kind, parameters.name, manager, applied.conflicts);
    const ifRevision = typeof said === "object" ? said.revision : (standing?.revision ?? 0);
    const declaration = declarationOf(applied.fields);
    const intent = { parameters, declaration, author: caller.principal, owners: applied.owners, ifRevision };
    const change = await declareChange(context, kind, intent);
    if (request.dryRun) return await planAnswer(context, kind, { ...request, change, before: standing });
    try {
      return await declared(context, kind, parameters, change);
    } catch (thrown) {
      const moved = thrown instanceof Problem && thrown.code === "REVISION_CONFLICT";
      if (!moved || typeof said === "object" || attempt >= attempts) throw thrown;
    }
  }
}

/** Declares what was declared before; for a rollback. */
export async function declareAgain(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & {
    readonly declaration: Declaration;
    readonly standing: ResourceView;
    readonly manager: string | undefined;
  },
): Promise<RouteAnswer> {
  const { parameters, declaration, caller, standing } = request;
  const said = preconditionOf(request.headers);
  const owners = ownersOf(declaration, standing, request.manager ?? caller.principal.name);
  const ifRevision = typeof said === "object" ? said.revision : standing.revision;
  const intent = { parameters, declaration, author: caller.principal, owners, ifRevision };
  const change = await declareChange(context, kind, intent);
  if (request.dryRun) return await planAnswer(context, kind, { ...request, change, before: standing });
  return await declared(context, kind, parameters, change);
}

export async function deleteResource(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly orphan: boolean; readonly confirm: number | undefined },
): Promise<RouteAnswer> {
  const { parameters, caller, orphan, confirm } = request;
  const { place, view } = await requireResource(context, kind, parameters);
  const said = preconditionOf(request.headers);
  if (said === "unsaid") throw preconditionRequired(kind, parameters.name, "delete");
  requireUnprotected(kind, view, orphan);
  requireCount(kind, view, confirm);
  const change: DeleteChange = {
    action: "delete",
    scope: place.scope,
    kind: kind.kind,
    name: parameters.name,
    ifRevision: revisionOf(said),
    author: caller.principal,
    orphan,
    confirmedCount: confirm,
    starts: operationWith(context, kind, { spec: view.resource.spec, ends: true, author: caller.principal }),
  };
  if (request.dryRun) return await planAnswer(context, kind, { ...request, change, before: view });
  const { organizationId } = place;
  const answer = await context.declaring.change({ organizationId, changes: [change] });
  if (!answer.made) throw await changeRefused(context, { kind, parameters, change, refusal: answer.refusal });
  const after = await standingView(context, kind, parameters);
  const shown = await resourceAnswer(context, kind, parameters, after ?? view, 202);
  return withOperation(shown, parameters.organization, answer.done[0]?.operationId);
}

/** Where the work that a change started can be watched, from the first second. */
function withOperation(answer: RouteAnswer, organization: string, operationId: string | undefined): RouteAnswer {
  if (operationId === undefined) return answer;
  return { ...answer, status: 202, headers: { ...answer.headers, location: operationPath(organization, operationId) } };
}

export async function resourceAnswer(
  context: ApiContext,
  kind: Kind,
  { organization }: Named,
  view: ResourceView,
  status: number,
): Promise<RouteAnswer> {
  return await answerWith(new ResourceDocuments(context, organization), kind, view, status);
}

async function answerWith(
  documents: ResourceDocuments,
  kind: Kind,
  view: ResourceView,
  status: number,
): Promise<RouteAnswer> {
  const document = await documents.document(kind, view);
  const metadata = { ...document.metadata, owners: { ...view.fieldOwners } };
  return { status, body: { ...document, metadata }, headers: { etag: `"${view.revision}"` } };
}

/** Protection is asked for by people who know why; forgetting takes nothing away outside. */
function requireUnprotected(kind: Kind, view: ResourceView, orphan: boolean): void {
  const { uid, name } = view.resource;
  const { protectedBy } = effectivePolicy(view.policies, kind.loop?.limits);
  if (protectedBy === undefined || orphan) return;
  const by = protectedBy === `resource/${uid}` ? "its own declaration" : protectedBy;
  const reason = `${kind.kind}/${name} is protected against deletion by ${by}`;
  throw new Problem("GUARD_REFUSED", `${reason}. Take the protection away first, or delete with orphan=true`, {
    verdict: { guard: "protection", answer: "refuse", reason, numbers: { items: 1 }, keys: [] },
  });
}

function requireCount(kind: Kind, view: ResourceView, confirm: number | undefined): void {
  const owned = view.subjects.reduce((sum, subject) => sum + (subject.status?.owned ?? 0), 0);
  if (confirm === undefined || kind.loop === undefined || confirm === owned) return;
  throw new Problem(
    "COUNT_MISMATCH",
    `${kind.kind}/${view.resource.name} owns ${owned} things outside, and ${confirm} were confirmed. Look again, then confirm ${owned}`,
  );
}

async function declared(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
  change: DeclareChange,
): Promise<RouteAnswer> {
  const done = await makeDeclaration(context, kind, parameters, change);
  const isNew = done.result === "created";
  // Deleted by somebody else since then: it was declared all the same.
  const standing = isNew ? undefined : await standingView(context, kind, parameters);
  const answer =
    standing === undefined
      ? await newAnswer(documentsOfNew(context, kind, parameters, change), kind, change, done)
      : await resourceAnswer(context, kind, parameters, standing, 200);
  return withResult(answer, parameters, done);
}

/** What is new needs nothing but itself to be answered: so the answer is written with it, and both are there or neither. */
async function createdAndKept(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
  change: DeclareChange,
  keeping: Keeping,
): Promise<RouteAnswer> {
  const documents = documentsOfNew(context, kind, parameters, change);
  const parts = change.references.filter(({ part }) => part);
  // Before the transaction: within it nobody waits for another connection.
  if (kind.loop === undefined) await Promise.all(parts.map((link) => documents.linked(link)));
  const answers: RouteAnswer[] = [];
  const answerOf = async (all: readonly ChangeDone[]) => {
    const done = declarationDone(all);
    const answer = withResult(await newAnswer(documents, kind, change, done), parameters, done);
    answers.push(answer);
    return keeping.stored(answer);
  };
  const done = await makeDeclaration(context, kind, parameters, change, { scope: keeping.scope, answerOf });
  keeping.isKept = true;
  // The last one: a transaction that lost a race was run again.
  return answers.at(-1) ?? withResult(await newAnswer(documents, kind, change, done), parameters, done);
}

function withResult(answer: RouteAnswer, { organization }: Named, done: ChangeDone): RouteAnswer {
  const told = { ...answer, headers: { ...answer.headers, "setpoint-result": done.result } };
  return withOperation(told, organization, done.operationId);
}

/** Nothing of it is looked up: it was made a moment ago, by this very request. */
async function newAnswer(
  documents: ResourceDocuments,
  kind: Kind,
  change: DeclareChange,
  done: Extract<ChangeDone, { readonly resource: unknown }>,
): Promise<RouteAnswer> {
  const status = done.result === "created" ? 201 : 200;
  return await answerWith(documents, kind, newView(change, done), status);
}

function documentsOfNew(
  context: ApiContext,
  kind: Kind,
  { organization }: Named,
  { declare }: DeclareChange,
): ResourceDocuments {
  const accounts = kind.loop === undefined ? [] : kind.accounts(declare.spec);
  const names = new Map(accounts.map((name) => [accountIdOf(organization, name), name]));
  return new ResourceDocuments(context, organization, names);
}

/** What was just made needs no second look: nobody has seen it yet. */
function newView(
  { declare }: DeclareChange,
  { resource, revision }: { readonly resource: ResourceView["resource"]; readonly revision: number },
): ResourceView {
  const subjects = declare.accounts.map((accountId) => ({
    id: 0,
    accountId,
    shard: 0,
    inputVersion: 1,
    dueAtMs: undefined,
    holdOperationId: undefined,
    status: undefined,
    confirmedAtMs: undefined,
  }));
  const { mode, protect = false, fieldOwners = {} } = declare;
  return { resource, revision, mode, protect, subjects, policies: [], pauses: [], fieldOwners, statusRevision: 0 };
}

async function standingView(context: ApiContext, kind: Kind, parameters: Named): Promise<ResourceView | undefined> {
  const { organizationId, scope } = placeOf(parameters);
  return await context.reads.getResource({ organizationId, scope, kind: kind.kind, name: parameters.name });
}

async function planAnswer(
  context: ApiContext,
  kind: Kind,
  request: WriteRequest & { readonly change: Change; readonly before: ResourceView | undefined },
): Promise<RouteAnswer> {
  const { parameters, change, before, fresh } = request;
  const { organization, organizationId } = placeOf(parameters);
  if (change.action === "declare") await requireFitting(context, kind, parameters, change);
  const about = [{ fields: changedFields(change, before), revision: before?.revision ?? 0 }];
  const answer = await planned(context, { organization, organizationId, changes: [change], about, fresh }).catch(
    async (thrown: unknown) => {
      if (change.action === "declare") await placeUnknown(context, kind, parameters, change, thrown);
      throw thrown;
    },
  );
  if (!answer.made) throw await changeRefused(context, { kind, parameters, change, refusal: answer.refusal });
  return { status: 200, body: answer.document };
}

function ownerConflict(kind: Kind, name: string, manager: string, conflicts: readonly OwnerConflict[]): Problem {
  const owners = [...new Set(conflicts.map(({ owner }) => owner))].join(", ");
  const fields = conflicts.map(({ pointer }) => pointer).join(", ");
  return new Problem(
    "OWNER_CONFLICT",
    `${kind.kind}/${name}: ${manager} would change what ${owners} set (${fields}). Leave those fields out, or take them over with force=true`,
    {
      owners: conflicts.map(({ pointer, owner }) => ({ pointer, owner, asked: manager })),
      errors: conflicts.map(({ pointer, owner }) => ({ pointer, message: `is owned by ${owner}, not by ${manager}` })),
    },
  );
}
