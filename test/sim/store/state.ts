import { SHARDS } from "../../../src/kernel/hash.ts";
import type { Actor, Priority } from "../../../src/ports/engine-store.ts";
import type { Ids } from "../../../src/ports/ids.ts";
import type { ScopePolicy } from "../../../src/ports/records.ts";
import type {
  AccountRow,
  BudgetRow,
  ChangeRow,
  ClaimRow,
  GrantRow,
  HeldChangeRow,
  LinkTarget,
  OperationRow,
  PauseRow,
  PoolRow,
  ResourceRow,
  ScopeRow,
  ShardRow,
  SubjectRow,
  VerdictRow,
} from "./rows.ts";
import { ResourceTable } from "./resource-table.ts";

/** Everything a backup would hold. */
export interface Tables {
  installation: { readonly id: string; readonly incarnation: number };
  nextSubjectId: number;
  organizations: Map<string, { readonly id: string; readonly name: string }>;
  scopes: Map<string, ScopeRow>;
  accounts: Map<string, AccountRow>;
  /** The operator's, by name. */
  pool: Map<string, PoolRow>;
  resources: ResourceTable;
  subjects: Map<number, SubjectRow>;
  policies: Map<string, ScopePolicy>;
  pauses: Map<string, PauseRow>;
  heldChanges: Map<string, HeldChangeRow>;
  grants: Map<string, GrantRow>;
  claims: Map<string, ClaimRow>;
  budgets: Map<string, BudgetRow>;
  shards: ShardRow[];
  /** Until when each process that asked for shards counts as live. */
  holders: Map<string, number>;
  /** Operations, and the leases of their shards among workers. */
  operations: Map<string, OperationRow>;
  workerShards: ShardRow[];
  workerHolders: Map<string, number>;
  changes: Map<string, ChangeRow>;
  verdicts: VerdictRow[];
  idleCycles: Map<string, number>;
  freshness: Map<string, number>;
  seen: Map<number, number>;
  loopsSeen: Map<string, number>;
}

/** The tables with the two things a transaction needs from outside: the store's own clock, and ids. */
export interface State {
  tables: Tables;
  readonly nowMs: () => number;
  readonly ids: Ids;
}

/** The store refuses a write because another row stands in its way; the code says which. */
export class StoreConflict extends Error {
  readonly code: "SECOND_CLAIMANT";

  constructor(code: "SECOND_CLAIMANT", message: string) {
    super(message);
    this.name = "StoreConflict";
    this.code = code;
  }
}

export function newTables(installationId: string): Tables {
  return {
    installation: { id: installationId, incarnation: 1 },
    nextSubjectId: 1,
    organizations: new Map(),
    scopes: new Map(),
    accounts: new Map(),
    pool: new Map(),
    resources: new ResourceTable(),
    subjects: new Map(),
    policies: new Map(),
    pauses: new Map(),
    heldChanges: new Map(),
    grants: new Map(),
    claims: new Map(),
    budgets: new Map(),
    shards: newShards(),
    holders: new Map(),
    operations: new Map(),
    workerShards: newShards(),
    workerHolders: new Map(),
    changes: new Map(),
    verdicts: [],
    idleCycles: new Map(),
    freshness: new Map(),
    seen: new Map(),
    loopsSeen: new Map(),
  };
}

function newShards(): ShardRow[] {
  return Array.from({ length: SHARDS }, (_, shard) => ({
    shard,
    holder: undefined,
    epoch: 0,
    untilMs: 0,
    quiet: true,
    quietNext: true,
  }));
}

/** A copy that later writes do not reach: rows are copied, the immutable records inside them are shared. */
export function copyTables(tables: Tables): Tables {
  return {
    ...tables,
    organizations: new Map(tables.organizations),
    scopes: new Map(tables.scopes),
    accounts: copyRows(tables.accounts),
    pool: copyRows(tables.pool),
    resources: tables.resources.copy(),
    subjects: copyRows(tables.subjects),
    policies: new Map(tables.policies),
    pauses: new Map(tables.pauses),
    heldChanges: copyRows(tables.heldChanges),
    grants: copyRows(tables.grants),
    claims: new Map(tables.claims),
    budgets: copyRows(tables.budgets),
    shards: tables.shards.map((row) => ({ ...row })),
    holders: new Map(tables.holders),
    operations: copyRows(tables.operations),
    workerShards: tables.workerShards.map((row) => ({ ...row })),
    workerHolders: new Map(tables.workerHolders),
    changes: copyRows(tables.changes),
    verdicts: tables.verdicts.slice(),
    idleCycles: new Map(tables.idleCycles),
    freshness: new Map(tables.freshness),
    seen: new Map(tables.seen),
    loopsSeen: new Map(tables.loopsSeen),
  };
}

function copyRows<Key, Row extends object>(rows: ReadonlyMap<Key, Row>): Map<Key, Row> {
  const copy = new Map<Key, Row>();
  for (const [key, row] of rows) copy.set(key, { ...row });
  return copy;
}

export const urgency: Readonly<Record<Priority, number>> = { person: 0, event: 1, first: 2, resync: 3 };

type Turn = { readonly priority: Priority; readonly dueAtMs: number | undefined; readonly id: number };

export function byUrgency(left: Turn, right: Turn): number {
  return (
    urgency[left.priority] - urgency[right.priority] || (left.dueAtMs ?? 0) - (right.dueAtMs ?? 0) || left.id - right.id
  );
}

/** Sets the due time to now. Only a changed input raises the version: approvals and ended pauses are not inputs. */
export function wake(subject: SubjectRow, priority: Priority, nowMs: number, raises: boolean): void {
  if (raises) subject.inputVersion += 1;
  if (subject.dueAtMs === undefined || urgency[priority] < urgency[subject.priority]) subject.priority = priority;
  subject.dueAtMs = nowMs;
}

/** Whether the actor has the lease it acts under: of the subject's shard, or of its operation's among the workers. */
export function isCurrent(tables: Tables, subject: SubjectRow, actor: Actor, nowMs: number): boolean {
  if (actor.operationId === undefined) return subject.shard === actor.shard && isLeased(tables.shards, actor, nowMs);
  const operation = tables.operations.get(actor.operationId);
  return (
    operation?.subjectId === subject.id &&
    operation.dueAtMs !== undefined &&
    operation.shard === actor.shard &&
    isLeased(tables.workerShards, actor, nowMs)
  );
}

export function isLeased(shards: readonly ShardRow[], actor: Actor, nowMs: number): boolean {
  const lease = shards[actor.shard];
  return lease?.holder === actor.holder && lease.epoch === actor.epoch && lease.untilMs > nowMs;
}

/** An actor may change what is remembered of a subject unless somebody else holds it. */
export function hasHold(subject: SubjectRow, actor: Actor): boolean {
  return subject.hold?.operationId === actor.operationId;
}

/** The subject is its loop's again. What was read of it before counts no more, so both versions move. */
export function endHold(subject: SubjectRow, operationId: string, nowMs: number): void {
  if (subject.hold?.operationId !== operationId) return;
  subject.hold = undefined;
  subject.policyVersion += 1;
  wake(subject, "event", nowMs, true);
}

/** From the platform down to the scope itself. */
export function scopePath(tables: Tables, scope: string): readonly string[] {
  const path: string[] = [];
  let at: string | undefined = scope;
  while (at !== undefined && at !== "platform") {
    path.unshift(at);
    at = tables.scopes.get(at)?.parent;
  }
  return ["platform", ...path];
}

export function coveringPauses(tables: Tables, subject: SubjectRow, nowMs: number): PauseRow[] {
  if (tables.pauses.size === 0) return [];
  const resource = tables.resources.get(subject.resourceUid);
  const scopes = new Set(resource === undefined ? ["platform"] : scopePath(tables, resource.scope));
  scopes.add(`resource/${subject.resourceUid}`);
  if (subject.accountId !== undefined) scopes.add(`account/${subject.accountId}`);
  const covering: PauseRow[] = [];
  for (const pause of tables.pauses.values()) {
    const tenantFits = pause.organizationId === undefined || pause.organizationId === subject.organizationId;
    if (tenantFits && pause.expiresAtMs > nowMs && scopes.has(pause.scope)) covering.push(pause);
  }
  return covering.sort((left, right) => compareText(left.id, right.id));
}

export function subjectsOf(tables: Tables, uid: string): SubjectRow[] {
  const found: SubjectRow[] = [];
  for (const subject of tables.subjects.values()) if (subject.resourceUid === uid) found.push(subject);
  return found;
}

export function findResource(tables: Tables, organizationId: string, target: LinkTarget): ResourceRow | undefined {
  return tables.resources.named(organizationId, target);
}

/** The subjects computed from a resource through its links. */
export function linkedSubjects(tables: Tables, resource: ResourceRow): SubjectRow[] {
  return resource.links.flatMap((link) => {
    const target = findResource(tables, resource.organizationId, link);
    return target === undefined ? [] : subjectsOf(tables, target.uid);
  });
}

export function claimKey(accountKey: string, externalId: string): string {
  return `${accountKey} ${externalId}`;
}

/** Subjects without an account own things in the name of their organization. */
export function accountKeyOf(subject: Pick<SubjectRow, "accountId" | "organizationId">): string {
  return subject.accountId ?? `organization/${subject.organizationId}`;
}

export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
