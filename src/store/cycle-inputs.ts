import { emptyMemory } from "../kernel/memory.ts";
import type {
  AccountRecord,
  CycleInput,
  DeclaredResource,
  Grant,
  Pause,
  PublishedSource,
  ResourceDeletion,
  ScopePolicy,
} from "../ports/records.ts";
import type { LoadedAccount, LoadedBatch, LoadedResource, LoadedSubject } from "./sql/load.ts";
import { betweenSubjects, readSubject } from "./sql/subject-text.ts";
import { compareText } from "./text.ts";

/** What the subjects of a batch have in common, by key. */
interface Shared {
  readonly batch: LoadedBatch;
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  readonly policies: ReadonlyMap<string, ScopePolicy>;
  readonly inputs: ReadonlyMap<number, readonly DeclaredResource[]>;
  readonly published: ReadonlyMap<number, readonly PublishedSource[]>;
  readonly grants: ReadonlyMap<number, readonly Grant[]>;
}

/** The inputs of the cycles in a batch, by subject. A subject that is gone is not among them. */
export function cycleInputs(batch: LoadedBatch): ReadonlyMap<number, CycleInput> {
  return new Map([...lazyCycleInputs(batch)].map(([id, make]) => [id, make()]));
}

/** The same, each made when it is asked for. */
export function lazyCycleInputs(batch: LoadedBatch): ReadonlyMap<number, () => CycleInput> {
  const shared: Shared = {
    batch,
    accounts: accountsOf(batch),
    policies: new Map((batch.policies ?? []).map(([id, policy]) => [keyOf(id, policy.scope), policy])),
    inputs: grouped(batch.inputs, (input) => declared(input, input[10]), byUid),
    published: grouped(
      batch.published,
      ([inputUid, kind, name, scope, values]) => ({ inputUid, kind, name, scope, values }),
      (left, right) => compareText(left.inputUid, right.inputUid),
    ),
    grants: grouped(batch.grants, (grant) => grant, byId),
  };
  const texts = batch.subjects?.split(betweenSubjects) ?? [];
  return new Map((batch.ids ?? []).map((id, place) => [id, () => cycleInput(readSubject(texts[place] ?? ""), shared)]));
}

function cycleInput(row: LoadedSubject, shared: Shared): CycleInput {
  const [id, organizationId, accountId, shard, inputVersion, policyVersion, dueAtMs] = row;
  const [, , , , , , , operationId, sinceMs, reason, detached, memory, status, observationHash, heldDigest] = row;
  const [busy, undone, resource] = [row[18], row[19], row[20]];
  return {
    subject: {
      id,
      organizationId,
      resourceUid: resource[0],
      accountId: accountId ?? undefined,
      kind: resource[1],
      name: resource[2],
      shard,
    },
    inputVersion,
    policyVersion,
    resource: declared(resource, resource[10] ?? detached),
    inputs: shared.inputs.get(id) ?? [],
    ...publishedOf(shared.published.get(id)),
    policies: policiesOf(row, shared.policies),
    pauses: pausesOf(row, shared.batch.pauses),
    ...(busy === true ? { busy } : {}),
    ...(undone === null ? {} : { undone }),
    hold: operationId === null ? undefined : { operationId, sinceMs: sinceMs ?? 0, reason: reason ?? "" },
    account: accountId === null ? undefined : shared.accounts.get(keyOf(organizationId, accountId)),
    memory: memory ?? emptyMemory,
    status: status ?? undefined,
    observationHash: observationHash ?? undefined,
    grants: shared.grants.get(id) ?? [],
    heldDigest: heldDigest ?? undefined,
    dueStored: dueAtMs !== null,
    dueAtMs: dueAtMs ?? undefined,
    installation: shared.batch.installation,
    storeNowMs: shared.batch.now_ms,
  };
}

function publishedOf(published: readonly PublishedSource[] | undefined): Pick<CycleInput, "published"> {
  return published === undefined ? {} : { published };
}

function declared(values: LoadedResource, deletion: ResourceDeletion | null): DeclaredResource {
  const [uid, kind, name, scope, generation, spec, labels, authorName, authorType, declaredAtMs] = values;
  return {
    uid,
    kind,
    name,
    scope,
    generation,
    spec,
    labels,
    author: { name: authorName, type: authorType },
    declaredAtMs,
    deletion: deletion ?? undefined,
  };
}

function policiesOf(row: LoadedSubject, policies: ReadonlyMap<string, ScopePolicy>): readonly ScopePolicy[] {
  const [, organizationId] = row;
  const [path, mode, protect, resource] = [row[15], row[16], row[17], row[20]];
  const found: ScopePolicy[] = [];
  for (const scope of path) {
    const policy = policies.get(keyOf(scope === "platform" ? null : organizationId, scope));
    if (policy !== undefined) found.push(policy);
  }
  // What the resource says of itself always comes last.
  found.push({ scope: `resource/${resource[0]}`, mode: mode ?? undefined, protect: protect ?? undefined });
  return found;
}

function pausesOf(row: LoadedSubject, pauses: LoadedBatch["pauses"]): readonly Pause[] {
  if (pauses === null) return [];
  const [, organizationId, accountId] = row;
  const scopes = new Set([...row[15], `resource/${row[20][0]}`]);
  if (accountId !== null) scopes.add(`account/${accountId}`);
  return pauses
    .filter(([id, pause]) => (id === null || id === organizationId) && scopes.has(pause.scope))
    .map(([, pause]) => pause)
    .sort(byId);
}

function accountsOf({ accounts }: LoadedBatch): ReadonlyMap<string, AccountRecord> {
  const found = new Map<string, AccountRecord>();
  for (const row of accounts ?? []) found.set(keyOf(row[0], row[1]), accountRecord(row));
  return found;
}

export function accountRecord(row: LoadedAccount): AccountRecord {
  const [organizationId, id, name, provider, settings, credentialRef, fingerprint, incarnation] = row;
  const [, , , , , , , , readCredentialRef, pool] = row;
  return {
    id,
    organizationId,
    name,
    provider,
    settings,
    credentialRef: credentialRef ?? undefined,
    fingerprint: fingerprint ?? undefined,
    claimedIncarnation: incarnation ?? undefined,
    ...(readCredentialRef === null ? {} : { readCredentialRef }),
    ...(pool === null ? {} : { pool }),
  };
}

function grouped<Value, Result>(
  rows: readonly (readonly [subjectId: number, value: Value])[] | null,
  view: (value: Value) => Result,
  order: (left: Result, right: Result) => number,
): ReadonlyMap<number, readonly Result[]> {
  const groups = new Map<number, Result[]>();
  for (const [subjectId, value] of rows ?? []) {
    const group = groups.get(subjectId);
    if (group === undefined) groups.set(subjectId, [view(value)]);
    else group.push(view(value));
  }
  for (const group of groups.values()) group.sort(order);
  return groups;
}

function keyOf(organizationId: string | null, name: string): string {
  return `${organizationId ?? ""} ${name}`;
}

function byUid(left: DeclaredResource, right: DeclaredResource): number {
  return compareText(left.uid, right.uid);
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return compareText(left.id, right.id);
}
