import { heldChangeDigest } from "../../../src/kernel/held-change.ts";
import type { ApproveAnswer } from "../../../src/ports/intent-store.ts";
import type { HeldGroup, HeldItem, Principal } from "../../../src/ports/records.ts";
import type { HeldChangeRow, SubjectRow } from "./rows.ts";
import { compareText, scopePath, type State, type Tables, wake } from "./state.ts";

type Item = HeldItem & { readonly subjectId: number };

/** Replaces everything this subject has waiting. Held changes whose items moved open again, with a new digest. */
export function replaceHeld(
  state: State,
  subject: SubjectRow,
  held: { readonly digest: string; readonly groups: readonly HeldGroup[] },
): void {
  const { tables } = state;
  const before = new Map<HeldChangeRow, string>();
  for (const row of tables.heldChanges.values()) {
    if (isCurrentRow(row) && row.items.some((item) => item.subjectId === subject.id)) {
      before.set(row, row.digest);
      row.items = row.items.filter((item) => item.subjectId !== subject.id);
    }
  }
  const newest = new Map<HeldChangeRow, HeldGroup>();
  for (const group of held.groups) {
    if (group.items.length === 0) continue;
    const row = findOrOpen(state, subject, group);
    if (!before.has(row)) before.set(row, row.digest);
    row.items = [...row.items, ...group.items.map((item) => ({ ...item, subjectId: subject.id }))];
    newest.set(row, group);
  }
  for (const [row, digest] of before) recompute(tables, row, digest, newest.get(row));
  // Nothing waiting reads as never having waited, so that an idle cycle stays idle.
  subject.heldDigest = held.groups.length === 0 ? undefined : held.digest;
}

/** A subject that is gone waits for nothing. */
export function dropHeldItems({ tables }: State, subject: SubjectRow): void {
  for (const row of tables.heldChanges.values()) {
    if (!isCurrentRow(row) || !row.items.some((item) => item.subjectId === subject.id)) continue;
    row.items = row.items.filter((item) => item.subjectId !== subject.id);
    recompute(tables, row, row.digest, undefined);
  }
}

function isCurrentRow(row: HeldChangeRow): boolean {
  return row.state === "open" || row.state === "rejected";
}

function findOrOpen(state: State, subject: SubjectRow, group: HeldGroup): HeldChangeRow {
  const { tables } = state;
  const { organizationId } = subject;
  const scopeKey = scopeKeyOf(subject, group.level);
  for (const row of tables.heldChanges.values()) {
    const fits = row.organizationId === organizationId && row.level === group.level && row.scopeKey === scopeKey;
    if (fits && row.guard === group.guard && isCurrentRow(row)) return row;
  }
  const row: HeldChangeRow = {
    id: state.ids.next(),
    organizationId,
    level: group.level,
    scopeKey,
    openedAtMs: state.nowMs(),
    state: "open",
    digest: "",
    guard: group.guard,
    verdict: group.verdict,
    authors: [],
    items: [],
    decidedBy: undefined,
    decidedAtMs: undefined,
  };
  tables.heldChanges.set(row.id, row);
  return row;
}

function scopeKeyOf(subject: SubjectRow, level: HeldGroup["level"]): string {
  if (level === "subject") return String(subject.id);
  if (level === "account") return subject.accountId ?? "";
  return level === "organization" ? subject.organizationId : "platform";
}

function recompute(tables: Tables, row: HeldChangeRow, before: string, newest: HeldGroup | undefined): void {
  row.digest = heldChangeDigest(row.items);
  row.authors = authorsOf(tables, row.items);
  if (row.items.length === 0) {
    row.state = "withdrawn";
    return;
  }
  if (row.digest === before) return;
  row.state = "open";
  row.decidedBy = undefined;
  row.decidedAtMs = undefined;
  if (newest !== undefined) row.verdict = newest.verdict;
}

function authorsOf(tables: Tables, items: readonly Item[]): readonly string[] {
  const names = new Set<string>();
  for (const { subjectId } of items) {
    const subject = tables.subjects.get(subjectId);
    const resource = subject && tables.resources.get(subject.resourceUid);
    if (resource === undefined) continue;
    names.add(resource.author.name);
    const deletion = resource.deletion ?? subject?.detached;
    if (deletion !== undefined) names.add(deletion.author.name);
  }
  return [...names].sort(compareText);
}

interface ApproveRequest {
  readonly organizationId: string;
  readonly heldChangeId: string;
  readonly digest: string;
  readonly approver: Principal;
  readonly grantForMs: number;
}

export function approve(state: State, request: ApproveRequest): ApproveAnswer {
  const { tables } = state;
  if (request.approver.type !== "person") return { result: "refused-principal" };
  const row = tables.heldChanges.get(request.heldChangeId);
  if (row === undefined || row.organizationId !== request.organizationId) return { result: "not-found" };
  if (!isCurrentRow(row)) return { result: "closed" };
  if (row.digest !== request.digest) return { result: "moved", digest: row.digest };
  const subjects = [...new Set(row.items.map((item) => item.subjectId))]
    .map((id) => tables.subjects.get(id))
    .filter((subject) => subject !== undefined);
  const needsOther = subjects.some((subject) => fourEyes(tables, subject));
  if (needsOther && row.authors.includes(request.approver.name)) return { result: "four-eyes" };
  const now = state.nowMs();
  row.state = "approved";
  row.decidedBy = request.approver.name;
  row.decidedAtMs = now;
  const grants = row.guard === "account-identity" ? reclaim(tables, row) : grantItems(state, row, request, now);
  for (const subject of subjects) {
    subject.heldDigest = undefined;
    wake(subject, "person", now, false);
  }
  const ids = new Set(subjects.map(({ id }) => id));
  for (const operation of tables.operations.values())
    if (operation.state === "held" && ids.has(operation.subjectId)) operation.dueAtMs = now;
  return { result: "approved", grants };
}

function fourEyes(tables: Tables, subject: SubjectRow): boolean {
  const resource = tables.resources.get(subject.resourceUid);
  if (resource === undefined) return false;
  return scopePath(tables, resource.scope).some((scope) => tables.policies.get(scope)?.fourEyes === true);
}

function grantItems(state: State, row: HeldChangeRow, request: ApproveRequest, now: number): number {
  for (const item of row.items) {
    const id = state.ids.next();
    state.tables.grants.set(id, {
      id,
      heldChangeId: row.id,
      subjectId: item.subjectId,
      itemDigest: item.digest,
      approver: request.approver.name,
      expiresAtMs: now + request.grantForMs,
      usedAtMs: undefined,
    });
  }
  return row.items.length;
}

/**
 * The items name the accounts that this installation may claim again: after a restore, or because what was left there to know them
 * by is gone. Then they are not known by it any more.
 */
function reclaim(tables: Tables, row: HeldChangeRow): number {
  const claimedIncarnation = tables.installation.incarnation;
  // Once each, however many items name it.
  for (const id of new Set(row.items.map(({ externalId }) => externalId))) {
    const account = id === undefined ? undefined : tables.accounts.get(id);
    if (account?.record.organizationId === row.organizationId)
      account.record = {
        ...account.record,
        claimedIncarnation,
        fingerprint: account.record.claimedIncarnation === claimedIncarnation ? undefined : account.record.fingerprint,
      };
  }
  return 0;
}

export function reject(
  state: State,
  request: { readonly organizationId: string; readonly heldChangeId: string; readonly author: Principal },
): boolean {
  const row = state.tables.heldChanges.get(request.heldChangeId);
  if (row === undefined || row.organizationId !== request.organizationId || row.state !== "open") return false;
  row.state = "rejected";
  row.decidedBy = request.author.name;
  row.decidedAtMs = state.nowMs();
  return true;
}
