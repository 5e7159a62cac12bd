import { oldHoldMs } from "../kernel/steering.ts";
import type {
  HeldChangeView,
  HistoryEntry,
  PlacedName,
  PlatformSummary,
  ReadStore,
  Relation,
  SealedEntry,
  TailEntry,
} from "../ports/read-store.ts";
import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import {
  getResource,
  getResources,
  type HeldChangeViewRow,
  accountUse,
  listAccounts,
  listChanges,
  listHeldChanges,
  listOrganizations,
  listPauses,
  listPolicies,
  listScopes,
  listVerdicts,
  observations,
  resourcesByUid,
  type SealedRow,
  sealedEntries,
  summary,
} from "./sql/reads.ts";
import { listPage, positionOf } from "./list-page.ts";
import { resourceView } from "./resource-view.ts";
import {
  changedStatus,
  logPosition,
  resourceEntries,
  sealedTime,
  tailEntries,
  tailOfTenant,
  type TailRow,
} from "./sql/log-reads.ts";
import { changedInLists, figures, filledLists } from "./sql/overview.ts";
import { type RelationRow, relationsFrom, relationsOfLists, relationsTo } from "./sql/relations.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** What the Control API shows, on PostgreSQL. Every method but two takes a tenant; those two are administration's. */
export class PostgresReadStore implements ReadStore {
  readonly #database: Database;
  readonly #administration: Database;

  /** `database` is one of role `setpoint_api`, `administration` one of `setpoint_admin`. */
  constructor(options: { readonly database: Database; readonly administration: Database }) {
    this.#database = options.database;
    this.#administration = options.administration;
  }

  listOrganizations: ReadStore["listOrganizations"] = () =>
    this.#administration.run("platform", call(listOrganizations));

  listScopes: ReadStore["listScopes"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listScopes, organizationId));
    return rows.map(({ scope, parent }) => ({ scope, parent }));
  };

  getResource: ReadStore["getResource"] = async ({ organizationId, scope, kind, name }) => {
    const tenant = requireOrganizationId(organizationId);
    const [row] = await this.#database.run(tenant, call(getResource, organizationId, scope, kind, name));
    return row === undefined ? undefined : resourceView(row);
  };

  listPage: ReadStore["listPage"] = (request) => listPage(this.#database, request);

  getResources: ReadStore["getResources"] = async ({ organizationId, names }) => {
    if (names.length === 0) return [];
    const columns = [names.map(({ scope }) => scope), names.map(({ kind }) => kind), names.map(({ name }) => name)];
    const tenant = requireOrganizationId(organizationId);
    return (await this.#database.run(tenant, call(getResources, organizationId, ...columns))).map(resourceView);
  };

  resourcesByUid: ReadStore["resourcesByUid"] = async ({ organizationId, uids }) => {
    if (uids.length === 0) return [];
    const tenant = requireOrganizationId(organizationId);
    return (await this.#database.run(tenant, call(resourcesByUid, organizationId, uids))).map(resourceView);
  };

  resourceEntries: ReadStore["resourceEntries"] = async (request) => {
    const { organizationId, uid, types, beforePosition, limit } = request;
    const asked = call(resourceEntries, organizationId, uid, beforePosition ?? null, types ?? null, limit);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map(({ at_ms, revision, ...row }) => ({ ...row, revision: revision ?? undefined, atMs: at_ms }));
  };

  logPosition: ReadStore["logPosition"] = async () => {
    const [row] = await this.#database.run("platform", call(logPosition));
    return positionOf(row);
  };

  tailEntries: ReadStore["tailEntries"] = async ({ afterPosition, limit }) =>
    (await this.#administration.run("platform", call(tailEntries, afterPosition, limit))).map(tailEntry);

  tailOfTenant: ReadStore["tailOfTenant"] = async ({ organizationId, afterPosition, untilPosition, limit }) => {
    const asked = call(tailOfTenant, organizationId, afterPosition, untilPosition, limit);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(tailEntry);
  };

  sealedTimeMs: ReadStore["sealedTimeMs"] = async ({ organizationId, position }) => {
    const tenant = requireOrganizationId(organizationId);
    const [row] = await this.#database.run(tenant, call(sealedTime, organizationId, position));
    return row?.at_ms;
  };

  changedStatus: ReadStore["changedStatus"] = async ({ organizationId, scope, kind, after, limit }) => {
    const asked = call(changedStatus, organizationId, scope, kind, after.changedAtMs, after.subjectId, limit);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map((row) => ({
      uid: row.resource_uid,
      subjectId: row.subject_id,
      version: row.version,
      changedAtMs: row.changed_at_ms,
    }));
  };

  changedInLists: ReadStore["changedInLists"] = async ({ organizationId, lists, after, limit }) => {
    const named = [lists.map(({ scope }) => scope), lists.map(({ kind }) => kind)];
    const asked = call(changedInLists, organizationId, ...named, after.changedAtMs, after.subjectId, limit);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map(({ resource_uid, subject_id, changed_at_ms, ...row }) => ({
      ...row,
      uid: resource_uid,
      subjectId: subject_id,
      changedAtMs: changed_at_ms,
    }));
  };

  filledLists: ReadStore["filledLists"] = async ({ organizationId, lists }) => {
    const asked = call(
      filledLists,
      organizationId,
      lists.map(({ scope }) => scope),
      lists.map(({ kind }) => kind),
    );
    return await this.#database.run(requireOrganizationId(organizationId), asked);
  };

  figures: ReadStore["figures"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(figures, organizationId));
    return rows.map(({ not_ready, ...row }) => ({ ...row, notReady: not_ready }));
  };

  relationsFrom: ReadStore["relationsFrom"] = async ({ organizationId, uids, each }) => {
    const asked = call(relationsFrom, organizationId, uids, each);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(relation);
  };

  relationsTo: ReadStore["relationsTo"] = async ({ organizationId, names, each }) => {
    const columns = [names.map(({ scope }) => scope), names.map(({ kind }) => kind), names.map(({ name }) => name)];
    const asked = call(relationsTo, organizationId, ...columns, each);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(relation);
  };

  relationsOfLists: ReadStore["relationsOfLists"] = async ({ organizationId, lists, first }) => {
    const named = [lists.map(({ scope }) => scope), lists.map(({ kind }) => kind)];
    const asked = call(relationsOfLists, organizationId, ...named, first);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map(({ scope, kind, ...row }) => ({ from: { scope, kind }, to: targetOf(row) }));
  };

  listAccounts: ReadStore["listAccounts"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listAccounts, organizationId));
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      provider: row.provider,
      settings: row.settings,
      fingerprint: row.fingerprint ?? undefined,
      claimedIncarnation: row.claimed_incarnation ?? undefined,
      callsPerSecond: row.calls_per_second,
      pool: row.pool ?? undefined,
    }));
  };

  accountUse: ReadStore["accountUse"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(accountUse, organizationId));
    return rows.map((row) => ({
      id: row.id,
      credential: row.credential,
      tokens: row.tokens,
      tokensAtMs: row.tokens_at_ms,
      blockedUntilMs: row.blocked_until_ms,
      tookMs: row.took_ms,
      tookAtMs: row.took_at_ms ?? undefined,
      inventories: row.inventories,
      subjects: row.subjects,
      failing: row.failing,
      owned: row.owned,
      oldestLookAtMs: row.oldest_look_at_ms ?? undefined,
      lastLookAtMs: row.last_look_at_ms ?? undefined,
    }));
  };

  listHeldChanges: ReadStore["listHeldChanges"] = async ({ organizationId, states, limit }) => {
    const tenant = requireOrganizationId(organizationId);
    const rows = await this.#database.run(tenant, call(listHeldChanges, organizationId, states, limit));
    return rows.map(heldChangeView);
  };

  listPauses: ReadStore["listPauses"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listPauses, organizationId));
    return rows.map(({ on, ...pause }) => (on === null ? pause : { ...pause, on }));
  };

  listPolicies: ReadStore["listPolicies"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listPolicies, organizationId));
    return rows.map(({ body }) => body);
  };

  history: ReadStore["history"] = async ({ organizationId, uid, limit }) => {
    const [changes, verdicts] = await this.#database.transact(requireOrganizationId(organizationId), [
      call(listChanges, organizationId, uid, limit),
      call(listVerdicts, organizationId, uid, limit),
    ]);
    const entries: HistoryEntry[] = [
      ...changes.map(({ at_ms, record, outcome }): HistoryEntry => {
        const { action, key, externalId, trigger, differences, declaredBy, verdicts, grantId } = record;
        return {
          type: "change",
          atMs: at_ms,
          action,
          key,
          trigger,
          differences,
          declaredBy,
          verdicts,
          grantId,
          externalId: outcome?.externalId ?? externalId,
          result: outcome?.result ?? "intended",
          answer: outcome?.answer,
        };
      }),
      ...verdicts.map(({ at_ms, verdict }): HistoryEntry => ({ type: "verdict", atMs: at_ms, verdict })),
    ];
    return entries.sort((left, right) => right.atMs - left.atMs).slice(0, limit);
  };

  observation: ReadStore["observation"] = async ({ organizationId, uid }) => {
    const tenant = requireOrganizationId(organizationId);
    const rows = await this.#database.run(tenant, call(observations, organizationId, uid));
    return rows.map(({ account_id, observation }) => ({ ...observation, accountId: account_id ?? undefined }));
  };

  sealedEntries: ReadStore["sealedEntries"] = async ({ organizationId, afterPosition, limit }) => {
    const tenant = requireOrganizationId(organizationId);
    const rows = await this.#database.run(tenant, call(sealedEntries, organizationId, afterPosition, limit));
    return rows.map(sealedEntry);
  };

  async summary(): Promise<PlatformSummary> {
    const [row] = await this.#administration.run("platform", call(summary, oldHoldMs));
    if (row === undefined) {
      throw new StoreError("DATABASE_NOT_MIGRATED", "The database has no installation row. Run the migrations first.");
    }
    return {
      installationId: row.installation_id,
      incarnation: row.incarnation,
      schemaVersion: row.schema_version,
      organizations: row.organizations,
      resources: row.resources,
      subjects: row.subjects,
      heldOpen: row.held_open,
      pausesActive: row.pauses_active,
      operationsAttention: row.operations_attention,
      shardsLeased: row.shards_leased,
      dueNow: row.due_now,
      oldestConfirmedAtMs: row.oldest_confirmed_at_ms ?? undefined,
    };
  }
}

function tailEntry({ organization_id, at_ms, ...row }: TailRow): TailEntry {
  return {
    position: row.position,
    incarnation: row.incarnation,
    organizationId: organization_id ?? undefined,
    type: row.type,
    uid: row.uid ?? undefined,
    scope: row.scope ?? undefined,
    kind: row.kind ?? undefined,
    name: row.name ?? undefined,
    revision: row.revision ?? undefined,
    atMs: at_ms,
  };
}

function heldChangeView(row: HeldChangeViewRow): HeldChangeView {
  return {
    id: row.id,
    state: row.state,
    level: row.level,
    guard: row.guard,
    digest: row.digest,
    verdict: row.verdict,
    openedAtMs: row.opened_at_ms,
    decidedBy: row.decided_by ?? undefined,
    decidedAtMs: row.decided_at_ms ?? undefined,
    items: (row.items ?? []).map((item) => ({ ...item, externalId: item.externalId ?? undefined })),
  };
}

export function sealedEntry(row: SealedRow): SealedEntry {
  return {
    incarnation: row.incarnation,
    position: row.position,
    organizationId: row.organization_id ?? "platform",
    type: row.type,
    uid: row.uid ?? undefined,
    revision: row.revision ?? undefined,
    actor: row.actor,
    data: row.data,
    trail: row.trail ?? undefined,
    atMs: row.at_ms,
    tenantLink:
      row.tenant_previous_position === null || row.tenant_previous_hash === null
        ? undefined
        : { position: row.tenant_previous_position, hash: row.tenant_previous_hash },
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

function relation({ uid, scope, kind, name, ...row }: RelationRow): Relation {
  return { from: { uid, scope, kind, name }, to: targetOf(row) };
}

function targetOf(row: Pick<RelationRow, "to_scope" | "to_kind" | "to_name">): PlacedName {
  return { scope: row.to_scope, kind: row.to_kind, name: row.to_name };
}
