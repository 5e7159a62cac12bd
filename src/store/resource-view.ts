import type { ResourceView, SubjectView } from "../ports/read-store.ts";
import type { ScopePolicy } from "../ports/records.ts";
import { declaredResource } from "./resource-row.ts";
import type { ResourceViewRow, SubjectViewRow } from "./sql/reads.ts";

export function resourceView(row: ResourceViewRow): ResourceView {
  return {
    resource: declaredResource(row),
    revision: row.revision,
    mode: row.mode ?? undefined,
    protect: row.protect ?? false,
    subjects: (row.subjects ?? []).map(subjectView),
    policies: policiesOf(row),
    pauses: row.pauses ?? [],
    fieldOwners: row.field_owners,
    statusRevision: (row.subjects ?? []).reduce((sum, { status_version }) => sum + (status_version ?? 0), 0),
  };
}

function policiesOf({ uid, mode, protect, path, policies }: ResourceViewRow): readonly ScopePolicy[] {
  const byScope = new Map((policies ?? []).map((policy) => [policy.scope, policy]));
  const found = path.map((scope) => byScope.get(scope)).filter((policy) => policy !== undefined);
  return [...found, { scope: `resource/${uid}`, mode: mode ?? undefined, protect: protect ?? undefined }];
}

function subjectView(row: SubjectViewRow): SubjectView {
  return {
    id: row.id,
    accountId: row.account_id ?? undefined,
    shard: row.shard,
    inputVersion: row.input_version,
    dueAtMs: row.due_at_ms ?? undefined,
    holdOperationId: row.hold_operation_id ?? undefined,
    needsAttention:
      row.attention === null ? undefined : { pipeline: row.attention.pipeline, message: row.attention.message ?? "" },
    status: row.status ?? undefined,
    confirmedAtMs: confirmedAtMs(row),
  };
}

/** A sweep of the shard says nothing about subjects that fail, nor about those that were never looked at. */
function confirmedAtMs({ status, seen_since_ms }: SubjectViewRow): number | undefined {
  if (status === null || status.failing || seen_since_ms === null) return status?.lookedAtMs;
  return status.lookedAtMs === undefined ? undefined : Math.max(status.lookedAtMs, seen_since_ms);
}
