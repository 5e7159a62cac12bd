import { canonical } from "../../../src/kernel/hash.ts";
import type { Json } from "../../../src/ports/json.ts";
import { usedSince } from "./permits.ts";
import { compareText, type State } from "./state.ts";

/**
 * Everything two stores must agree on after the same history, as plain JSON: rows in a fixed order, no `undefined`,
 * and nothing that two right implementations may do differently (buckets that count no more, refills not yet written).
 */
export function dump({ tables, nowMs }: State): Json {
  const minute = Math.floor(nowMs() / 60_000);
  const whole = {
    installation: tables.installation,
    organizations: sorted(tables.organizations.values()),
    scopes: sorted(tables.scopes.values()),
    accounts: sorted(tables.accounts.values(), ({ record, tokens, tokensAtMs, ...row }) => ({
      ...record,
      ...row,
      // Where the bucket would be full does not depend on when refills were written.
      emptyAtMs: Math.round(tokensAtMs - (tokens * 1_000) / row.callsPerSecond),
    })),
    pool: sorted(tables.pool.values(), ({ name, state, organizationId, accountId }) => ({
      name,
      state,
      organizationId,
      accountId,
    })),
    resources: sorted(tables.resources.values(), (row) => ({ ...row, links: sorted(row.links) })),
    subjects: [...tables.subjects.values()].sort((left, right) => left.id - right.id),
    policies: sorted(tables.policies.values()),
    pauses: sorted(tables.pauses.values()),
    heldChanges: sorted(tables.heldChanges.values(), (row) => ({ ...row, items: sorted(row.items) })),
    grants: sorted(tables.grants.values()),
    claims: sorted(tables.claims.values()),
    budgets: sorted(tables.budgets.values(), (row) => ({
      level: row.level,
      scopeKey: row.scopeKey,
      used: usedSince(row, minute - 60),
      owned: row.owned,
      ownedAtMs: row.ownedAtMs,
    })),
    shards: tables.shards.filter((row) => row.epoch > 0),
    operations: sorted(tables.operations.values()),
    workerShards: tables.workerShards.filter((row) => row.epoch > 0),
    changes: sorted(tables.changes.values()),
    verdicts: sorted(tables.verdicts),
    idleCycles: sorted(tables.idleCycles),
    freshness: sorted(tables.freshness),
    seen: sorted(tables.seen),
    loopsSeen: sorted(tables.loopsSeen),
  };
  return JSON.parse(JSON.stringify(whole)) as Json;
}

function sorted<Row>(rows: Iterable<Row>, view: (row: Row) => unknown = (row) => row): unknown[] {
  return Array.from(rows, view)
    .map((row) => [canonical(row), row] as const)
    .sort(([left], [right]) => compareText(left, right))
    .map(([, row]) => row);
}
