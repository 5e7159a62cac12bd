import { heldChangeDigest } from "../kernel/held-change.ts";
import type { Ids } from "../ports/ids.ts";
import type { HeldGroup, SubjectRef } from "../ports/records.ts";
import type { Transaction } from "./database.ts";
import {
  addHeldItems,
  type CurrentHeldRow,
  currentHeld,
  dropHeldItems,
  type HeldRewrite,
  heldContent,
  lockHeld,
  openHeld,
  rewriteHeld,
} from "./sql/held.ts";
import { compareText } from "./text.ts";

/** Everything one subject has waiting from now on; no groups when it leaves. */
export interface Waiting {
  readonly subject: SubjectRef;
  readonly groups: readonly HeldGroup[];
}

interface Affected {
  readonly row: CurrentHeldRow;
  readonly isNew: boolean;
  newest: HeldGroup | undefined;
}

/**
 * Replaces what these subjects have waiting, in one go for the whole batch: a shared limit that refuses a thousand
 * subjects is digested once per batch and not once per subject. The subjects' rows are locked by the caller.
 */
export async function replaceHeld(tx: Transaction, ids: Ids, waiting: readonly Waiting[]): Promise<void> {
  const groups = waiting.flatMap(({ subject, groups }) =>
    groups.filter((group) => group.items.length > 0).map((group) => ({ subject, group })),
  );
  const organizations = waiting.map(({ subject }) => subject.organizationId);
  const locked = tx.run(lockHeld, organizations);
  const found = tx.run(
    currentHeld,
    waiting.map(({ subject }) => subject.id),
    groups.map(({ subject }) => subject.organizationId),
    groups.map(({ group }) => group.level),
    groups.map(({ subject, group }) => scopeKeyOf(subject, group.level)),
    groups.map(({ group }) => group.guard),
  );
  const [, rows] = await Promise.all([locked, found]);
  const affected = new Map<string, Affected>();
  for (const row of rows) affected.set(keyOf(row), { row, isNew: false, newest: undefined });
  const items: HeldItemRow[] = [];
  for (const { subject, group } of groups) {
    const held = findOrOpen(affected, ids, subject, group);
    held.newest = group;
    items.push(...itemsOf(subject, group, held.row.id, items.length));
  }
  if (affected.size === 0) return;
  await exchangeItems(
    tx,
    waiting.map(({ subject }) => subject.id),
    [...affected.values()],
    items,
  );
}

async function exchangeItems(
  tx: Transaction,
  subjectIds: readonly number[],
  affected: readonly Affected[],
  items: readonly HeldItemRow[],
): Promise<void> {
  const organizationIds = affected.map(({ row }) => row.organization_id);
  const heldIds = affected.map(({ row }) => row.id);
  const opened = affected.filter(({ isNew }) => isNew).map(({ row, newest }) => ({ ...row, ...newest }));
  const sent = [
    tx.run(dropHeldItems, organizationIds, heldIds, subjectIds),
    tx.run(openHeld, JSON.stringify(opened)),
    tx.run(addHeldItems, JSON.stringify(items)),
  ];
  const [contents] = await Promise.all([tx.run(heldContent, organizationIds, heldIds), ...sent]);
  const rewrites = affected.map(({ row, newest, isNew }): HeldRewrite => {
    const content = contents.find(
      ({ organization_id, id }) => organization_id === row.organization_id && id === row.id,
    );
    const digest = heldChangeDigest(content?.items ?? []);
    return {
      organization_id: row.organization_id,
      id: row.id,
      digest,
      authors: (content?.authors ?? []).toSorted(compareText),
      empty: (content?.items ?? []).length === 0,
      moved: digest !== row.digest,
      opened: isNew,
      items: (content?.items ?? []).length,
      verdict: newest?.verdict,
    };
  });
  await tx.run(rewriteHeld, JSON.stringify(rewrites));
}

function findOrOpen(affected: Map<string, Affected>, ids: Ids, subject: SubjectRef, group: HeldGroup): Affected {
  const place = {
    organization_id: subject.organizationId,
    level: group.level,
    scope_key: scopeKeyOf(subject, group.level),
    guard: group.guard,
  };
  const key = keyOf(place);
  let held = affected.get(key);
  if (held === undefined) {
    held = { row: { ...place, id: ids.next(), digest: "" }, isNew: true, newest: group };
    affected.set(key, held);
  }
  return held;
}

function keyOf(row: Pick<CurrentHeldRow, "organization_id" | "level" | "scope_key" | "guard">): string {
  return JSON.stringify([row.organization_id, row.level, row.scope_key, row.guard]);
}

/** Platform limits are held per organization too: tenants never see each other's items. */
function scopeKeyOf(subject: SubjectRef, level: HeldGroup["level"]): string {
  if (level === "subject") return String(subject.id);
  if (level === "account") return subject.accountId ?? "";
  return level === "organization" ? subject.organizationId : "platform";
}

type HeldItemRow = ReturnType<typeof itemsOf>[number];

function itemsOf(subject: SubjectRef, group: HeldGroup, heldChangeId: string, firstPlace: number) {
  return group.items.map((item, index) => ({
    place: firstPlace + index,
    organization_id: subject.organizationId,
    held_change_id: heldChangeId,
    subject_id: subject.id,
    subject_kind: subject.kind,
    subject_name: subject.name,
    key: item.key,
    action: item.action,
    external_id: item.externalId,
    digest: item.digest,
    differences: item.differences,
    reason: item.reason,
  }));
}
