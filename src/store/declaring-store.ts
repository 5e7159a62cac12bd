import type { Clock } from "../ports/clock.ts";
import type { Change, ChangeAnswer, DeclaringStore, PlanAnswer } from "../ports/declaring-store.ts";
import type { DueEdge } from "../ports/signal.ts";
import { type Made, makeChanges, plannedSubjects, type Refused, RolledBack, subjectsOf } from "./change-set.ts";
import { CreateTogether } from "./create-together.ts";
import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { finish } from "./idempotency-store.ts";
import { logCall } from "./log-entries.ts";
import { markApplied } from "./proposal-store.ts";
import { readDeleteBudgets } from "./sql/budgets.ts";
import { deleteQuota, listCounts, listQuotas, upsertQuota } from "./sql/declaring.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface DeclaringStoreOptions {
  /** Of role `setpoint_api`: one organization per transaction. */
  readonly database: Database;
  /** Of role `setpoint_admin`: for the quotas, which are the platform's to set. */
  readonly administration: Database;
  /** Given one, resources of an organization that are created at the same time share a transaction. */
  readonly clock?: Clock;
  readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
  readonly logged?: () => void;
}

interface ChangeRequest {
  readonly organizationId: string;
  readonly changes: readonly Change[];
}

/** How the Control API changes what is declared, on PostgreSQL. */
export class PostgresDeclaringStore implements DeclaringStore {
  readonly #options: DeclaringStoreOptions;
  readonly #together: CreateTogether | undefined;

  constructor(options: DeclaringStoreOptions) {
    this.#options = options;
    if (options.clock !== undefined) this.#together = new CreateTogether(options.clock);
  }

  change: DeclaringStore["change"] = async ({ organizationId, changes, keep }) =>
    await this.#answer(() =>
      keep === undefined
        ? this.#make(organizationId, changes)
        : this.#options.database.transaction(requireOrganizationId(organizationId), async (tx) => {
            const made = await makeChanges(tx, organizationId, changes, "one person's");
            await finish(tx, keep.scope, await keep.answerOf(made.map(({ done }) => done)));
            return made;
          }),
    );

  apply: DeclaringStore["apply"] = async ({ organizationId, changes, proposal }) =>
    await this.#answer(() =>
      this.#options.database.transaction(requireOrganizationId(organizationId), async (tx) => {
        const applied = await markApplied(tx, organizationId, proposal);
        if (applied === undefined) throw new RolledBack<Refused>({ at: 0, refusal: { result: "not-approved" } });
        const twoPeople = applied.decided_by !== null && applied.decided_by !== applied.author_name;
        return await makeChanges(tx, organizationId, changes, twoPeople ? "two people's" : "one person's");
      }),
    );

  async #answer(make: () => Promise<readonly Made[]>): Promise<ChangeAnswer> {
    try {
      const made = await make();
      this.#tell(made);
      return { made: true, done: made.map(({ done }) => done) };
    } catch (thrown) {
      return refusedBy(thrown);
    }
  }

  async #make(organizationId: string, changes: readonly Change[]): Promise<readonly Made[]> {
    const tenant = requireOrganizationId(organizationId);
    const { database } = this.#options;
    const [only] = changes;
    if (
      this.#together !== undefined &&
      changes.length === 1 &&
      only?.action === "declare" &&
      only.declare.ifRevision === 0
    ) {
      const made = await this.#together.create(only, (work) => database.transaction(tenant, work));
      if (made !== "alone") return [made];
    }
    return await database.transaction(tenant, (tx) => makeChanges(tx, organizationId, changes, "one person's"));
  }

  #tell(made: readonly Made[]): void {
    const { poke, logged } = this.#options;
    const shards = [...new Set(made.flatMap(({ woken }) => woken.shards))];
    const due = made.flatMap(({ woken }) => woken.due);
    if (shards.length > 0) poke?.(shards, due);
    logged?.();
  }

  async plan({ organizationId, changes }: ChangeRequest): Promise<PlanAnswer> {
    type Planned = Extract<PlanAnswer, { made: true }>;
    try {
      await this.#options.database.transaction(requireOrganizationId(organizationId), async (tx) => {
        const made = await makeChanges(tx, organizationId, changes, "looking");
        const subjects = await plannedSubjects(tx, organizationId, made);
        const needsOther = made.flatMap((one) => one.needsOther ?? []);
        throw new RolledBack<Planned>({ made: true, done: made.map(({ done }) => done), subjects, needsOther });
      });
      throw new StoreError("INTERNAL", "A dry run was committed.");
    } catch (thrown) {
      if (thrown instanceof RolledBack && isPlan(thrown.reason)) return thrown.reason as Planned;
      return refusedBy(thrown);
    }
  }

  deleteBudgets: DeclaringStore["deleteBudgets"] = ({ organizationId, accountId }) =>
    this.#options.administration.run("platform", call(readDeleteBudgets, organizationId, accountId ?? null));

  standing: DeclaringStore["standing"] = async ({ organizationId, uid }) => {
    const subjects = await this.#options.database.transaction(requireOrganizationId(organizationId), (tx) =>
      subjectsOf(tx, organizationId, { uids: [uid], ids: [] }),
    );
    return subjects.filter(({ input }) => input.subject.resourceUid === uid);
  };

  quotas: DeclaringStore["quotas"] = async (organizationId) => {
    const [limits, used] = await this.#options.database.transact(requireOrganizationId(organizationId), [
      call(listQuotas, organizationId),
      call(listCounts, organizationId),
    ]);
    return { limits, used };
  };

  setQuota: DeclaringStore["setQuota"] = async ({ organizationId, kind, most, author }) => {
    const id = organizationId ?? null;
    const entry = { organizationId, type: "quota.set", uid: `quota/${kind}`, author, data: { kind, most } };
    await this.#options.administration.transact("platform", [
      most === undefined ? call(deleteQuota, id, kind) : call(upsertQuota, id, kind, most),
      logCall(entry),
    ]);
    this.#options.logged?.();
  };
}

function isPlan(reason: unknown): boolean {
  return typeof reason === "object" && reason !== null && "subjects" in reason;
}

function refusedBy(thrown: unknown): Extract<ChangeAnswer, { made: false }> {
  if (!(thrown instanceof RolledBack)) throw thrown;
  return { made: false, ...(thrown.reason as Refused) };
}
