import type { Ids } from "../ports/ids.ts";
import type { ApproveAnswer, IntentStore } from "../ports/intent-store.ts";
import type { Transaction } from "./database.ts";
import { nobodyWoken, type Woken, wokenOf } from "./due-edges.ts";
import { logCall } from "./log-entries.ts";
import { priorityNumber } from "./priorities.ts";
import {
  addGrants,
  clearHeldDigests,
  decideHeld,
  type HeldForDecisionRow,
  heldForDecision,
  lockHeldSubjects,
  reclaimAccounts,
} from "./sql/approvals.ts";
import { lockHeld } from "./sql/held.ts";
import { lockOperationsOf, wakeHeldOperations } from "./sql/operations.ts";
import { wakeApproved } from "./sql/wake.ts";

type ApproveRequest = Parameters<IntentStore["approve"]>[0];
type RejectRequest = Parameters<IntentStore["reject"]>[0];

export interface Decided<Answer> {
  readonly answer: Answer;
  readonly woken: Woken;
}

/** A person's yes to exactly what was shown to him. */
export async function approve(tx: Transaction, ids: Ids, request: ApproveRequest): Promise<Decided<ApproveAnswer>> {
  const { organizationId, heldChangeId, approver } = request;
  if (approver.type !== "person") return { answer: { result: "refused-principal" }, woken: nobodyWoken };
  const [seen] = await tx.run(heldForDecision, organizationId, heldChangeId);
  if (seen === undefined) return { answer: { result: "not-found" }, woken: nobodyWoken };
  // Subjects before held changes, like everybody: hence the first look without a lock, and the second one behind it.
  const [, , , [held]] = await Promise.all([
    tx.run(lockOperationsOf, organizationId, subjectIds(seen)),
    tx.run(lockHeldSubjects, organizationId, subjectIds(seen)),
    tx.run(lockHeld, [organizationId]),
    tx.run(heldForDecision, organizationId, heldChangeId),
  ]);
  const refusal = refusalOf(held, request);
  if (held === undefined || refusal !== undefined)
    return { answer: refusal ?? { result: "not-found" }, woken: nobodyWoken };

  const { comment } = request;
  const decided = tx.run(decideHeld, organizationId, heldChangeId, "approved", approver.name, comment ?? null);
  const allowed = held.guard === "account-identity" ? reclaim(tx, held, request) : grant(tx, ids, held, request);
  const cleared = tx.run(clearHeldDigests, organizationId, subjectIds(held));
  const woken = tx.run(wakeApproved, priorityNumber("person"), subjectIds(held));
  const operations = tx.run(wakeHeldOperations, organizationId, subjectIds(held));
  const entry = logCall({
    organizationId,
    type: "held-change.approved",
    uid: heldChangeId,
    author: approver,
    data: { digest: held.digest, items: held.items?.length ?? 0, guard: held.guard, comment },
  });
  const [grants, rows] = await Promise.all([
    allowed,
    woken,
    decided,
    cleared,
    operations,
    tx.run(entry.statement, ...entry.values),
  ]);
  return { answer: { result: "approved", grants }, woken: wokenOf(rows) };
}

function refusalOf(held: HeldForDecisionRow | undefined, request: ApproveRequest): ApproveAnswer | undefined {
  if (held === undefined) return { result: "not-found" };
  // A person may change their mind: what was rejected and still waits can be approved.
  if (held.state !== "open" && held.state !== "rejected") return { result: "closed" };
  if (held.digest !== request.digest) return { result: "moved", digest: held.digest };
  if (held.four_eyes && held.authors.includes(request.approver.name)) return { result: "four-eyes" };
  return undefined;
}

function subjectIds({ items }: HeldForDecisionRow): readonly number[] {
  return [...new Set((items ?? []).map(({ subjectId }) => subjectId))];
}

async function grant(
  tx: Transaction,
  ids: Ids,
  { items }: HeldForDecisionRow,
  request: ApproveRequest,
): Promise<number> {
  const granted = items ?? [];
  await tx.run(
    addGrants,
    request.organizationId,
    request.heldChangeId,
    request.approver.name,
    Math.round(request.grantForMs),
    granted.map(() => ids.next()),
    granted.map(({ subjectId }) => subjectId),
    granted.map(({ digest }) => digest),
  );
  return granted.length;
}

/** The items name the accounts. */
async function reclaim(
  tx: Transaction,
  { items }: HeldForDecisionRow,
  { organizationId }: ApproveRequest,
): Promise<number> {
  const accountIds = (items ?? []).map(({ externalId }) => externalId).filter((id) => id !== null);
  await tx.run(reclaimAccounts, organizationId, accountIds);
  return 0;
}

export async function reject(
  tx: Transaction,
  { organizationId, heldChangeId, author, comment }: RejectRequest,
): Promise<boolean> {
  const [, [held]] = await Promise.all([
    tx.run(lockHeld, [organizationId]),
    tx.run(heldForDecision, organizationId, heldChangeId),
  ]);
  if (held?.state !== "open") return false;
  const entry = logCall({
    organizationId,
    type: "held-change.rejected",
    uid: heldChangeId,
    author,
    data: { digest: held.digest, guard: held.guard, comment },
  });
  await Promise.all([
    tx.run(decideHeld, organizationId, heldChangeId, "rejected", author.name, comment ?? null),
    tx.run(entry.statement, ...entry.values),
  ]);
  return true;
}
