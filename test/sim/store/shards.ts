import type { DueSubject, EngineStore, ShardClaim, ShardLease, SubjectEntry } from "../../../src/ports/engine-store.ts";
import type { SubjectRow } from "./rows.ts";
import { byUrgency, compareText, type State } from "./state.ts";

export function takeShards(
  { tables, nowMs }: State,
  request: { readonly holder: string; readonly wanted: number; readonly leaseMs: number },
): readonly ShardLease[] {
  const now = nowMs();
  // Whoever asks is known to the others as live, so that they hand over to it.
  tables.holders.set(request.holder, Math.max(tables.holders.get(request.holder) ?? 0, now + request.leaseMs));
  const mine = tables.shards.filter((row) => row.holder === request.holder && row.untilMs > now);
  for (const row of tables.shards) {
    if (mine.length >= request.wanted) break;
    if (row.holder !== undefined && row.untilMs > now) continue;
    row.holder = request.holder;
    row.epoch += 1;
    row.untilMs = now + request.leaseMs;
    row.quiet = row.quietNext;
    row.quietNext = true;
    mine.push(row);
  }
  return mine
    .sort((left, right) => left.shard - right.shard)
    .map((row) => ({ shard: row.shard, epoch: row.epoch, quiet: row.quiet }));
}

export function renewShards(
  { tables, nowMs }: State,
  request: { readonly holder: string; readonly leaseMs: number; readonly shards: readonly ShardClaim[] },
): readonly number[] {
  const now = nowMs();
  const kept: number[] = [];
  for (const claim of request.shards) {
    const row = tables.shards[claim.shard];
    if (row === undefined || row.holder !== request.holder || row.epoch !== claim.epoch || row.untilMs <= now) continue;
    row.untilMs = now + request.leaseMs;
    kept.push(row.shard);
  }
  return kept.sort((left, right) => left - right);
}

export function releaseShards(
  { tables }: State,
  request: { readonly holder: string; readonly shards: readonly ShardClaim[] },
): void {
  for (const claim of request.shards) {
    const row = tables.shards[claim.shard];
    if (row === undefined || row.holder !== request.holder || row.epoch !== claim.epoch) continue;
    row.holder = undefined;
    row.untilMs = 0;
    row.quietNext = false;
  }
  // Whoever has given up its last one is not counted among those who share.
  if (tables.shards.every((row) => row.holder !== request.holder)) tables.holders.delete(request.holder);
}

export function shardHolders({
  tables,
  nowMs,
}: State): readonly { readonly holder: string; readonly shards: number }[] {
  const now = nowMs();
  const counts = new Map<string, number>();
  for (const [holder, untilMs] of tables.holders) if (untilMs > now) counts.set(holder, 0);
  for (const row of tables.shards) {
    if (row.holder !== undefined && row.untilMs > now) counts.set(row.holder, (counts.get(row.holder) ?? 0) + 1);
  }
  return [...counts]
    .map(([holder, shards]) => ({ holder, shards }))
    .sort((left, right) => compareText(left.holder, right.holder));
}

export function listSubjects(
  { tables }: State,
  request: { readonly shard: number; readonly afterId: number; readonly limit: number },
): readonly SubjectEntry[] {
  const found: SubjectEntry[] = [];
  // Subjects are inserted in the order of their ids and a Map keeps that order.
  for (const row of tables.subjects.values()) {
    if (row.shard !== request.shard || row.id <= request.afterId) continue;
    if (found.length >= request.limit) break;
    found.push(entryOf(row));
  }
  return found;
}

export function dueSubjects(
  { tables, nowMs }: State,
  request: Parameters<EngineStore["dueSubjects"]>[0],
): readonly DueSubject[] {
  const now = nowMs();
  const shards = new Set(request.shards);
  const due: SubjectRow[] = [];
  for (const row of tables.subjects.values()) {
    if (row.dueAtMs === undefined || row.dueAtMs > now || !shards.has(row.shard)) continue;
    if (request.dueAfterMs !== undefined && row.dueAtMs <= request.dueAfterMs) continue;
    if (request.after === undefined || byUrgency(row, request.after) > 0) due.push(row);
  }
  return due
    .sort(byUrgency)
    .slice(0, request.limit)
    .map((row) => ({ ...entryOf(row), shard: row.shard, priority: row.priority, dueAtMs: row.dueAtMs ?? 0 }));
}

function entryOf(row: SubjectRow): SubjectEntry {
  return { id: row.id, kind: row.kind, organizationId: row.organizationId, accountId: row.accountId };
}
