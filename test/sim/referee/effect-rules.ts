import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { isOfOperation, type WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";
import type { Ledger, PermitTruth } from "./ledger.ts";
import { isRemoval, leasesOf, scopesOf } from "./permit-rules.ts";
import { type StartedWrite, Violation } from "./witness.ts";

/** Design: a pause is obeyed within a second. */
const pauseObeyedMs = 1_000;
/** How long an identity once read may be believed, plus the call itself. */
const identityGraceMs = 6_000;

/** Judges a write at the moment the process starts it. */
export function judgeStart(ledger: Ledger, process: SimProcess, call: WriteCall): StartedWrite {
  const { tables } = ledger.state;
  const subject = ledger.subject(call.uid, call.accountId);
  const name = `${process.name} on ${call.uid} at ${call.accountId}`;
  const permitId = subject?.permit?.id;
  const permit = permitId === undefined ? undefined : ledger.permits.get(permitId);
  if (subject === undefined || permit === undefined) throw new Violation("permit", `${name}: a write without a permit`);
  if (permit.process !== process) throw new Violation("permit", `${name}: a write under another process's permit`);
  if (permit.untilMs <= ledger.nowMs) throw new Violation("permit", `${name}: a write after the permit ended`);
  permit.calls += 1;
  const replaces = permit.request.changes.filter((change) => change.action === "replace").length;
  if (permit.calls > 1 + replaces) throw new Violation("permit", `${name}: more than one call under one permit`);
  if (tables.accounts.get(call.accountId)?.record.organizationId !== subject.organizationId) {
    throw new Violation("tenant", `${name}: an account of another tenant`);
  }
  judgeExplained(permit, call, name);
  // The second half of a replacement follows the first whatever happens.
  if (permit.calls === 1) judgePauses(ledger, permit, name);
  for (const change of call.changes) {
    if (change.effect === "delete" && change.id !== undefined) judgeLock(ledger, process, call.accountId, change.id);
  }
  return { call, process, startedAtMs: ledger.nowMs, permitId };
}

/** A record of each change stands in the store before the call. */
function judgeExplained(permit: PermitTruth, call: WriteCall, name: string): void {
  for (const { effect, key } of call.changes) {
    const explained = permit.request.changes.some(
      (change) =>
        change.key === key && (change.action === effect || (change.action === "replace" && effect !== "update")),
    );
    const replaced = permit.request.changes.some((change) => change.key === key && change.action === "replace");
    if (!explained && !replaced && key !== "")
      throw new Violation("explained", `${name}: ${effect} of ${key} has no record`);
  }
}

function judgePauses(ledger: Ledger, permit: PermitTruth, name: string): void {
  const { tables } = ledger.state;
  const scopes = scopesOf(tables, permit.subject);
  for (const pause of tables.pauses.values()) {
    const tenant = pause.organizationId === undefined || pause.organizationId === permit.subject.organizationId;
    if (!tenant || !scopes.includes(pause.scope) || pause.expiresAtMs <= ledger.nowMs) continue;
    if (pause.level === "deletes" && !permit.request.changes.some(isRemoval)) continue;
    const sinceMs = ledger.pausedAtMs.get(pause.id) ?? ledger.nowMs;
    if (ledger.nowMs - sinceMs > pauseObeyedMs) {
      throw new Violation(
        "pause",
        `${name}: starts a write ${ledger.nowMs - sinceMs} ms after the pause of ${pause.scope}`,
      );
    }
  }
}

/** A lock that stood when the thing was last read must have stopped the delete. */
function judgeLock(ledger: Ledger, process: SimProcess, accountId: string, id: string): void {
  const thing = ledger.outside.answering(accountId).things.get(id);
  const readAtMs = ledger.reads.get(`${process.number} ${id}`);
  if (thing?.lock !== undefined && readAtMs !== undefined && thing.lockedAtMs < readAtMs) {
    throw new Violation("protection", `${process.name} deletes ${id}, which it saw locked`);
  }
}

/** Judges an effect at the moment it happens outside. Answers with the permit it happened under. */
export function judgeEffect(
  ledger: Ledger,
  started: StartedWrite,
  outside: OutsideAccount,
  what: { readonly effect: "create" | "update" | "delete"; readonly thing: Thing },
): PermitTruth {
  const permit = ledger.permits.get(started.permitId ?? "");
  if (permit === undefined) throw new Violation("permit", "an effect without a permit");
  const { subject } = permit;
  const name = `${started.process.name}: ${what.effect} of ${what.thing.key} (${what.thing.id}) for ${subject.kind}/${subject.name}`;
  const epoch = leasesOf(ledger.state.tables, permit.request.actor)[subject.shard]?.epoch;
  const sameStore = !ledger.restored;
  if (sameStore && epoch !== permit.request.actor.epoch)
    throw new Violation("stale epoch", `${name}: epoch ${permit.request.actor.epoch}, now ${epoch}`);
  if (ledger.nowMs > permit.untilMs) throw new Violation("permit", `${name}: happens after its permit ended`);
  if (outside.organizationId !== subject.organizationId)
    throw new Violation("tenant", `${name}: another tenant's account`);
  if (outside !== ledger.outside.connection(started.call.accountId).own) {
    const sinceMs = ledger.swappedAtMs.get(started.call.accountId) ?? ledger.nowMs;
    const graceMs = identityGraceMs + 2 * ledger.callTimeoutMs;
    if (ledger.nowMs - sinceMs > graceMs) throw new Violation("account identity", `${name}: in a swapped account`);
  }
  if (what.effect === "create") judgeCreate(ledger, permit, outside, what.thing, name);
  if (
    what.effect !== "create" &&
    what.thing.madeFor !== subject.resourceUid &&
    !isClaimed(ledger, permit, what.thing)
  ) {
    throw new Violation("ownership", `${name}: it is not ours`);
  }
  if (what.effect !== "delete" && !isOfOperation(what.thing)) judgeContent(ledger, permit, what.thing, name);
  return permit;
}

/** A record has no marker: under the id that a subject has claimed it is that subject's, whoever made it again. */
function isClaimed({ state }: Ledger, { subject }: PermitTruth, thing: Thing): boolean {
  if (subject.kind !== "SimZone") return false;
  return [...state.tables.claims.values()].some(
    ({ accountKey, externalId, subjectId }) =>
      subjectId === subject.id && externalId === thing.id && accountKey === subject.accountId,
  );
}

function judgeCreate(ledger: Ledger, permit: PermitTruth, outside: OutsideAccount, thing: Thing, name: string): void {
  for (const other of outside.things.values()) {
    if (other.key !== thing.key || other.group !== thing.group || other.madeFor !== permit.subject.resourceUid)
      continue;
    // What was made after the backup and lost its marker to a stranger since cannot be recognised by anybody.
    const recognisable = !ledger.restored || typeof other.marker === "object";
    if (recognisable) throw new Violation("one thing per intent", `${name}: ${other.id} is already there`);
  }
}

/** What is written was wanted at some time since the cycle began. */
function judgeContent(ledger: Ledger, permit: PermitTruth, thing: Thing, name: string): void {
  const sinceMs = permit.cycle?.loadedAtMs ?? permit.grantedAtMs;
  const key = permit.subject.kind === "SimZone" ? thing.id : thing.key;
  const versions = ledger.wanted.since(permit.subject.id, sinceMs);
  const before = ledger.outside.answering(permit.subject.accountId ?? "").things.get(thing.id);
  const change = permit.request.changes.find((record) => record.key === key);
  const last = ledger.wanted.lastWanted(permit.subject.id, key)?.sources ?? [];
  // The record says whose last good value it is: a source that no longer parses may have moved to another key since.
  const declaredBy = [...last, ...(change?.declaredBy ?? []).map(({ uid }) => uid)];
  const wanted = versions.some((set) => {
    const content = set.items.get(key)?.content;
    const stands = set.kept.has(key) || declaredBy.some((uid) => set.broken.has(uid));
    // A field that somebody else insists on is left as it is while the others are written.
    const value = content?.value === thing.value || before?.value === thing.value;
    const size = content?.size === thing.size || before?.size === thing.size;
    return !set.known || stands || (value && size);
  });
  // A marker is put back on the thing as it was seen, whatever somebody made of it since.
  const fields = change?.action === "update" ? change.differences.map(({ field }) => field) : [];
  const marksOnly = fields.length > 0 && fields.every((field) => field === "/marker");
  if (marksOnly) return;
  if (!wanted) throw new Violation("declared", `${name}: nobody declared the value ${thing.value}`);
}
