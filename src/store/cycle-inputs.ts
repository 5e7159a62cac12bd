import { emptyMemory } from "../kernel/memory.ts";
import type {
  AccountRecord,
  CycleInput,
  DeclaredResource,
  Hold,
  ResourceDeletion,
  ScopePolicy,
} from "../ports/records.ts";
import type { LoadedBatch, LoadedSubject, ResourceColumns } from "./sql/load.ts";
import { compareText } from "./text.ts";

/** The inputs of the cycles in a batch, by subject. A subject that is gone is not among them. */
export function cycleInputs(batch: LoadedBatch): ReadonlyMap<number, CycleInput> {
  const inputs = Map.groupBy(batch.inputs ?? [], (row) => row.subject_id);
  const grants = Map.groupBy(batch.grants ?? [], (row) => row.subject_id);
  const policies = new Map(
    (batch.policies ?? []).map(({ organization_id, body }) => [`${organization_id ?? ""} ${body.scope}`, body]),
  );
  const found = new Map<number, CycleInput>();
  for (const row of batch.subjects ?? []) {
    found.set(row.id, {
      subject: {
        id: row.id,
        organizationId: row.organization_id,
        resourceUid: row.uid,
        accountId: row.account_id ?? undefined,
        kind: row.kind,
        name: row.name,
        shard: row.shard,
      },
      inputVersion: row.input_version,
      policyVersion: row.policy_version,
      resource: declaredResource(row, row.deletion ?? row.detached),
      inputs: (inputs.get(row.id) ?? []).map((input) => declaredResource(input, input.deletion)).sort(byUid),
      policies: policiesOf(row, policies),
      pauses: pausesOf(row, batch),
      hold: holdOf(row),
      account: accountOf(row),
      memory: row.memory ?? emptyMemory,
      status: row.status ?? undefined,
      observationHash: row.observation_hash ?? undefined,
      grants: (grants.get(row.id) ?? [])
        .map(({ subject_id: _, ...grant }) => grant)
        .sort((left, right) => compareText(left.id, right.id)),
      heldDigest: row.held_digest ?? undefined,
      dueStored: row.due_stored,
      installation: batch.installation,
      storeNowMs: batch.now_ms,
    });
  }
  return found;
}

export function declaredResource(row: ResourceColumns, deletion: ResourceDeletion | null): DeclaredResource {
  return {
    uid: row.uid,
    kind: row.kind,
    name: row.name,
    scope: row.scope,
    generation: row.generation,
    spec: row.spec,
    labels: row.labels,
    author: { name: row.author_name, type: row.author_type },
    declaredAtMs: row.declared_at_ms,
    deletion: deletion ?? undefined,
  };
}

function byUid(left: DeclaredResource, right: DeclaredResource): number {
  return compareText(left.uid, right.uid);
}

function policiesOf(row: LoadedSubject, policies: ReadonlyMap<string, ScopePolicy>): readonly ScopePolicy[] {
  const found: ScopePolicy[] = [];
  for (const scope of row.path) {
    const policy = policies.get(scope === "platform" ? " platform" : `${row.organization_id} ${scope}`);
    if (policy !== undefined) found.push(policy);
  }
  // What the resource says of itself always comes last.
  found.push({ scope: `resource/${row.uid}`, mode: row.mode ?? undefined, protect: row.protect ?? undefined });
  return found;
}

function pausesOf(row: LoadedSubject, batch: LoadedBatch): CycleInput["pauses"] {
  if (batch.pauses === null) return [];
  const scopes = new Set([...row.path, `resource/${row.uid}`]);
  if (row.account_id !== null) scopes.add(`account/${row.account_id}`);
  return batch.pauses
    .filter((pause) => pause.organization_id === null || pause.organization_id === row.organization_id)
    .filter((pause) => scopes.has(pause.scope))
    .map(({ organization_id: _, ...pause }) => pause)
    .sort((left, right) => compareText(left.id, right.id));
}

function holdOf(row: LoadedSubject): Hold | undefined {
  if (row.hold_operation_id === null) return undefined;
  return { operationId: row.hold_operation_id, sinceMs: row.hold_since_ms ?? 0, reason: row.hold_reason ?? "" };
}

function accountOf(row: LoadedSubject): AccountRecord | undefined {
  const { account } = row;
  if (account === null || row.account_id === null) return undefined;
  return {
    id: row.account_id,
    organizationId: row.organization_id,
    name: account.name,
    provider: account.provider,
    settings: account.settings,
    credentialRef: account.credential_ref ?? undefined,
    fingerprint: account.fingerprint ?? undefined,
    claimedIncarnation: account.claimed_incarnation ?? undefined,
  };
}
