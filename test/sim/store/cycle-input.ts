import type {
  CycleInput,
  DeclaredResource,
  Grant,
  Pause,
  PublishedSource,
  ResourceDeletion,
  ScopePolicy,
  SubjectRef,
} from "../../../src/ports/records.ts";
import type { LinkTarget, ResourceRow, SubjectRow } from "./rows.ts";
import { compareText, coveringPauses, findResource, scopePath, type State, subjectsOf, type Tables } from "./state.ts";

/** Everything a cycle decides from, in one snapshot; undefined when the subject is gone. */
export function load({ tables, nowMs }: State, subjectId: number): CycleInput | undefined {
  const subject = tables.subjects.get(subjectId);
  const resource = subject && tables.resources.get(subject.resourceUid);
  if (subject === undefined || resource === undefined) return undefined;
  const now = nowMs();
  return {
    subject: refOf(subject),
    inputVersion: subject.inputVersion,
    policyVersion: subject.policyVersion,
    resource: declaredOf(resource, resource.deletion ?? subject.detached),
    inputs: inputsOf(tables, resource),
    ...publishedOf(tables, resource),
    policies: policiesOf(tables, resource),
    pauses: coveringPauses(tables, subject, now).map(pauseOf),
    hold: subject.hold,
    ...(subject.undone === undefined ? {} : { undone: subject.undone }),
    ...(subject.permit !== undefined && subject.permit.untilMs > now ? { busy: true } : {}),
    account: subject.accountId === undefined ? undefined : tables.accounts.get(subject.accountId)?.record,
    memory: subject.memory,
    status: subject.status,
    observationHash: subject.observation?.hash,
    grants: grantsOf(tables, subject, now),
    heldDigest: subject.heldDigest,
    dueStored: subject.dueAtMs !== undefined,
    dueAtMs: subject.dueAtMs,
    installation: tables.installation,
    storeNowMs: now,
  };
}

export function refOf(subject: SubjectRow): SubjectRef {
  return {
    id: subject.id,
    organizationId: subject.organizationId,
    resourceUid: subject.resourceUid,
    accountId: subject.accountId,
    kind: subject.kind,
    name: subject.name,
    shard: subject.shard,
  };
}

export function declaredOf(row: ResourceRow, deletion: ResourceDeletion | undefined): DeclaredResource {
  return {
    uid: row.uid,
    kind: row.kind,
    name: row.name,
    scope: row.scope,
    generation: row.generation,
    spec: row.spec,
    labels: row.labels,
    author: row.author,
    declaredAtMs: row.declaredAtMs,
    deletion,
  };
}

export function pointsAt(link: LinkTarget, target: ResourceRow): boolean {
  return link.name === target.name && link.kind === target.kind && link.scope === target.scope;
}

function inputsOf(tables: Tables, target: ResourceRow): readonly DeclaredResource[] {
  const inputs: DeclaredResource[] = [];
  for (const row of tables.resources.related()) {
    if (row.links.length === 0 || row.organizationId !== target.organizationId) continue;
    if (row.links.some((link) => pointsAt(link, target))) inputs.push(declaredOf(row, row.deletion));
  }
  return inputs.sort((left, right) => compareText(left.uid, right.uid));
}

/** What the resources show that the inputs refer to. */
function publishedOf(tables: Tables, target: ResourceRow): Pick<CycleInput, "published"> {
  const published: PublishedSource[] = [];
  for (const row of tables.resources.related()) {
    if (row.refers === undefined || row.organizationId !== target.organizationId) continue;
    if (!row.links.some((link) => pointsAt(link, target))) continue;
    for (const name of row.refers) {
      const source = findResource(tables, row.organizationId, name);
      const [subject] = source === undefined ? [] : subjectsOf(tables, source.uid);
      const values = subject?.status?.values;
      if (values !== undefined) published.push({ inputUid: row.uid, ...name, values });
    }
  }
  return published.length === 0 ? {} : { published };
}

/** Always ends with what the resource says of itself. */
function policiesOf(tables: Tables, resource: ResourceRow): readonly ScopePolicy[] {
  const policies: ScopePolicy[] = [];
  for (const scope of scopePath(tables, resource.scope)) {
    const policy = tables.policies.get(scope);
    if (policy !== undefined) policies.push(policy);
  }
  policies.push({ scope: `resource/${resource.uid}`, mode: resource.mode, protect: resource.protect });
  return policies;
}

function pauseOf({ id, scope, level, author, reason, expiresAtMs }: Pause): Pause {
  return { id, scope, level, author, reason, expiresAtMs };
}

function grantsOf(tables: Tables, subject: SubjectRow, nowMs: number): readonly Grant[] {
  const grants: Grant[] = [];
  for (const row of tables.grants.values()) {
    if (row.subjectId !== subject.id || row.usedAtMs !== undefined || row.expiresAtMs <= nowMs) continue;
    const { id, heldChangeId, itemDigest, approver, expiresAtMs } = row;
    grants.push({ id, heldChangeId, itemDigest, approver, expiresAtMs });
  }
  return grants.sort((left, right) => compareText(left.id, right.id));
}
