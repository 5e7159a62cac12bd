import type { SettleAnswer, Settlement } from "../ports/engine-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { SubjectStatus } from "../ports/records.ts";
import type { Database, Transaction } from "./database.ts";
import { replaceHeld, type Waiting } from "./held-changes.ts";
import { actorRow, lockLeases } from "./permits.ts";
import { priorityNumber } from "./priorities.ts";
import { setHeldDigests } from "./sql/held.ts";
import { lockResources, removeResources, removeSources, removeSubjects, unlinkSources } from "./sql/leaving.ts";
import { lockSubjects } from "./sql/lease.ts";
import { type SettledRow, settle } from "./sql/settle.ts";
import { referringSubjects, wakeReferring } from "./sql/wake.ts";
import { startOperation } from "./start-together.ts";
import { call } from "./statement.ts";

/** Ends the cycles of a batch in one transaction; in one round trip unless something is held or leaves. */
export async function settleBatch(
  database: Database,
  ids: Ids,
  batch: readonly Settlement[],
): Promise<readonly SettleAnswer[]> {
  const organizations = [...new Set(batch.map(({ subject }) => subject.organizationId))];
  const opening = [lockLeases(batch)] as const;
  const closing = [
    call(
      lockSubjects,
      batch.map(({ subject }) => subject.id),
    ),
    call(settle, JSON.stringify(batch.map(settleRow))),
  ] as const;
  if (!batch.some(isMore)) {
    const [, , rows] = await database.transact({ organizations }, [...opening, ...closing]);
    return answersOf(batch, rows);
  }
  return database.transaction({ organizations }, async (tx) => {
    const { organizationIds, uids } = touchedResources(batch);
    const referring = await referringTo(tx, batch);
    const [, , , rows] = await Promise.all([
      tx.run(opening[0].statement, ...opening[0].values),
      tx.run(lockResources, organizationIds, uids),
      // All at once and in one order, those that are only woken included: two batches that wake each other would wait for ever.
      tx.run(lockSubjects, [...batch.map(({ subject }) => subject.id), ...referring]),
      tx.run(closing[1].statement, ...closing[1].values),
    ]);
    if (referring.length > 0) await tx.run(wakeReferring, priorityNumber("event"), referring);
    await settleMore(tx, ids, batch, rows);
    return answersOf(batch, rows);
  });
}

/** Whether it takes more than the subject's own rows. */
function isMore(settlement: Settlement): boolean {
  return (
    settlement.held !== undefined ||
    settlement.gone ||
    settlement.forgetSources.length > 0 ||
    settlement.publishes === true ||
    settlement.startsAgain !== undefined
  );
}

/** Whoever lost its lease meanwhile wakes them all the same: that costs a look. */
async function referringTo(tx: Transaction, batch: readonly Settlement[]): Promise<readonly number[]> {
  const shown = batch.filter(({ publishes }) => publishes === true).map(({ subject }) => subject);
  if (shown.length === 0) return [];
  const rows = await tx.run(
    referringSubjects,
    shown.map(({ organizationId }) => organizationId),
    shown.map(({ resourceUid }) => resourceUid),
  );
  return rows.map(({ id }) => id);
}

function answersOf(batch: readonly Settlement[], rows: readonly SettledRow[]): readonly SettleAnswer[] {
  const answers = batch.map((): SettleAnswer => ({ kept: false, dueAgain: false }));
  for (const { index, moved, again, own } of rows) {
    const removed = batch[index]?.gone === true && !moved && own;
    answers[index] = { kept: true, dueAgain: again && !removed };
  }
  return answers;
}

async function settleMore(
  tx: Transaction,
  ids: Ids,
  batch: readonly Settlement[],
  rows: readonly SettledRow[],
): Promise<void> {
  const kept = rows.toSorted((left, right) => left.index - right.index);
  for (const { index, starts } of kept) if (starts) await beginAgain(tx, batch[index]);
  const settled = kept.flatMap(({ index, moved, own }) => {
    const settlement = batch[index];
    return settlement === undefined ? [] : [{ settlement, moved, own }];
  });
  // A subject whose inputs moved while it was leaving may be wanted again: its next cycle decides.
  const leaving = settled.filter((one) => one.settlement.gone && !one.moved && one.own).map((one) => one.settlement);
  await hold(
    tx,
    ids,
    settled.filter(({ own }) => own).map((one) => one.settlement),
    new Set(leaving),
  );
  await forget(
    tx,
    settled.map((one) => one.settlement),
  );
  if (leaving.length === 0) return;
  await Promise.all([
    tx.run(
      removeSubjects,
      leaving.map(({ subject }) => subject.id),
    ),
    tx.run(
      removeResources,
      leaving.map(({ subject }) => subject.organizationId),
      leaving.map(({ subject }) => subject.resourceUid),
    ),
  ]);
}

/** Tried once, whatever comes of it: what cannot be started any more is for its loop to look at. */
async function beginAgain(tx: Transaction, settlement: Settlement | undefined): Promise<void> {
  if (settlement?.startsAgain === undefined) return;
  const { organizationId, resourceUid } = settlement.subject;
  await startOperation(tx, { ...settlement.startsAgain.start, organizationId, resourceUid });
}

async function hold(tx: Transaction, ids: Ids, settled: readonly Settlement[], leaving: ReadonlySet<Settlement>) {
  const waiting = settled.flatMap((settlement): readonly Waiting[] => {
    // A subject that is gone waits for nothing.
    if (leaving.has(settlement)) return [{ subject: settlement.subject, groups: [] }];
    return settlement.held === undefined ? [] : [{ subject: settlement.subject, groups: settlement.held.groups }];
  });
  if (waiting.length === 0) return;
  await replaceHeld(tx, ids, waiting);
  const held = settled.flatMap(({ subject, held }) => (held === undefined ? [] : [{ id: subject.id, held }]));
  if (held.length === 0) return;
  await tx.run(
    setHeldDigests,
    held.map(({ id }) => id),
    // Nothing waiting reads as never having waited, so that an idle cycle stays idle.
    held.map((one) => (one.held.groups.length === 0 ? null : one.held.digest)),
  );
}

async function forget(tx: Transaction, settled: readonly Settlement[]): Promise<void> {
  const forgotten = settled.flatMap(({ subject, forgetSources }) => forgetSources.map((uid) => ({ subject, uid })));
  if (forgotten.length === 0) return;
  const uids = forgotten.map(({ uid }) => uid);
  await Promise.all([
    tx.run(
      unlinkSources,
      forgotten.map(({ subject }) => subject.id),
      uids,
    ),
    tx.run(
      removeSources,
      forgotten.map(({ subject }) => subject.organizationId),
      uids,
    ),
  ]);
}

/** Resources that may be removed with their last subject or link. */
function touchedResources(batch: readonly Settlement[]) {
  const touched = batch.flatMap(({ subject, gone, forgetSources }) =>
    [...forgetSources, ...(gone ? [subject.resourceUid] : [])].map((uid) => ({
      organizationId: subject.organizationId,
      uid,
    })),
  );
  return { organizationIds: touched.map((one) => one.organizationId), uids: touched.map((one) => one.uid) };
}

function settleRow({ actor, subject, status, observation, ...rest }: Settlement, index: number) {
  return {
    index,
    subject_id: subject.id,
    ...actorRow(actor),
    input_version: rest.inputVersion,
    policy_version: rest.policyVersion,
    due_known: rest.dueSeen !== undefined,
    due_seen_ms: rest.dueSeen?.atMs,
    memory: rest.memory,
    observation,
    observation_hash: observation?.hash,
    status,
    plan: rest.plan === "none" ? undefined : rest.plan,
    plan_gone: rest.plan === "none",
    events: rest.events ?? [],
    bad_since_ms: status?.badSinceMs,
    failing: status?.failing ?? false,
    looked_at_ms: status?.lookedAtMs,
    ...summaryOf(status),
    verdicts: rest.verdicts,
    next_in_ms: rest.nextInMs === undefined ? undefined : Math.round(rest.nextInMs),
    now_owned: rest.nowOwned,
    site: status?.site,
    instead: rest.startsAgain?.instead,
  };
}

/** What lists are filtered by. */
function summaryOf(status: SubjectStatus | undefined) {
  const condition = (type: string) => status?.conditions.find((entry) => entry.type === type);
  const ready = condition("Ready");
  return {
    ready: ready?.status ?? "Unknown",
    drifted: condition("Synced")?.status === "False",
    is_held: ready?.reason === "WaitingForApproval",
  };
}
