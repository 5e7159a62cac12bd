import type {
  Change,
  ChangeDone,
  ChangeRefusal,
  DeclareChange,
  DeleteChange,
  FourEyesRefusal,
  PlannedSubject,
  ResourceReference,
} from "../ports/declaring-store.ts";
import type { OperationStart } from "../ports/operation-store.ts";
import type { SubjectStatus } from "../ports/records.ts";
import { loosenedBy } from "../kernel/policy.ts";
import { cycleInputs } from "./cycle-inputs.ts";
import type { Transaction } from "./database.ts";
import { declare } from "./declare.ts";
import { type Woken, nobodyWoken } from "./due-edges.ts";
import { StoreError } from "./errors.ts";
import { requestDeletion } from "./intent-store.ts";
import { append } from "./log-entries.ts";
import { startOperation } from "./start-together.ts";
import {
  addReferences,
  affectedSubjects,
  checkQuota,
  dropReferences,
  lastSeen,
  lockChangedNames,
  type ReferredRow,
  referredResources,
  resourceUsers,
  standingResource,
} from "./sql/declaring.ts";
import { resourceFourEyes } from "./sql/four-eyes.ts";
import { load } from "./sql/load.ts";
import { insertPooledAccount } from "./sql/pool.ts";
import type { DeclaredRow } from "./sql/resources.ts";

const shownUsers = 20;

/** Ends a transaction without an error of anybody's: nothing is written, and this is why. */
export class RolledBack<Reason> extends StoreError {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super("INTERNAL", "The transaction was rolled back on purpose.");
    this.reason = reason;
  }
}

export interface Refused {
  readonly at: number;
  readonly refusal: ChangeRefusal;
}

export interface Made {
  readonly done: ChangeDone;
  readonly woken: Woken;
  /** Set where another person must allow it. */
  readonly needsOther?: FourEyesRefusal | undefined;
}

/**
 * Makes the changes one after the other, each checked by what the ones before it left. The first refusal ends them all. What
 * loosens a rule under four eyes is refused, unless two people agree on it already, or it is only looked at.
 */
export async function makeChanges(
  tx: Transaction,
  organizationId: string,
  changes: readonly Change[],
  eyes: "one person's" | "two people's" | "looking",
): Promise<readonly Made[]> {
  const made: Made[] = [];
  // One change locks its names as it goes. Several lock all of theirs first, in order, so that two sets never wait crosswise.
  if (changes.length > 1) await lockNames(tx, organizationId, changes);
  for (const [at, change] of changes.entries()) {
    const answer = await makeChange(tx, organizationId, change);
    if ("refusal" in answer) throw new RolledBack<Refused>({ at, refusal: answer.refusal });
    if (answer.needsOther !== undefined && eyes === "one person's")
      throw new RolledBack<Refused>({ at, refusal: answer.needsOther });
    made.push(answer);
  }
  return made;
}

/** What the cycles of all affected subjects would decide from, as the transaction stands. */
export async function plannedSubjects(
  tx: Transaction,
  organizationId: string,
  made: readonly Made[],
): Promise<readonly PlannedSubject[]> {
  return await subjectsOf(tx, organizationId, {
    uids: made.map(({ done }) => ("resource" in done ? done.resource.uid : done.uid)),
    ids: made.flatMap(({ woken }) => woken.due.map((edge) => edge.subjectId)),
  });
}

/** The subjects of resources and of what they are computed into, and further ones by id. */
export async function subjectsOf(
  tx: Transaction,
  organizationId: string,
  known: { readonly uids: readonly string[]; readonly ids: readonly number[] },
): Promise<readonly PlannedSubject[]> {
  const rows = await tx.run(affectedSubjects, organizationId, [...known.uids]);
  const ids = new Set([...rows.map(({ id }) => id), ...known.ids]);
  if (ids.size === 0) return [];
  const [[batch], seen] = await Promise.all([
    tx.run(load, [...ids], false),
    tx.run(lastSeen, organizationId, [...ids]),
  ]);
  if (batch === undefined) return [];
  const last = new Map(seen.map((row) => [row.subject_id, row]));
  return [...cycleInputs(batch).values()].map((input) => {
    const row = last.get(input.subject.id);
    const confirmedAtMs = confirmedAt(input.status, row?.seen_since_ms ?? undefined);
    return { input, observation: row?.observation ?? undefined, confirmedAtMs };
  });
}

/** A sweep of the shard says nothing about subjects that fail, nor about those that were never looked at. */
function confirmedAt(status: SubjectStatus | undefined, seenSinceMs: number | undefined): number | undefined {
  const looked = status?.lookedAtMs;
  if (looked === undefined || status?.failing === true || seenSinceMs === undefined) return looked;
  return Math.max(looked, seenSinceMs);
}

type Answer = Made | { readonly refusal: ChangeRefusal };

function makeChange(tx: Transaction, organizationId: string, change: Change): Promise<Answer> {
  return change.action === "declare" ? makeDeclaration(tx, change) : makeDeletion(tx, organizationId, change);
}

/**
 * The checks are asked for before the declaration's own look and judged after it, so that they cost no way to the server and
 * back of their own. A refusal rolls back what the declaration wrote meanwhile.
 */
async function makeDeclaration(tx: Transaction, change: DeclareChange): Promise<Answer> {
  const { declare: request, references, starts } = change;
  const { organizationId, scope, kind, name } = request;
  const others = references.filter(({ part }) => !part);
  if (change.pooled !== undefined) await addPooled(tx, change);
  // Parts are locked by the declaration itself, because they are links.
  const locked = others.length === 0 ? undefined : lockNames(tx, organizationId, [{ ...request, others }]);
  const quota = tx.run(checkQuota, organizationId, scope, kind, name);
  const declaring = declare(tx, request);
  // Behind the declaration's locks: whoever deletes a target has committed by now, or waits for us.
  const referred = references.length === 0 ? [] : tx.run(referredResources, organizationId, ...namesOf(references));
  const [declared, found, counted] = await settled([declaring, referred, quota, locked ?? Promise.resolve()]);
  const { answer, woken, before } = declared;
  if (answer.result === "conflict") return { refusal: await conflictOf(tx, organizationId, request, answer.revision) };
  const invalid = invalidOf(references, found);
  if (invalid.length > 0) return { refusal: { result: "references", invalid } };
  const [limit] = counted;
  if (answer.result === "created" && typeof limit?.most === "number" && (limit.used ?? 0) >= limit.most)
    return { refusal: { result: "quota", kind, most: limit.most, used: limit.used ?? 0 } };
  if (answer.result !== "unchanged") await keepReferences(tx, organizationId, answer, others);
  const needsOther = before === undefined ? undefined : await otherEyes(tx, before, request);
  const operationId =
    answer.result === "unchanged" ? undefined : await started(tx, request, answer.resource.uid, starts);
  return { done: operationId === undefined ? answer : { ...answer, operationId }, woken, needsOther };
}

/** The account waits for its claim from its first moment: with the declaration that needs it, or not at all. */
async function addPooled(
  tx: Transaction,
  { declare: { organizationId, author }, pooled }: DeclareChange,
): Promise<void> {
  if (pooled === undefined) return;
  const { id, name, provider } = pooled;
  const [added] = await tx.run(insertPooledAccount, organizationId, id, name, provider);
  if (added === undefined) return;
  const data = { name, provider, callsPerSecond: added.calls_per_second, fromPool: true };
  await append(tx, { organizationId, type: "account.created", uid: id, author, data, after: { name, provider } });
}

/** The operation that goes with a change, or the one that runs already. What cannot be started leaves the change as it is. */
async function started(
  tx: Transaction,
  { organizationId }: { readonly organizationId: string },
  resourceUid: string,
  starts: OperationStart | undefined,
): Promise<string | undefined> {
  if (starts === undefined) return undefined;
  const answer = await startOperation(tx, { ...starts, organizationId, resourceUid });
  return "operation" in answer ? answer.operation.id : undefined;
}

/** Only what loosens something asks whether policy wants four eyes: nothing else pays for the question. */
async function otherEyes(
  tx: Transaction,
  before: DeclaredRow,
  request: DeclareChange["declare"],
): Promise<FourEyesRefusal | undefined> {
  const { uid, revision } = before;
  const loosened = loosenedBy({ mode: before.mode ?? undefined, protect: before.protect ?? undefined }, request);
  if (loosened.length === 0) return undefined;
  const [found] = await tx.run(resourceFourEyes, request.organizationId, uid);
  return found?.four_eyes === false ? undefined : { result: "four-eyes", uid, revision, loosened };
}

async function keepReferences(
  tx: Transaction,
  organizationId: string,
  { result, resource: { uid } }: { readonly result: string; readonly resource: { readonly uid: string } },
  references: readonly ResourceReference[],
): Promise<void> {
  const names = namesOf(references);
  await Promise.all([
    references.length === 0 ? [] : tx.run(addReferences, organizationId, uid, ...names),
    result === "created" ? [] : tx.run(dropReferences, organizationId, uid, ...names),
  ]);
}

async function conflictOf(
  tx: Transaction,
  organizationId: string,
  { scope, kind, name, ifRevision }: DeclareChange["declare"],
  revision: number,
): Promise<ChangeRefusal> {
  const [standing] = await tx.run(standingResource, organizationId, scope, kind, name);
  const expected = ifRevision === undefined || ifRevision === revision;
  if (expected && standing !== undefined && standing.deletion !== null) return { result: "being-deleted" };
  return { result: "conflict", revision, uid: standing?.uid };
}

async function makeDeletion(tx: Transaction, organizationId: string, change: DeleteChange): Promise<Answer> {
  const { scope, kind, name, ifRevision, author, orphan, confirmedCount } = change;
  const target = [organizationId, scope, kind, name] as const;
  const [, [standing], users] = await Promise.all([
    tx.run(lockChangedNames, organizationId, [scope], [kind], [name], ["true"]),
    tx.run(standingResource, ...target),
    tx.run(resourceUsers, ...target, shownUsers + 1),
  ]);
  if (standing === undefined) return { refusal: { result: "not-found" } };
  const { uid } = standing;
  if (ifRevision !== undefined && ifRevision !== standing.revision)
    return { refusal: { result: "conflict", revision: standing.revision, uid } };
  if (change.ifGeneration !== undefined && change.ifGeneration !== standing.generation)
    return { refusal: { result: "conflict", revision: standing.revision, uid } };
  // Whoever leaves what is outside alone, or confirms how much goes, has said what becomes of the parts.
  const partsMayStay = orphan || confirmedCount !== undefined;
  const inTheWay = users.filter(({ part }) => !(part && partsMayStay));
  if (inTheWay.length > 0) {
    const shown = inTheWay.slice(0, shownUsers);
    return { refusal: { result: "in-use", users: shown, more: inTheWay.length > shown.length } };
  }
  const { woken } = await requestDeletion(tx, { organizationId, uid, ifRevision, author, orphan, confirmedCount });
  const operationId = orphan ? undefined : await started(tx, { organizationId }, uid, change.starts);
  const done = { result: "deleting" as const, uid, revision: standing.revision + 1 };
  return { done: operationId === undefined ? done : { ...done, operationId }, woken: woken ?? nobodyWoken };
}

function invalidOf(references: readonly ResourceReference[], found: readonly ReferredRow[]) {
  const deleting = new Map(found.map((row) => [row.place - 1, row.deleting]));
  return references.flatMap((reference, place) => {
    const standing = deleting.get(place);
    if (standing === false) return [];
    return [{ ...reference, because: standing === undefined ? ("missing" as const) : ("deleting" as const) }];
  });
}

type Lockable = Change | (DeclareChange["declare"] & { readonly others: readonly ResourceReference[] });

async function lockNames(tx: Transaction, organizationId: string, changes: readonly Lockable[]): Promise<void> {
  const names = changes.flatMap((change) => {
    const own = "action" in change && change.action === "declare" ? change.declare : change;
    const others = "others" in change ? change.others : "references" in change ? change.references : [];
    return [{ ...own, alone: true }, ...others.map((one) => ({ ...one, alone: false }))];
  }) as readonly { scope: string; kind: string; name: string; alone: boolean }[];
  await tx.run(
    lockChangedNames,
    organizationId,
    ...namesOf(names),
    names.map(({ alone }) => String(alone)),
  );
}

function namesOf(names: readonly { readonly scope: string; readonly kind: string; readonly name: string }[]) {
  return [names.map(({ scope }) => scope), names.map(({ kind }) => kind), names.map(({ name }) => name)] as const;
}

/** Waits for all, so that nothing is still under way when the transaction ends; then the first failure counts. */
async function settled<const Work extends readonly unknown[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  const answers = await Promise.allSettled(work);
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as Error] : []));
  // A statement behind the one that failed only says that the transaction was aborted.
  const cause = failures.find((reason) => !isAborted(reason)) ?? failures[0];
  if (cause !== undefined) throw cause;
  return answers.map((answer) => (answer.status === "fulfilled" ? answer.value : undefined)) as {
    -readonly [Index in keyof Work]: Awaited<Work[Index]>;
  };
}

function isAborted(reason: Error): boolean {
  return "code" in reason && reason.code === "25P02";
}
