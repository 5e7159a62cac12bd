import { canonical, shardOf } from "../kernel/hash.ts";
import type { DeclareAnswer, DeclareRequest } from "../ports/intent-store.ts";
import type { DeclaredResource, Principal } from "../ports/records.ts";
import { declaredResource } from "./resource-row.ts";
import type { Transaction } from "./database.ts";
import { nobodyWoken, type Woken, wokenOf } from "./due-edges.ts";
import { StoreError } from "./errors.ts";
import { type LogEntry, logCall } from "./log-entries.ts";
import { priorityNumber } from "./priorities.ts";
import {
  addLinks,
  addSubjects,
  attachSubjects,
  type DeclaredRow,
  dropLinks,
  insertResource,
  lockNamedResource,
  lockNames,
  raisePolicyVersion,
  readNamedResource,
  readPlace,
  updateResource,
} from "./sql/resources.ts";
import { type WokenRow, wakeAffected } from "./sql/wake.ts";
import type { SqlValue } from "./statement.ts";
import { compareText } from "./text.ts";

export interface Declared {
  readonly answer: DeclareAnswer;
  readonly woken: Woken;
  /** What it replaced. */
  readonly before?: DeclaredRow | undefined;
}

/** Creates or replaces what is declared under a name. Two round trips: look, then write. */
export async function declare(tx: Transaction, request: DeclareRequest): Promise<Declared> {
  const { organizationId, scope, kind, name } = request;
  const [scopes, kinds, names] = linkColumns(request);
  const locks = [
    tx.run(lockNames, organizationId, [scope, ...scopes], [kind, ...kinds], [name, ...names]),
    tx.run(lockNamedResource, organizationId, scope, kind, name),
  ];
  const found = tx.run(readNamedResource, organizationId, scope, kind, name);
  const place = tx.run(readPlace, organizationId, scope, accountIds(request));
  const [[existing], [where]] = await Promise.all([found, place, ...locks]);

  const answer = unwritten(existing, request);
  if (answer !== undefined) return { answer, woken: nobodyWoken };
  if (existing !== undefined && existing.deletion !== null) return govern(tx, existing, request);
  const path = requirePlace(request, where);
  return existing === undefined ? create(tx, request, path) : change(tx, existing, request);
}

/** The answer to a declaration that writes nothing: somebody was faster, or it says what stands there already. */
export function unwritten(existing: DeclaredRow | undefined, request: DeclareRequest): DeclareAnswer | undefined {
  const revision = existing?.revision ?? 0;
  const moved = request.ifRevision !== undefined && request.ifRevision !== revision;
  const leaving = existing !== undefined && existing.deletion !== null && !governsOnly(existing, request);
  if (moved || leaving) return { result: "conflict", revision };
  if (existing === undefined || !sameDeclaration(existing, request)) return undefined;
  return { result: "unchanged", resource: declaredResource(existing), revision };
}

async function create(tx: Transaction, request: DeclareRequest, path: readonly string[]): Promise<Declared> {
  const { uid, organizationId, kind, name, scope } = request;
  const inserted = tx.run(insertResource, organizationId, uid, kind, name, scope, path, ...declaredColumns(request));
  const linked = tx.run(addLinks, organizationId, uid, ...linkColumns(request));
  const woken = wakeTargets(tx, request, uid);
  // After the wake: new subjects are due anyway, at their first version.
  const added = add(tx, uid, request, request.accounts);
  const logged = log(tx, request, { uid, result: "created", generation: 1, revision: 1 });
  const [[row], made, targets] = await Promise.all([inserted, added, woken, linked, logged]);
  const resource = resourceOf(request, { uid, generation: 1, declaredAtMs: row?.declared_at_ms ?? 0 });
  return { answer: { result: "created", resource, revision: 1 }, woken: wokenOf([...made, ...targets]) };
}

async function change(tx: Transaction, existing: DeclaredRow, request: DeclareRequest): Promise<Declared> {
  const { organizationId, author } = request;
  const { uid } = existing;
  const specChanged = canonical(existing.spec) !== canonical(request.spec);
  const generation = existing.generation + (specChanged ? 1 : 0);
  const revision = existing.revision + 1;
  const subjects = existing.subjects ?? [];
  const missing = request.accounts.filter((id) => !subjects.some((one) => one.accountId === (id ?? null)));
  const attached = subjects.map((one) => request.accounts.includes(one.accountId ?? undefined));

  const updated = tx.run(updateResource, organizationId, uid, specChanged ? 1 : 0, ...declaredColumns(request));
  // New links before the wake and old ones after it: the targets of both are woken.
  const linked = tx.run(addLinks, organizationId, uid, ...linkColumns(request));
  const woken = wakeTargets(tx, request, uid);
  const rest: Promise<unknown>[] = [linked, tx.run(dropLinks, organizationId, uid, ...linkColumns(request))];
  if (existing.mode !== (request.mode ?? null) || existing.protect !== (request.protect ?? null)) {
    rest.push(tx.run(raisePolicyVersion, organizationId, uid));
  }
  if (subjects.some((one, index) => (one.detached === null) !== attached[index])) {
    const ids = subjects.map(({ id }) => id);
    const yes = attached.map(String);
    rest.push(tx.run(attachSubjects, organizationId, ids, author.name, author.type, yes));
  }
  const added = add(tx, uid, request, missing);
  rest.push(log(tx, request, { uid, result: "changed", generation, revision, existing }));
  const [[row], targets, made] = await Promise.all([updated, woken, added, ...rest]);
  const resource = resourceOf(request, { uid, generation, declaredAtMs: row?.declared_at_ms ?? 0 });
  return { answer: { result: "changed", resource, revision }, woken: wokenOf([...targets, ...made]), before: existing };
}

/**
 * Mode and protection of a deleted resource: without them one that only looks, or is protected, would never leave. Its subjects
 * are left as they are, because one that has left already must not come back.
 */
async function govern(tx: Transaction, existing: DeclaredRow, request: DeclareRequest): Promise<Declared> {
  const { organizationId } = request;
  const { uid, generation, deletion } = existing;
  const revision = existing.revision + 1;
  const [[row], targets] = await Promise.all([
    tx.run(updateResource, organizationId, uid, 0, ...declaredColumns(request)),
    wakeTargets(tx, request, uid),
    tx.run(raisePolicyVersion, organizationId, uid),
    log(tx, request, { uid, result: "changed", generation, revision, existing }),
  ]);
  const known = { uid, generation, declaredAtMs: row?.declared_at_ms ?? 0 };
  const resource = { ...resourceOf(request, known), deletion: deletion ?? undefined };
  return { answer: { result: "changed", resource, revision }, woken: wokenOf(targets), before: existing };
}

/** Whether it says what is declared already, but for mode and protection. What else there is follows from the spec. */
function governsOnly(row: DeclaredRow, request: DeclareRequest): boolean {
  return (
    canonical(row.spec) === canonical(request.spec) &&
    canonical(row.labels) === canonical(request.labels) &&
    (row.mode !== (request.mode ?? null) || row.protect !== (request.protect ?? null))
  );
}

function wakeTargets(tx: Transaction, { organizationId, author }: DeclareRequest, uid: string) {
  return tx.run(wakeAffected, authorPriority(author), organizationId, uid);
}

async function add(
  tx: Transaction,
  uid: string,
  { organizationId, kind, name, author }: DeclareRequest,
  accounts: readonly (string | undefined)[],
): Promise<readonly WokenRow[]> {
  if (accounts.length === 0) return [];
  const distinct = [...new Set(accounts)];
  const shards = distinct.map((id) => shardOf(id ?? organizationId));
  const ids = distinct.map((id) => id ?? null);
  return tx.run(addSubjects, organizationId, uid, kind, name, ids, shards, authorPriority(author));
}

interface Logged {
  readonly uid: string;
  readonly result: string;
  readonly generation: number;
  readonly revision: number;
  readonly existing?: DeclaredRow | undefined;
}

export async function log(tx: Transaction, request: DeclareRequest, about: Logged): Promise<void> {
  const entry = logCall(logEntry(request, about));
  await tx.run(entry.statement, ...entry.values);
}

export function logEntry(request: DeclareRequest, { uid, result, generation, revision, existing }: Logged): LogEntry {
  const { organizationId, author } = request;
  return {
    organizationId,
    type: `resource.${result}`,
    uid,
    revision,
    author,
    data: logData(request, generation),
    before: existing && declarationOf(existing),
    after: declarationOf(request),
  };
}

/** What the digests of before and after are made of. */
function declarationOf({ spec, labels, mode, protect }: Pick<DeclareRequest, "spec" | "labels"> & Governs): object {
  return { spec, labels, mode: mode ?? null, protect: protect ?? null };
}

interface Governs {
  readonly mode?: string | null | undefined;
  readonly protect?: boolean | null | undefined;
}

/** What the log says of a declaration. */
function logData(request: DeclareRequest, generation: number): LogEntry["data"] {
  const { kind, name, scope, spec, labels, author, mode, protect } = request;
  return { kind, name, scope, generation, spec, labels, mode, protect, authorType: author.type };
}

export function resourceOf(
  { kind, name, scope, spec, labels, author }: DeclareRequest,
  known: { readonly uid: string; readonly generation: number; readonly declaredAtMs: number },
): DeclaredResource {
  return { ...known, kind, name, scope, spec, labels, author, deletion: undefined };
}

export function authorPriority(author: Principal): number {
  return priorityNumber(author.type === "person" ? "person" : "event");
}

/** Values of the columns that every declaration replaces. */
function declaredColumns(request: DeclareRequest): readonly SqlValue[] {
  const { spec, labels, author, mode, protect } = request;
  return [
    JSON.stringify(spec),
    JSON.stringify(labels),
    author.name,
    author.type,
    mode ?? null,
    protect ?? null,
    JSON.stringify(fieldOwners(request)),
  ];
}

function linkColumns({ links, scope: own }: DeclareRequest) {
  return [
    links.map(({ scope }) => scope ?? own),
    links.map(({ kind }) => kind),
    links.map(({ name }) => name),
  ] as const;
}

function accountIds({ accounts }: DeclareRequest): readonly string[] {
  return accounts.filter((id) => id !== undefined);
}

/** A declaration replaces the whole spec, so its owner owns every top-level field. */
export function fieldOwners({ spec, owner, author, ...request }: DeclareRequest): Readonly<Record<string, string>> {
  if (request.fieldOwners !== undefined) return request.fieldOwners;
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return {};
  const pointers = Object.keys(spec).map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  return Object.fromEntries(pointers.map((pointer) => [pointer, owner ?? author.name]));
}

function requirePlace(
  request: DeclareRequest,
  place: { readonly path: readonly string[] | null; readonly accounts: readonly string[] | null } | undefined,
): readonly string[] {
  const { organizationId, scope, kind, name } = request;
  if (place === undefined || place.path === null) {
    throw new StoreError(
      "NOT_FOUND",
      `${kind}/${name}: organization ${organizationId} has no scope ${scope}. Create it first.`,
    );
  }
  const unknown = accountIds(request).find((id) => !place.accounts?.includes(id));
  if (unknown !== undefined) {
    throw new StoreError(
      "NOT_FOUND",
      `${kind}/${name}: organization ${organizationId} has no account ${unknown}. Create it first.`,
    );
  }
  return place.path;
}

function sameDeclaration(row: DeclaredRow, request: DeclareRequest): boolean {
  return (
    canonical(row.spec) === canonical(request.spec) &&
    canonical(row.labels) === canonical(request.labels) &&
    sameSurroundings(row, request)
  );
}

/** Whether a declaration differs from what stands there at most in its spec and labels. */
export function sameSurroundings(row: DeclaredRow, request: DeclareRequest): boolean {
  const attached = (row.subjects ?? []).filter(({ detached }) => detached === null);
  return (
    row.mode === (request.mode ?? null) &&
    row.protect === (request.protect ?? null) &&
    sameSet(
      attached.map(({ accountId }) => canonical(accountId)),
      request.accounts.map(canonical),
    ) &&
    sameSet(
      (row.links ?? []).map(linkKey),
      request.links.map((link) => linkKey({ ...link, scope: link.scope ?? request.scope })),
    )
  );
}

function linkKey(link: { readonly scope: string; readonly kind: string; readonly name: string }): string {
  return canonical([link.scope, link.kind, link.name]);
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return canonical([...new Set(left)].sort(compareText)) === canonical([...new Set(right)].sort(compareText));
}
