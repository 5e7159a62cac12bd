import { badTogether, minuteOf } from "../../../src/kernel/bad-together.ts";
import type { EngineStore, IdleBatch, SettleAnswer, Settlement } from "../../../src/ports/engine-store.ts";
import { pointsAt } from "./cycle-input.ts";
import { dropHeldItems, replaceHeld } from "./held.ts";
import { startOperation } from "./operations.ts";
import type { SubjectRow } from "./rows.ts";
import { hasHold, isCurrent, linkedSubjects, type State, subjectsOf, type Tables, wake } from "./state.ts";

export function settle(state: State, settlement: Settlement): SettleAnswer {
  const { tables } = state;
  const now = state.nowMs();
  const subject = tables.subjects.get(settlement.subject.id);
  if (subject === undefined || !isCurrent(tables, subject, settlement.actor, now)) {
    return { kept: false, dueAgain: false };
  }
  // What an operation holds, it alone remembers; and a memory read before a hold ended is not the latest.
  const own = hasHold(subject, settlement.actor);
  const { policyVersion = subject.policyVersion } = settlement;
  if (own) subject.permit = undefined;
  if (own && policyVersion === subject.policyVersion && settlement.memory !== undefined)
    subject.memory = settlement.memory;
  if (settlement.observation !== undefined) subject.observation = settlement.observation;
  if (settlement.status !== undefined) subject.status = settlement.status;
  if (settlement.nowOwned !== undefined) subject.nowOwned = settlement.nowOwned;
  if (own && settlement.held !== undefined) replaceHeld(state, subject, settlement.held);
  for (const verdict of settlement.verdicts) {
    const { id, resourceUid, organizationId } = subject;
    tables.verdicts.push({ subjectId: id, resourceUid, organizationId, atMs: now, verdict });
  }
  if (settlement.publishes === true) wakeReferring(state, subject);
  forgetSources(tables, subject, settlement.forgetSources);
  const moved = subject.inputVersion > settlement.inputVersion;
  if (own && !moved) beginAgain(state, subject, settlement.startsAgain);
  // A subject whose inputs moved while it was leaving may be wanted again: its next cycle decides.
  if (settlement.gone && !moved && own) {
    removeSubject(state, subject);
    return { kept: true, dueAgain: false };
  }
  const { dueAtMs } = subject;
  const { dueSeen } = settlement;
  const woken = dueSeen !== undefined && dueAtMs !== undefined && dueAtMs <= now && dueAtMs !== dueSeen.atMs;
  if (!moved && !woken) {
    subject.dueAtMs = settlement.nextInMs === undefined ? undefined : now + settlement.nextInMs;
    subject.priority = "resync";
  }
  return { kept: true, dueAgain: moved || woken };
}

/** Tried once, whatever comes of it. */
function beginAgain(state: State, subject: SubjectRow, again: Settlement["startsAgain"]): void {
  if (again === undefined || subject.undone?.operationId !== again.instead) return;
  subject.undone = undefined;
  const { organizationId, resourceUid } = subject;
  startOperation(state, { ...again.start, organizationId, resourceUid });
}

/** What is computed from resources that refer to this one. */
function wakeReferring({ tables, nowMs }: State, subject: SubjectRow): void {
  const target = tables.resources.get(subject.resourceUid);
  if (target === undefined) return;
  for (const row of tables.resources.related()) {
    if (row.organizationId !== target.organizationId || row.refers?.some((name) => pointsAt(name, target)) !== true)
      continue;
    for (const woken of linkedSubjects(tables, row)) wake(woken, "event", nowMs(), true);
  }
}

function forgetSources(tables: Tables, subject: SubjectRow, uids: readonly string[]): void {
  const target = tables.resources.get(subject.resourceUid);
  if (target === undefined) return;
  for (const uid of uids) {
    const source = tables.resources.get(uid);
    if (source === undefined || source.organizationId !== subject.organizationId) continue;
    source.links = source.links.filter((link) => !pointsAt(link, target));
    tables.resources.set(uid, source);
    const left = source.links.length > 0 || subjectsOf(tables, uid).length > 0;
    if (source.deletion !== undefined && !left) tables.resources.delete(uid);
  }
}

function removeSubject(state: State, subject: SubjectRow): void {
  const { tables } = state;
  dropHeldItems(state, subject);
  for (const [key, claim] of tables.claims) if (claim.subjectId === subject.id) tables.claims.delete(key);
  for (const [id, grant] of tables.grants) if (grant.subjectId === subject.id) tables.grants.delete(id);
  tables.subjects.delete(subject.id);
  const resource = tables.resources.get(subject.resourceUid);
  if (resource?.deletion === undefined || subjectsOf(tables, resource.uid).length > 0) return;
  tables.resources.delete(resource.uid);
  tables.policies.delete(`resource/${resource.uid}`);
}

export function accountHealth(
  { tables }: State,
  { accountId, site, ...times }: Parameters<EngineStore["accountHealth"]>[0],
): Awaited<ReturnType<EngineStore["accountHealth"]>> {
  const ofAccount = [...tables.subjects.values()].filter((row) => row.accountId === accountId);
  const healthOf = (rows: readonly SubjectRow[]) => {
    const since = rows.flatMap(({ status }) => status?.badSinceMs ?? []);
    const bad = badTogether(
      since.map((atMs) => [minuteOf(atMs), 1] as const),
      times,
    );
    return { subjects: rows.length, bad };
  };
  if (site === undefined) return healthOf(ofAccount);
  return { ...healthOf(ofAccount), atSite: healthOf(ofAccount.filter(({ status }) => status?.site === site)) };
}

export function recordIdle({ tables }: State, request: IdleBatch): void {
  for (const { kind, minuteMs, count } of request.cycles) {
    const key = `${kind} ${minuteMs}`;
    tables.idleCycles.set(key, (tables.idleCycles.get(key) ?? 0) + count);
  }
  for (const { accountId, collection, completeAtMs } of request.freshness) {
    const key = `${accountId} ${collection}`;
    tables.freshness.set(key, Math.max(tables.freshness.get(key) ?? 0, completeAtMs));
  }
  for (const { shard, sinceMs } of request.seen) {
    tables.seen.set(shard, Math.max(tables.seen.get(shard) ?? 0, sinceMs));
  }
  for (const { shard, kind, sinceMs } of request.loopsSeen) {
    const key = `${shard} ${kind}`;
    tables.loopsSeen.set(key, Math.max(tables.loopsSeen.get(key) ?? 0, sinceMs));
  }
}
