import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import type { ChangeRecord, Mode } from "../../../src/ports/records.ts";
import type { SimProcess } from "../process.ts";
import type { SubjectRow } from "../store/rows.ts";
import type { Tables } from "../store/state.ts";
import type { Ledger, PermitTruth } from "./ledger.ts";
import { wantedOf } from "./wanted.ts";
import { Violation } from "./witness.ts";

const strictness: Readonly<Record<Mode, number>> = { observe: 0, propose: 1, enforce: 2 };

/** Scopes above a subject, nearest last, ending with the resource itself and its account. */
export function scopesOf(tables: Tables, subject: SubjectRow): readonly string[] {
  const resource = tables.resources.get(subject.resourceUid);
  const path: string[] = [];
  for (let scope = resource?.scope; scope !== undefined && scope !== "platform"; ) {
    path.unshift(scope);
    scope = tables.scopes.get(scope)?.parent;
  }
  return ["platform", ...path, `resource/${subject.resourceUid}`, `account/${subject.accountId ?? ""}`];
}

export function modeOf(tables: Tables, subject: SubjectRow): Mode {
  let mode: Mode = tables.resources.get(subject.resourceUid)?.mode ?? "enforce";
  for (const scope of scopesOf(tables, subject)) {
    const said = tables.policies.get(scope)?.mode;
    if (said !== undefined && strictness[said] < strictness[mode]) mode = said;
  }
  return mode;
}

function isProtected(tables: Tables, subject: SubjectRow): boolean {
  if (tables.resources.get(subject.resourceUid)?.protect === true) return true;
  return scopesOf(tables, subject).some((scope) => tables.policies.get(scope)?.protect === true);
}

function needsFourEyes(tables: Tables, subject: SubjectRow): boolean {
  return scopesOf(tables, subject).some((scope) => tables.policies.get(scope)?.fourEyes === true);
}

export function isRemoval(change: Pick<ChangeRecord, "action">): boolean {
  return change.action === "delete" || change.action === "replace";
}

function isBookkeeping(change: ChangeRecord): boolean {
  return change.action === "adopt" || change.action === "forget";
}

/** Judges a permit at the moment it was granted, from the tables alone. */
export function judgePermit(ledger: Ledger, process: SimProcess, request: PermitRequest): PermitTruth {
  const { tables } = ledger.state;
  const { nowMs } = ledger;
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined) throw new Violation("permit", `granted for the gone subject ${request.subject.id}`);
  const name = `${subject.kind}/${subject.name} at ${subject.accountId}`;
  const lease = leasesOf(tables, request.actor)[subject.shard];
  const current =
    lease?.holder === request.actor.holder && lease.epoch === request.actor.epoch && lease.untilMs > nowMs;
  if (!current) throw new Violation("stale epoch", `${process.name} was permitted on ${name} without the lease`);
  const outside = request.changes.filter((change) => !isBookkeeping(change));
  if (outside.length > 0) judgeStops(ledger, request, outside, name);
  const approved = approvedKeys(ledger, subject, request);
  judgeMode(tables, subject, outside, approved, name);
  const removals = request.changes.filter(isRemoval);
  if (removals.length > 0) {
    if (!request.deletes) throw new Violation("permit", `${name}: a removal was not declared as one`);
    if (request.inputs.check !== "version")
      throw new Violation("permit", `${name}: a removal ignores the input version`);
    if (isProtected(tables, subject)) throw new Violation("protection", `${name}: a removal of what is protected`);
  }
  const cycle = ledger.cycle(process, subject.id);
  const untilMs = nowMs + request.forMs;
  const wanted = wantedOf(tables, subject);
  return { request, process, subject, grantedAtMs: nowMs, untilMs, wanted, cycle, approved, calls: 0 };
}

/** Schedulers and workers lease their shards apart. */
export function leasesOf(tables: Tables, { operationId }: Pick<PermitRequest["actor"], "operationId">) {
  return operationId === undefined ? tables.shards : tables.workerShards;
}

/** Pauses stop everybody; a hold stops everybody but the operation that has it, which writes only while it has it. */
function judgeStops(ledger: Ledger, request: PermitRequest, changes: readonly ChangeRecord[], name: string): void {
  const { tables } = ledger.state;
  const { operationId } = request.actor;
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined) return;
  const scopes = scopesOf(tables, subject);
  for (const pause of tables.pauses.values()) {
    const covers = scopes.includes(pause.scope) && pause.expiresAtMs > ledger.nowMs;
    const tenant = pause.organizationId === undefined || pause.organizationId === subject.organizationId;
    if (covers && tenant && (pause.level !== "deletes" || changes.some(isRemoval))) {
      throw new Violation("pause", `${name}: permitted although ${pause.level} are paused at ${pause.scope}`);
    }
  }
  if (subject.hold?.operationId !== operationId) {
    throw new Violation(
      "hold",
      `${name}: permitted for ${operationId ?? "a loop"} although ${subject.hold?.operationId ?? "nobody"} holds it`,
    );
  }
}

/** What a person has said yes to: items of approved held changes, exactly as he saw them, and confirmed deletions. */
function approvedKeys(
  { state: { tables }, confirmedUids }: Ledger,
  subject: SubjectRow,
  request: PermitRequest,
): ReadonlySet<string> {
  const approved = new Set<string>();
  for (const change of request.changes) {
    if (change.grantId === undefined) continue;
    const grant = tables.grants.get(change.grantId);
    const held = grant && tables.heldChanges.get(grant.heldChangeId);
    const item = held?.items.find((entry) => entry.subjectId === subject.id && entry.digest === grant?.itemDigest);
    const same = item?.key === change.key && item.action === change.action && item.externalId === change.externalId;
    if (held?.state !== "approved" || !same || !request.grantIds.includes(change.grantId)) {
      throw new Violation(
        "grant",
        `${change.action} of ${change.key} rests on a grant that a person gave for something else`,
      );
    }
    approved.add(change.key);
  }
  if (needsFourEyes(tables, subject)) return approved;
  // A tombstone that another subject has done with may be gone by now; the word was given all the same.
  const confirmed = [...confirmedUids].filter((uid) => {
    const resource = tables.resources.get(uid);
    return resource === undefined || resource.deletion?.confirmedCount !== undefined;
  });
  for (const change of request.changes) {
    if (change.action !== "delete") continue;
    const sources = subject.memory.owned.find((item) => item.key === change.key)?.sources ?? [];
    const covers = (uid: string) =>
      uid === subject.resourceUid || (sources.length > 0 && sources.every((source) => source === uid));
    if (confirmed.some(covers)) approved.add(change.key);
  }
  return approved;
}

function judgeMode(
  tables: Tables,
  subject: SubjectRow,
  changes: readonly ChangeRecord[],
  approved: ReadonlySet<string>,
  name: string,
): void {
  const mode = modeOf(tables, subject);
  for (const change of changes) {
    if (change.action === "takeover" && !approved.has(change.key)) {
      throw new Violation("ownership", `${name}: takes over ${change.key} without approval`);
    }
    if (mode === "observe") throw new Violation("mode", `${name}: ${change.action} of ${change.key} in observe mode`);
    if (mode === "propose" && !approved.has(change.key)) {
      throw new Violation("mode", `${name}: ${change.action} of ${change.key} in propose mode without approval`);
    }
  }
}
