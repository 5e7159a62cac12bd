import { allowedDeletes } from "../../../src/kernel/delete-budget.ts";
import { fencedVerdict } from "../../../src/kernel/fenced.ts";
import type {
  DeleteReservation,
  DeleteReservationAnswer,
  OutcomeRecord,
  PermitAnswer,
  PermitRefusal,
  PermitRequest,
} from "../../../src/ports/engine-store.ts";
import type { BudgetLevel } from "../../../src/ports/records.ts";
import type { BudgetRow, SubjectRow } from "./rows.ts";
import {
  accountKeyOf,
  claimKey,
  coveringPauses,
  hasHold,
  isCurrent,
  type State,
  StoreConflict,
  type Tables,
} from "./state.ts";

const ownedCacheMs = 60_000;

/** Charges every level at once or, for what nobody approved, none. */
export function reserveDeletes({ tables, nowMs }: State, request: DeleteReservation): DeleteReservationAnswer {
  const now = nowMs();
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined || !isCurrent(tables, subject, request.actor, now)) {
    return { current: false, ungrantedPass: false, levels: [] };
  }
  const minute = Math.floor(now / 60_000);
  const rows = budgetRows(tables, subject, now);
  const levels = rows.map((row) => ({
    level: row.level,
    used: usedSince(row, minute - 60),
    owned: row.owned,
    allowed: allowedDeletes(request.limits[row.level], row.owned),
  }));
  const asked = request.granted + request.ungranted;
  const ungrantedPass = request.ungranted === 0 || levels.every(({ used, allowed }) => used + asked <= allowed);
  const charge = request.granted + (ungrantedPass ? request.ungranted : 0);
  if (charge > 0) for (const row of rows) addToBucket(row, minute, charge);
  return { current: true, ungrantedPass, levels };
}

function budgetRows(tables: Tables, subject: SubjectRow, now: number): BudgetRow[] {
  const rows: BudgetRow[] = [];
  if (subject.accountId !== undefined) rows.push(budgetRow(tables, "account", subject.accountId, now));
  rows.push(budgetRow(tables, "organization", subject.organizationId, now));
  rows.push(budgetRow(tables, "platform", "platform", now));
  return rows;
}

function budgetRow(tables: Tables, level: BudgetLevel, scopeKey: string, now: number): BudgetRow {
  const key = `${level} ${scopeKey}`;
  let row = tables.budgets.get(key);
  if (row !== undefined && now - row.ownedAtMs <= ownedCacheMs) return row;
  let owned = 0;
  for (const subject of tables.subjects.values()) {
    const inside =
      level === "platform" || (level === "account" ? subject.accountId : subject.organizationId) === scopeKey;
    if (inside) owned += subject.nowOwned;
  }
  row ??= { level, scopeKey, buckets: new Map(), owned, ownedAtMs: now };
  row.owned = owned;
  row.ownedAtMs = now;
  tables.budgets.set(key, row);
  return row;
}

export function usedSince(row: BudgetRow, afterMinute: number): number {
  let used = 0;
  for (const [minute, count] of row.buckets) if (minute > afterMinute) used += count;
  return used;
}

function addToBucket(row: BudgetRow, minute: number, count: number): void {
  const buckets = new Map<number, number>();
  for (const [bucket, charged] of row.buckets) if (bucket > minute - 60) buckets.set(bucket, charged);
  buckets.set(minute, (buckets.get(minute) ?? 0) + count);
  row.buckets = buckets;
}

/** The fence. The first failing condition answers; asking again with a live permit's own id is answered like the first time. */
export function permit({ tables, nowMs }: State, request: PermitRequest): PermitAnswer {
  const now = nowMs();
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined) return refused("gone", `subject ${request.subject.id} is gone`);
  const refusal = whyNot(tables, subject, request, now);
  if (refusal === "lease") {
    const { id, resourceUid, organizationId } = subject;
    tables.verdicts.push({ subjectId: id, resourceUid, organizationId, atMs: now, verdict: fencedVerdict(request) });
  }
  if (refusal !== undefined) return refused(refusal, `the permit for ${subject.kind}/${subject.name} was refused`);
  const live = subject.permit !== undefined && subject.permit.untilMs > now;
  if (live && subject.permit?.id === request.permitId) return { granted: true };
  for (const id of request.grantIds) {
    const grant = tables.grants.get(id);
    const usable = grant !== undefined && grant.usedAtMs === undefined && grant.expiresAtMs > now;
    if (!usable || grant.subjectId !== subject.id) return refused("grant", `grant ${id} cannot be used`);
  }
  subject.permit = { id: request.permitId, untilMs: now + request.forMs };
  subject.memory = request.memory;
  for (const id of request.grantIds) {
    const grant = tables.grants.get(id);
    if (grant !== undefined) grant.usedAtMs = now;
  }
  for (const record of request.changes) {
    tables.changes.set(record.id, {
      record,
      subjectId: subject.id,
      resourceUid: subject.resourceUid,
      organizationId: subject.organizationId,
      permitId: request.permitId,
      atMs: now,
      outcome: undefined,
    });
  }
  return { granted: true };
}

function refused(refusal: PermitRefusal, detail: string): PermitAnswer {
  return { granted: false, refusal, detail };
}

function whyNot(tables: Tables, subject: SubjectRow, request: PermitRequest, now: number): PermitRefusal | undefined {
  if (!isCurrent(tables, subject, request.actor, now)) return "lease";
  if (!inputsStand(tables, subject, request)) return "inputs";
  const pauses = coveringPauses(tables, subject, now);
  if (pauses.some((pause) => pause.level !== "deletes" || request.deletes)) return "paused";
  if (!hasHold(subject, request.actor)) return "held";
  const live = subject.permit !== undefined && subject.permit.untilMs > now;
  if (live && subject.permit?.id !== request.permitId) return "busy";
  return undefined;
}

function inputsStand(tables: Tables, subject: SubjectRow, { inputs }: PermitRequest): boolean {
  if (inputs.check === "version") return subject.inputVersion === inputs.inputVersion;
  if (subject.policyVersion !== inputs.policyVersion) return false;
  return inputs.sources.every((source) => tables.resources.get(source.uid)?.generation === source.generation);
}

export function recordOutcome({ tables, nowMs }: State, request: OutcomeRecord): boolean {
  const now = nowMs();
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined || !isCurrent(tables, subject, request.actor, now)) return false;
  if (subject.permit?.id !== request.permitId) return false;
  const accountKey = accountKeyOf(subject);
  for (const { externalId } of request.claims) {
    const holder = tables.claims.get(claimKey(accountKey, externalId));
    if (holder !== undefined && holder.subjectId !== subject.id) {
      throw new StoreConflict("SECOND_CLAIMANT", `${externalId} is claimed by subject ${holder.subjectId}`);
    }
  }
  for (const outcome of request.outcomes) {
    const change = tables.changes.get(outcome.changeId);
    if (change?.subjectId === subject.id) change.outcome = outcome;
  }
  subject.memory = request.memory;
  subject.permit = undefined;
  for (const externalId of request.releases) {
    const key = claimKey(accountKey, externalId);
    if (tables.claims.get(key)?.subjectId === subject.id) tables.claims.delete(key);
  }
  for (const { externalId, key } of request.claims) {
    tables.claims.set(claimKey(accountKey, externalId), { accountKey, externalId, subjectId: subject.id, key });
  }
  return true;
}
