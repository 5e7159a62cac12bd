import { digestOf } from "../kernel/hash.ts";
import { isoTime } from "../kernel/iso-time.ts";
import type { Kind } from "../kernel/kind.ts";
import type { Action } from "../ports/access.ts";
import type { Change, ChangeRefusal } from "../ports/declaring-store.ts";
import type { Json } from "../ports/json.ts";
import type { Computed, Proposal } from "../ports/proposal-store.ts";
import type { ResourceView } from "../ports/read-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Caller } from "./access/caller.ts";
import { can, sees } from "./access/can.ts";
import { scopePathOf } from "./access/scope-path.ts";
import type { ApiContext } from "./context.ts";
import { planned } from "./dry-run.ts";
import { Problem } from "./problem.ts";
import { declarationOfManifest, declareChange, ownersOf } from "./resources/declaring.ts";
import { changedFields } from "./resources/fields.ts";
import { requireFitting } from "./resources/fitting.ts";
import { type Named, placeOf } from "./resources/place.ts";
import { changeRefused } from "./resources/refusals.ts";
import type { DryRunDocument } from "./schemas/dry-run.ts";
import type { ProposalDocument, ProposedChange } from "./schemas/proposal.ts";
import { scopeUnknown } from "./scope.ts";

/** One change of a proposal, with everything that is known about what it names. */
interface Prepared {
  readonly kind: Kind;
  readonly parameters: Named;
  readonly standing: ResourceView | undefined;
  readonly change: Change;
}

/**
 * The changes as the store takes them, each tied to the revision that stands now, or to the ones that were seen before.
 * Declarations come first, so that what is referred to is there; deletions last, what refers to others before them.
 */
export async function prepare(
  context: ApiContext,
  organization: string,
  request: {
    readonly changes: readonly ProposedChange[];
    readonly author: Principal;
    readonly revisions: readonly number[] | undefined;
  },
): Promise<readonly Prepared[]> {
  const prepared = await Promise.all(
    request.changes.map((change, index) =>
      prepareOne(context, organization, change, request.author, request.revisions?.[index]),
    ),
  );
  return prepared.sort((left, right) => rank(left) - rank(right));
}

/** What has parts before its parts; when they go, the parts first. */
function rank({ kind, change }: Prepared): number {
  const isPart = kind.loop === undefined;
  return change.action === "declare" ? (isPart ? 1 : 0) : isPart ? 2 : 3;
}

async function prepareOne(
  context: ApiContext,
  organization: string,
  proposed: ProposedChange,
  author: Principal,
  seenRevision: number | undefined,
): Promise<Prepared> {
  const { project, workspace } = proposed;
  const target = "manifest" in proposed ? proposed.manifest : proposed.delete;
  const name = "manifest" in proposed ? proposed.manifest.metadata.name : proposed.delete.name;
  const kind = requireKind(context, target.kind);
  const parameters: Named = {
    organization,
    name,
    ...(project === undefined ? {} : { project }),
    ...(workspace === undefined ? {} : { workspace }),
  };
  requireScopeOf(kind, parameters);
  const { organizationId, scope } = placeOf(parameters);
  const standing = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name });
  const ifRevision = seenRevision ?? standing?.revision ?? 0;
  if ("delete" in proposed) {
    const { orphan, confirm } = proposed.delete;
    const base = { action: "delete", scope, kind: kind.kind, name, author, orphan } as const;
    return { kind, parameters, standing, change: { ...base, ifRevision, confirmedCount: confirm } };
  }
  const declaration = declarationOfManifest(kind, parameters, proposed.manifest);
  const owners = ownersOf(declaration, standing, author.name);
  const change = await declareChange(context, kind, { parameters, declaration, author, owners, ifRevision });
  await requireFitting(context, kind, parameters, change);
  return { kind, parameters, standing, change };
}

/** What the changes would lead to now, and the digest of that. */
export async function compute(
  context: ApiContext,
  organization: string,
  prepared: readonly Prepared[],
  proposed: readonly ProposedChange[],
): Promise<Computed> {
  const { organizationId } = placeOf({ organization });
  const changes = prepared.map(({ change }) => change);
  const about = prepared.map(({ change, standing }) => ({
    fields: changedFields(change, standing),
    revision: standing?.revision ?? 0,
  }));
  const answer = await planned(context, { organization, organizationId, changes, about, fresh: false });
  if (!answer.made) throw await refusedAt(context, prepared, answer);
  // In the order in which they were proposed, as the changes are kept.
  const revisions = proposed.map((one) => prepared.find((known) => isFor(known, one))?.standing?.revision ?? 0);
  const { document } = answer;
  return { revisions, plan: document as unknown as Json, digest: digestOf([proposed, revisions, itemsOf(document)]) };
}

/** Ages and notes move by themselves; what is done to what does not. */
function itemsOf({ changes, subjects }: DryRunDocument) {
  return [changes, subjects.map(({ kind, name, items }) => [kind, name, items])];
}

function isFor({ kind, parameters }: Prepared, proposed: ProposedChange): boolean {
  const target = "manifest" in proposed ? proposed.manifest : proposed.delete;
  const name = "manifest" in proposed ? proposed.manifest.metadata.name : proposed.delete.name;
  return (
    kind.kind === target.kind &&
    parameters.name === name &&
    parameters.project === proposed.project &&
    parameters.workspace === proposed.workspace
  );
}

export async function refusedAt(
  context: ApiContext,
  prepared: readonly Prepared[],
  { at, refusal }: { readonly at: number; readonly refusal: ChangeRefusal },
): Promise<Problem> {
  const refused = prepared[at];
  if (refused === undefined) return new Problem("INTERNAL", "A change was refused that was not asked for");
  return await changeRefused(context, { ...refused, refusal });
}

/** Whoever decides or applies a set must have the right to make each of its changes himself. */
export function requireRights(caller: Caller, prepared: readonly Prepared[], only?: "read"): void {
  for (const { kind, parameters, standing, change } of prepared) {
    const path = scopePathOf(parameters);
    if (!sees(caller, path)) throw scopeUnknown(parameters);
    const action: Action =
      only ?? (change.action === "delete" ? "delete" : standing === undefined ? "create" : "update");
    const decision = can(caller, kind.permission, action, path);
    if (decision.allowed) continue;
    throw new Problem(
      "FORBIDDEN",
      `${caller.principal.name} may not ${action} ${kind.kind}/${parameters.name}: ${decision.because}. Ask an owner for a role that has it`,
    );
  }
}

/** Two changes of one resource would be one of them, and which one nobody could say. */
export function requireDistinct(changes: readonly ProposedChange[]): void {
  const seen = new Set<string>();
  for (const [index, change] of changes.entries()) {
    const kind = "manifest" in change ? change.manifest.kind : change.delete.kind;
    const name = "manifest" in change ? change.manifest.metadata.name : change.delete.name;
    const key = JSON.stringify([change.project, change.workspace, kind, name]);
    if (seen.has(key))
      throw new Problem("FIELDS_INVALID", `${kind}/${name} is there twice: put what it should become into one change`, {
        errors: [{ pointer: `/changes/${index}`, message: "is there twice" }],
      });
    seen.add(key);
  }
}

export function proposalDocument(proposal: Proposal): ProposalDocument {
  const { decidedBy, decidedAtMs, comment, appliedAtMs } = proposal;
  return {
    id: proposal.id,
    state: proposal.state,
    author: proposal.author.name,
    authorType: proposal.author.type,
    reason: proposal.reason,
    changes: proposal.changes as unknown as ProposalDocument["changes"],
    plan: proposal.plan as unknown as DryRunDocument,
    digest: proposal.digest,
    proposedAt: isoTime(proposal.proposedAtMs),
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(decidedAtMs === undefined ? {} : { decidedAt: isoTime(decidedAtMs) }),
    ...(comment === undefined ? {} : { comment }),
    ...(appliedAtMs === undefined ? {} : { appliedAt: isoTime(appliedAtMs) }),
  };
}

function requireKind(context: ApiContext, name: string): Kind {
  const kind = context.kinds.get(name);
  if (kind !== undefined) return kind;
  throw new Problem("KIND_UNKNOWN", `There is no kind "${name}". Kinds: ${[...context.kinds.keys()].join(", ")}`);
}

function requireScopeOf(kind: Kind, { project, workspace, name }: Named): void {
  if (workspace !== undefined && project === undefined)
    throw new Problem("FIELDS_INVALID", `${kind.kind}/${name}: a workspace is in a project: name that too`);
  const type = workspace !== undefined ? "workspace" : project !== undefined ? "project" : "organization";
  if (kind.scopes.includes(type)) return;
  throw new Problem(
    "SCOPE_NOT_ALLOWED",
    `A ${kind.kind} does not live in ${type === "organization" ? "an organization" : `a ${type}`} but in: ${kind.scopes.join(", ")}`,
  );
}
