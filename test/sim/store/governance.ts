import type { JsonObject } from "../../../src/ports/json.ts";
import type { EndPauseAnswer } from "../../../src/ports/intent-store.ts";
import type { RecordedThing } from "../../../src/ports/engine-store.ts";
import type { PauseLevel, Principal, ScopePolicy } from "../../../src/ports/records.ts";
import type { PauseRow } from "./rows.ts";
import { coveringPauses, scopePath, type State, type Tables, wake } from "./state.ts";

export function createOrganization({ tables }: State, request: { readonly id: string; readonly name: string }): void {
  if (tables.organizations.has(request.id)) throw new Error(`Organization ${request.id} exists already`);
  const scope = `organization/${request.id}`;
  tables.organizations.set(request.id, { id: request.id, name: request.name });
  tables.scopes.set(scope, { scope, parent: "platform", organizationId: request.id });
}

export function createScope(
  { tables }: State,
  request: { readonly organizationId: string; readonly scope: string; readonly parent: string },
): void {
  const { organizationId, scope, parent } = request;
  if (tables.scopes.has(scope)) throw new Error(`Scope ${scope} exists already`);
  if (tables.scopes.get(parent)?.organizationId !== organizationId) throw new Error(`Scope ${parent} does not exist`);
  tables.scopes.set(scope, { scope, parent, organizationId });
}

export interface AccountRequest {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  readonly credentialRef: string | undefined;
  readonly callsPerSecond: number;
  readonly fromPool?: boolean | undefined;
}

export function createAccount({ tables, nowMs }: State, request: AccountRequest): void {
  if (tables.accounts.has(request.id)) throw new Error(`Account ${request.id} exists already`);
  const { callsPerSecond, fromPool, ...rest } = request;
  const pool = fromPool === true ? { pool: {} } : {};
  tables.accounts.set(request.id, {
    record: { ...rest, fingerprint: undefined, claimedIncarnation: undefined, ...pool },
    callsPerSecond,
    tokens: capacityOf(callsPerSecond),
    tokensAtMs: nowMs(),
    tookMs: [],
    tookAtMs: undefined,
    blockedUntilMs: 0,
  });
}

export function recordedThings(
  { tables }: State,
  { accountId, atMost }: { readonly accountId: string; readonly atMost: number },
): readonly RecordedThing[] {
  return [...tables.claims.values()]
    .filter(({ accountKey }) => accountKey === accountId)
    .sort((left, right) => (left.externalId < right.externalId ? -1 : 1))
    .flatMap(({ externalId, subjectId }) => {
      const subject = tables.subjects.get(subjectId);
      return subject === undefined ? [] : [{ kind: subject.kind, externalId }];
    })
    .slice(0, atMost);
}

export function recordAccount(
  { tables }: State,
  request: { readonly accountId: string; readonly fingerprint: string; readonly claimedIncarnation: number },
): void {
  const account = tables.accounts.get(request.accountId);
  if (account === undefined) return;
  const { fingerprint, claimedIncarnation } = request;
  account.record = { ...account.record, fingerprint, claimedIncarnation };
}

function capacityOf(callsPerSecond: number): number {
  return Math.max(1, 2 * callsPerSecond);
}

export function takeCalls(
  { tables, nowMs }: State,
  request: {
    readonly accountId: string;
    readonly wanted: number;
    readonly forPerson: boolean;
    readonly tookMs: readonly number[];
  },
): { readonly taken: number; readonly retryInMs: number } {
  const account = tables.accounts.get(request.accountId);
  if (account === undefined) throw new Error(`Account ${request.accountId} does not exist`);
  const now = nowMs();
  if (account.blockedUntilMs > now) return { taken: 0, retryInMs: account.blockedUntilMs - now };
  const { callsPerSecond } = account;
  const capacity = capacityOf(callsPerSecond);
  const refill = (Math.max(0, now - account.tokensAtMs) * callsPerSecond) / 1_000;
  account.tokens = Math.min(capacity, account.tokens + refill);
  account.tokensAtMs = now;
  // A bucket that holds barely one call would never give it away if a fifth of it stayed reserved.
  const reserve = request.forPerson ? 0 : Math.min(capacity / 5, capacity - 1);
  const taken = Math.max(0, Math.min(request.wanted, Math.floor(account.tokens - reserve)));
  account.tokens -= taken;
  if (taken > 0 && request.tookMs.length > 0) {
    account.tookMs = [...request.tookMs.toReversed(), ...account.tookMs].slice(0, 64);
    account.tookAtMs = now;
  }
  const retryInMs = taken > 0 ? 0 : Math.ceil(((1 + reserve - account.tokens) * 1_000) / callsPerSecond);
  return { taken, retryInMs };
}

export function blockCalls(
  { tables, nowMs }: State,
  request: { readonly accountId: string; readonly forMs: number },
): void {
  const account = tables.accounts.get(request.accountId);
  if (account !== undefined) account.blockedUntilMs = Math.max(account.blockedUntilMs, nowMs() + request.forMs);
}

export interface PauseRequest {
  readonly id: string;
  readonly organizationId: string | undefined;
  readonly scope: string;
  readonly level: PauseLevel;
  readonly author: Principal;
  readonly reason: string;
  readonly forMs: number;
}

export function pause({ tables, nowMs }: State, request: PauseRequest): void {
  const { id, organizationId, scope, level, author, reason, forMs } = request;
  const expiresAtMs = nowMs() + forMs;
  tables.pauses.set(id, { id, organizationId, scope, level, author: author.name, reason, expiresAtMs });
}

export function endPause(
  { tables, nowMs }: State,
  request: { readonly id: string; readonly organizationId: string | undefined; readonly author: Principal },
): EndPauseAnswer {
  if (request.author.type !== "person") return "refused";
  const row = tables.pauses.get(request.id);
  if (row === undefined || row.organizationId !== request.organizationId) return "not-found";
  if (fourEyesAt(tables, row)) return "four-eyes";
  const now = nowMs();
  for (const subject of tables.subjects.values()) {
    const covered = coveringPauses(tables, subject, Number.NEGATIVE_INFINITY).some(({ id }) => id === row.id);
    if (covered) wake(subject, "event", now, false);
  }
  tables.pauses.delete(row.id);
  return "ended";
}

/** Accounts and resources have no policy of their own: those above them count. */
function fourEyesAt(tables: Tables, { organizationId, scope }: PauseRow): boolean {
  const resource = scope.startsWith("resource/") ? tables.resources.get(scope.slice("resource/".length)) : undefined;
  const named = resource?.organizationId === organizationId ? resource?.scope : scope;
  const own = organizationId !== undefined && tables.scopes.get(named ?? scope)?.organizationId === organizationId;
  const above = organizationId === undefined ? "platform" : `organization/${organizationId}`;
  return scopePath(tables, own ? (named ?? scope) : above).some((one) => tables.policies.get(one)?.fourEyes === true);
}

export function setPolicy(
  { tables, nowMs }: State,
  request: { readonly organizationId: string | undefined; readonly policy: ScopePolicy; readonly author: Principal },
): void {
  const now = nowMs();
  const { scope } = request.policy;
  tables.policies.set(scope, request.policy);
  for (const subject of tables.subjects.values()) {
    const resource = tables.resources.get(subject.resourceUid);
    if (resource === undefined || !scopePath(tables, resource.scope).includes(scope)) continue;
    subject.policyVersion += 1;
    wake(subject, request.author.type === "person" ? "person" : "event", now, true);
  }
}

/** A restored database must not act as the original: a new incarnation, and no lease or permit of before. */
export function markRestored({ tables }: State): number {
  tables.installation = { ...tables.installation, incarnation: tables.installation.incarnation + 1 };
  for (const subject of tables.subjects.values()) subject.permit = undefined;
  for (const row of tables.pool.values()) if (row.state === "free") row.state = "returned";
  tables.holders.clear();
  tables.workerHolders.clear();
  for (const row of [...tables.shards, ...tables.workerShards]) {
    row.holder = undefined;
    row.untilMs = 0;
    row.quietNext = true;
  }
  return tables.installation.incarnation;
}
