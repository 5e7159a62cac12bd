import type {
  DecisionAnswer,
  GovernanceChange,
  GovernanceDecision,
  GovernanceStore,
  InboxView,
  LeftToDo,
  Proposal,
} from "../ports/governance-store.ts";
import type { DeclareChange } from "../ports/declaring-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { ScopePolicy } from "../ports/records.ts";
import type { DueEdge } from "../ports/signal.ts";
import { makeChanges, RolledBack } from "./change-set.ts";
import type { Database, Transaction } from "./database.ts";
import { nobodyWoken, type Woken } from "./due-edges.ts";
import { append } from "./log-entries.ts";
import { endPause, setPolicy } from "./policy-writes.ts";
import {
  chargedMost,
  decideGovernance,
  extendPause,
  type GovernanceRow,
  governanceByDigest,
  governanceChanges,
  type InboxRow,
  inbox,
  insertGovernance,
  type LeftRow,
  leftByOrganization,
  leftToDo,
  lockGovernance,
  lockPolicy,
  loopActivity,
  notLookedAt,
  plansOf,
  plansPage,
  policyHistory,
  readPolicy,
  waitingFigures,
  withdrawLapsed,
} from "./sql/governing.ts";
import { call } from "./statement.ts";
import { requireOrganizationId, tenantOrPlatform } from "./tenant.ts";

export interface GovernanceStoreOptions {
  readonly database: Database;
  /** For what concerns every organization. */
  readonly administration: Database;
  readonly ids: Ids;
  readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
  readonly logged?: () => void;
}

type Request<Method extends keyof GovernanceStore> = Parameters<GovernanceStore[Method]>[0];

/** What people see and decide about the rules, on PostgreSQL. */
export class PostgresGovernanceStore implements GovernanceStore {
  readonly #options: GovernanceStoreOptions;

  constructor(options: GovernanceStoreOptions) {
    this.#options = options;
  }

  inbox: GovernanceStore["inbox"] = async (request) => {
    const { organizationId, states, level, guard, kind, olderThanMs, id, limit, itemsAtMost } = request;
    const age = olderThanMs === undefined ? null : Math.round(olderThanMs);
    const values = [level ?? null, guard ?? null, kind ?? null, age, id ?? null, limit, itemsAtMost] as const;
    const rows = await this.#options.database.run(
      requireOrganizationId(organizationId),
      call(inbox, organizationId, states, ...values),
    );
    return rows.map(inboxView);
  };

  governanceChanges: GovernanceStore["governanceChanges"] = async ({ organizationId, states, id, limit }) => {
    const rows = await this.#for(organizationId).run(
      tenantOrPlatform(organizationId),
      call(governanceChanges, organizationId ?? null, states, id ?? null, limit),
    );
    return rows.map(governanceChange);
  };

  propose(request: Proposal): Promise<GovernanceChange> {
    const { organizationId, scope, type, digest, author } = request;
    return this.#write(organizationId, async (tx) => {
      await tx.run(lockPolicy, scope);
      await tx.run(withdrawLapsed, organizationId ?? null, scope, request.baseVersion);
      const [known] = await tx.run(governanceByDigest, organizationId ?? null, digest);
      if (known !== undefined) return { answer: governanceChange(known), woken: nobodyWoken };
      const id = this.#options.ids.next();
      const data = { scope, type, digest, reason: request.verdict.reason.slice(0, 500) };
      await Promise.all([
        tx.run(
          insertGovernance,
          id,
          organizationId ?? null,
          scope,
          type,
          digest,
          JSON.stringify(request.verdict),
          JSON.stringify(request.differences),
          JSON.stringify(request.body),
          request.baseVersion,
          author.name,
          author.type,
          request.reason ?? null,
          Math.round(request.forMs),
        ),
        append(tx, { organizationId, type: "governance.proposed", uid: id, author, data }),
      ]);
      const [row] = await tx.run(lockGovernance, organizationId ?? null, id);
      if (row === undefined) throw new Error(`The governance change ${id} is not there right after it was written`);
      return { answer: governanceChange(row), woken: nobodyWoken };
    });
  }

  async decide(request: GovernanceDecision): Promise<DecisionAnswer> {
    if (request.decision !== "withdraw" && request.approver.type !== "person") return { result: "refused-principal" };
    try {
      return await this.#write(request.organizationId, (tx) => decide(tx, request));
    } catch (thrown) {
      // What was asked for can no longer be made: it was changed meanwhile, or what it needs is gone.
      if (thrown instanceof RolledBack) return { result: "closed" };
      throw thrown;
    }
  }

  policy: GovernanceStore["policy"] = async (organizationId, scope) => {
    const asked = call(readPolicy, organizationId ?? null, scope);
    const [row] = await this.#for(organizationId).run(tenantOrPlatform(organizationId), asked);
    return row === undefined ? undefined : { version: row.version, policy: row.body };
  };

  policyHistory: GovernanceStore["policyHistory"] = async ({ organizationId, scope, limit }) => {
    const asked = call(policyHistory, organizationId ?? null, scope, limit);
    const rows = await this.#for(organizationId).run(tenantOrPlatform(organizationId), asked);
    return rows.map(({ version, body, author, reason, at_ms }) => ({
      version,
      policy: body,
      author,
      reason: reason ?? undefined,
      atMs: at_ms,
    }));
  };

  setPolicy(request: Request<"setPolicy">): ReturnType<GovernanceStore["setPolicy"]> {
    const { organizationId, policy, ifVersion, author, reason } = request;
    type Answer = Awaited<ReturnType<GovernanceStore["setPolicy"]>>;
    return this.#write<Answer>(organizationId, async (tx) => {
      const stands = await versionOf(tx, organizationId, policy.scope);
      if (stands !== ifVersion) return { answer: { result: "conflict", version: stands }, woken: nobodyWoken };
      const { version, woken } = await setPolicy(tx, { organizationId, policy, author, reason });
      return { answer: { result: "set", version }, woken };
    });
  }

  extendPause(request: Request<"extendPause">): ReturnType<GovernanceStore["extendPause"]> {
    const { id, organizationId, forMs, author } = request;
    type Answer = Awaited<ReturnType<GovernanceStore["extendPause"]>>;
    return this.#write<Answer>(organizationId, async (tx) => {
      const [row] = await tx.run(extendPause, id, organizationId ?? null, Math.round(forMs));
      if (row === undefined) return { answer: undefined, woken: nobodyWoken };
      const { scope, level, expires_at_ms } = row;
      const data = { scope, level, expiresAtMs: expires_at_ms };
      await append(tx, { organizationId, type: "pause.extended", uid: id, author, data });
      return { answer: { expiresAtMs: expires_at_ms }, woken: nobodyWoken };
    });
  }

  plansOf: GovernanceStore["plansOf"] = async ({ organizationId, uid }) => {
    const tenants = requireOrganizationId(organizationId);
    const rows = await this.#options.database.run(tenants, call(plansOf, organizationId, uid));
    return rows.map((row) => ({
      subjectId: row.subject_id,
      accountId: row.account_id ?? undefined,
      sinceMs: row.since_ms ?? undefined,
      madeAtMs: row.at_ms ?? undefined,
      plan: row.plan ?? undefined,
      status: row.status ?? undefined,
      heldChanges: row.held ?? [],
    }));
  };

  leftToDo: GovernanceStore["leftToDo"] = async ({ organizationId, under, kind, limit }) => {
    const values = [organizationId, under ?? null, kind ?? null, limit] as const;
    const [planned, unseen] = await this.#options.database.transact(requireOrganizationId(organizationId), [
      call(leftToDo, ...values),
      call(notLookedAt, ...values),
    ]);
    return [...planned, ...unseen].map(left).slice(0, limit);
  };

  plans: GovernanceStore["plans"] = async ({ organizationId, kind, after, limit }) => {
    const { sinceMs, subjectId } = after ?? { sinceMs: -1, subjectId: -1 };
    const page = call(plansPage, organizationId, kind ?? null, sinceMs, subjectId, limit);
    const rows = await this.#options.database.run(requireOrganizationId(organizationId), page);
    return rows.map((row) => ({
      ...left(row),
      summary: row.summary,
      madeAtMs: row.at_ms,
      heldChanges: row.held ?? [],
    }));
  };

  leftByOrganization: GovernanceStore["leftByOrganization"] = () =>
    this.#options.administration.run("platform", call(leftByOrganization));

  loopActivity: GovernanceStore["loopActivity"] = async () => {
    const rows = await this.#options.administration.run("platform", call(loopActivity));
    return rows.map((row) => ({
      kind: row.kind,
      subjects: row.subjects,
      failing: row.failing,
      idleCycles: row.idle_cycles,
      countedSinceMs: row.counted_since_ms ?? undefined,
      lastCycleAtMs: row.last_cycle_at_ms ?? undefined,
      sweptSinceMs: row.swept_since_ms ?? undefined,
    }));
  };

  waiting: GovernanceStore["waiting"] = async () => {
    const [[row], charged] = await this.#options.administration.transact("platform", [
      call(waitingFigures),
      call(chargedMost),
    ]);
    return {
      pendingDeletes: row?.pending_deletes ?? 0,
      left: row?.left_to_do ?? 0,
      failing: row?.failing ?? 0,
      oldestHeldAtMs: row?.oldest_held_at_ms ?? undefined,
      chargedMost: charged,
    };
  };

  #for(organizationId: string | undefined): Database {
    return organizationId === undefined ? this.#options.administration : this.#options.database;
  }

  async #write<Answer>(
    organizationId: string | undefined,
    work: (tx: Transaction) => Promise<{ readonly answer: Answer; readonly woken: Woken }>,
  ): Promise<Answer> {
    const { answer, woken } = await this.#for(organizationId).transaction(tenantOrPlatform(organizationId), work);
    if (woken.shards.length > 0) this.#options.poke?.(woken.shards, woken.due);
    this.#options.logged?.();
    return answer;
  }
}

const stateAfter = { approve: "approved", reject: "rejected", withdraw: "withdrawn" } as const;

async function decide(
  tx: Transaction,
  request: GovernanceDecision,
): Promise<{ readonly answer: DecisionAnswer; readonly woken: Woken }> {
  const { organizationId, id, approver, comment, decision } = request;
  const [row] = await tx.run(lockGovernance, organizationId ?? null, id);
  const refusal = refusalOf(row, request);
  if (row === undefined || refusal !== undefined)
    return { answer: refusal ?? { result: "not-found" }, woken: nobodyWoken };
  let woken = nobodyWoken;
  if (decision === "approve") {
    const applied = await apply(tx, row, request);
    if (applied === undefined) return { answer: { result: "closed" }, woken: nobodyWoken };
    woken = applied;
  }
  const state = stateAfter[decision];
  await Promise.all([
    tx.run(decideGovernance, organizationId ?? null, id, state, approver.name, comment ?? null),
    append(tx, {
      organizationId,
      type: `governance.${state}`,
      uid: id,
      author: approver,
      data: { digest: row.digest, type: row.type, scope: row.scope, comment },
    }),
  ]);
  return { answer: { result: state }, woken };
}

function refusalOf(row: GovernanceRow | undefined, request: GovernanceDecision): DecisionAnswer | undefined {
  if (row === undefined) return { result: "not-found" };
  if (row.state !== "open") return { result: "closed" };
  if (request.decision !== "approve") return undefined;
  if (row.digest !== request.digest) return { result: "moved", digest: row.digest };
  return row.four_eyes && row.author === request.approver.name ? { result: "four-eyes" } : undefined;
}

/** Undefined: what it rested on is no longer there. */
async function apply(tx: Transaction, row: GovernanceRow, request: GovernanceDecision): Promise<Woken | undefined> {
  const { organizationId, approver: author, comment } = request;
  if (row.type === "pause-end") {
    const { id } = row.body as unknown as { readonly id: string };
    return endPause(tx, { id, organizationId, author });
  }
  if (row.type === "declaration") return await declareHeld(tx, row);
  if ((await versionOf(tx, organizationId, row.scope)) !== row.base_version) return undefined;
  const policy = row.body as unknown as ScopePolicy;
  const reason = comment ?? row.reason ?? undefined;
  return (await setPolicy(tx, { organizationId, policy, author, reason })).woken;
}

/** Declared by who asked for it, on top of what stood there then. */
async function declareHeld(tx: Transaction, { organization_id, body }: GovernanceRow): Promise<Woken | undefined> {
  if (organization_id === null) return undefined;
  const { declare, references } = body as unknown as DeclareChange;
  // No account is null in JSON.
  const accounts = declare.accounts.map((id) => id ?? undefined);
  const change: DeclareChange = { action: "declare", declare: { ...declare, accounts }, references };
  const made = await makeChanges(tx, organization_id, [change], "two people's");
  return { shards: made.flatMap(({ woken }) => woken.shards), due: made.flatMap(({ woken }) => woken.due) };
}

/** The version that stands, kept from moving until the transaction ends; 0 when there is none. */
async function versionOf(tx: Transaction, organizationId: string | undefined, scope: string): Promise<number> {
  const [, [row]] = await Promise.all([tx.run(lockPolicy, scope), tx.run(readPolicy, organizationId ?? null, scope)]);
  return row?.version ?? 0;
}

function inboxView(row: InboxRow): InboxView {
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
    comment: row.comment ?? undefined,
    fourEyes: row.four_eyes,
    authors: row.authors,
    blastRadius: { ...row.counts, ...row.places },
    items: (row.items ?? []).map((item) => ({
      ...item,
      externalId: item.externalId ?? undefined,
      scope: item.scope ?? undefined,
      accountId: item.accountId ?? undefined,
    })),
  };
}

function governanceChange(row: GovernanceRow): GovernanceChange {
  return {
    id: row.id,
    organizationId: row.organization_id ?? undefined,
    scope: row.scope,
    type: row.type,
    state: row.state,
    digest: row.digest,
    verdict: row.verdict,
    differences: row.differences,
    body: row.body,
    baseVersion: row.base_version,
    author: row.author,
    authorType: row.author_type,
    reason: row.reason ?? undefined,
    openedAtMs: row.opened_at_ms,
    expiresAtMs: row.expires_at_ms,
    decidedBy: row.decided_by ?? undefined,
    decidedAtMs: row.decided_at_ms ?? undefined,
    comment: row.comment ?? undefined,
    fourEyes: row.four_eyes,
  };
}

function left(row: LeftRow): LeftToDo {
  return {
    subjectId: row.subject_id,
    accountId: row.account_id ?? undefined,
    uid: row.uid,
    kind: row.kind,
    name: row.name,
    scope: row.scope,
    sinceMs: row.since_ms,
    summary: row.summary ?? undefined,
    lookedAtMs: row.looked_at_ms ?? undefined,
  };
}
