import { canonical, shardOf } from "../../../src/kernel/hash.ts";
import { emptyMemory, retriedMemory } from "../../../src/kernel/memory.ts";
import type { DeclareAnswer, DeclareRequest } from "../../../src/ports/intent-store.ts";
import type { Principal } from "../../../src/ports/records.ts";
import { declaredOf } from "./cycle-input.ts";
import { stopOperation } from "./operations.ts";
import type { ResourceRow, SubjectRow } from "./rows.ts";
import { compareText, findResource, linkedSubjects, type State, subjectsOf, wake } from "./state.ts";

export function declare(state: State, request: DeclareRequest): DeclareAnswer {
  const existing = findResource(state.tables, request.organizationId, request);
  const revision = existing?.revision ?? 0;
  const moved = request.ifRevision !== undefined && request.ifRevision !== revision;
  const leaving = existing?.deletion !== undefined;
  if (moved || (leaving && !governsOnly(existing, request))) return { result: "conflict", revision };
  if (existing === undefined) return create(state, request);
  if (leaving) return govern(state, existing, request);
  if (sameDeclaration(state, existing, request)) {
    return { result: "unchanged", resource: declaredOf(existing, undefined), revision };
  }
  return change(state, existing, request);
}

function create(state: State, request: DeclareRequest): DeclareAnswer {
  const { tables } = state;
  const now = state.nowMs();
  const { uid, organizationId, kind, name, scope, spec, labels, author, mode, protect } = request;
  if (tables.resources.has(uid)) throw new Error(`Resource ${uid} exists already under another name`);
  const links = linksOf(request);
  const row: ResourceRow = {
    uid,
    organizationId,
    kind,
    name,
    scope,
    spec,
    labels,
    author,
    mode,
    protect,
    links,
    ...refersOf(request),
    generation: 1,
    revision: 1,
    declaredAtMs: now,
    deletion: undefined,
  };
  tables.resources.set(uid, row);
  for (const accountId of request.accounts) addSubject(state, row, accountId);
  wakeAll(linkedSubjects(tables, row), author, now);
  return { result: "created", resource: declaredOf(row, undefined), revision: 1 };
}

function change(state: State, row: ResourceRow, request: DeclareRequest): DeclareAnswer {
  const { tables } = state;
  const now = state.nowMs();
  const woken = new Set([...subjectsOf(tables, row.uid), ...linkedSubjects(tables, row)]);
  if (canonical(row.spec) !== canonical(request.spec)) row.generation += 1;
  if (row.mode !== request.mode || row.protect !== request.protect) {
    for (const subject of subjectsOf(tables, row.uid)) subject.policyVersion += 1;
  }
  row.spec = request.spec;
  row.labels = request.labels;
  row.mode = request.mode;
  row.protect = request.protect;
  row.author = request.author;
  row.declaredAtMs = now;
  row.revision += 1;
  row.links = linksOf(request);
  Object.assign(row, refersOf(request));
  tables.resources.set(row.uid, row);
  attachAccounts(state, row, request, now);
  for (const subject of linkedSubjects(tables, row)) woken.add(subject);
  wakeAll(woken, request.author, now);
  return { result: "changed", resource: declaredOf(row, undefined), revision: row.revision };
}

/** Mode and protection of a deleted resource; what else there is of it stays as it was. */
function govern(state: State, row: ResourceRow, { mode, protect, author }: DeclareRequest): DeclareAnswer {
  const now = state.nowMs();
  const own = subjectsOf(state.tables, row.uid);
  for (const subject of own) subject.policyVersion += 1;
  row.mode = mode;
  row.protect = protect;
  row.author = author;
  row.declaredAtMs = now;
  row.revision += 1;
  wakeAll([...own, ...linkedSubjects(state.tables, row)], author, now);
  return { result: "changed", resource: declaredOf(row, row.deletion), revision: row.revision };
}

function governsOnly(row: ResourceRow, request: DeclareRequest): boolean {
  return (
    canonical(row.spec) === canonical(request.spec) &&
    canonical(row.labels) === canonical(request.labels) &&
    (row.mode !== request.mode || row.protect !== request.protect)
  );
}

/** A subject whose account is no longer named leaves by itself; named again before it left, it stays. */
function attachAccounts(state: State, row: ResourceRow, request: DeclareRequest, now: number): void {
  const subjects = subjectsOf(state.tables, row.uid);
  for (const subject of subjects) {
    if (request.accounts.includes(subject.accountId)) subject.detached = undefined;
    else subject.detached ??= { author: request.author, atMs: now, orphan: false };
  }
  for (const accountId of request.accounts) {
    if (!subjects.some((subject) => subject.accountId === accountId)) addSubject(state, row, accountId);
  }
}

function addSubject(state: State, row: ResourceRow, accountId: string | undefined): void {
  const { tables } = state;
  const subject: SubjectRow = {
    id: tables.nextSubjectId++,
    organizationId: row.organizationId,
    resourceUid: row.uid,
    accountId,
    kind: row.kind,
    name: row.name,
    shard: shardOf(accountId ?? row.organizationId),
    dueAtMs: state.nowMs(),
    priority: priorityOf(row.author),
    inputVersion: 1,
    policyVersion: 1,
    permit: undefined,
    hold: undefined,
    undone: undefined,
    memory: emptyMemory,
    status: undefined,
    observation: undefined,
    heldDigest: undefined,
    nowOwned: 0,
    detached: undefined,
  };
  tables.subjects.set(subject.id, subject);
}

function priorityOf(author: Principal): "person" | "event" {
  return author.type === "person" ? "person" : "event";
}

function wakeAll(subjects: Iterable<SubjectRow>, author: Principal, now: number): void {
  for (const subject of new Set(subjects)) wake(subject, priorityOf(author), now, true);
}

function refersOf({ refers, scope: own }: DeclareRequest): Pick<ResourceRow, "refers"> {
  return refers === undefined ? {} : { refers: refers.map(({ kind, name, scope = own }) => ({ scope, kind, name })) };
}

function linksOf(request: DeclareRequest): ResourceRow["links"] {
  return request.links.map(({ kind, name, scope = request.scope }) => ({ scope, kind, name }));
}

function sameDeclaration({ tables }: State, row: ResourceRow, request: DeclareRequest): boolean {
  const attached = subjectsOf(tables, row.uid).filter((subject) => subject.detached === undefined);
  return (
    canonical(row.spec) === canonical(request.spec) &&
    canonical(row.labels) === canonical(request.labels) &&
    row.mode === request.mode &&
    row.protect === request.protect &&
    sameSet(
      attached.map((subject) => subject.accountId ?? ""),
      request.accounts.map((id) => id ?? ""),
    ) &&
    sameSet(row.links.map(canonical), linksOf(request).map(canonical))
  );
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return canonical([...new Set(left)].sort(compareText)) === canonical([...new Set(right)].sort(compareText));
}

export interface DeletionRequest {
  readonly organizationId: string;
  readonly uid: string;
  readonly ifRevision: number | undefined;
  readonly author: Principal;
  readonly orphan: boolean;
  readonly confirmedCount: number | undefined;
}

export function requestDeletion(
  state: State,
  request: DeletionRequest,
): { readonly found: boolean; readonly conflict: boolean } {
  const { tables, nowMs } = state;
  const row = tables.resources.get(request.uid);
  if (row === undefined || row.organizationId !== request.organizationId) return { found: false, conflict: false };
  if (request.ifRevision !== undefined && request.ifRevision !== row.revision) return { found: true, conflict: true };
  const now = nowMs();
  const { author, orphan } = request;
  if (row.deletion === undefined) stopOperation(state, row.uid);
  // Only a person's word counts: a machine that repeats his deletion confirms nothing in his name.
  const heard = row.deletion === undefined || author.type === "person";
  const confirmedCount = heard ? request.confirmedCount : row.deletion?.confirmedCount;
  if (row.deletion === undefined) row.generation += 1;
  row.deletion = { author: row.deletion?.author ?? author, atMs: row.deletion?.atMs ?? now, orphan, confirmedCount };
  row.revision += 1;
  const own = subjectsOf(tables, row.uid);
  const linked = linkedSubjects(tables, row);
  wakeAll([...own, ...linked], author, now);
  if (own.length === 0 && linked.length === 0) tables.resources.delete(row.uid);
  return { found: true, conflict: false };
}

export function reconcileNow(
  { tables, nowMs }: State,
  request: { readonly organizationId: string; readonly uid: string },
): void {
  const now = nowMs();
  for (const subject of subjectsOf(tables, request.uid)) {
    if (subject.organizationId !== request.organizationId) continue;
    subject.memory = retriedMemory(subject.memory);
    wake(subject, "person", now, true);
  }
}
