import type { Change, ChangeAnswer, DeclaringStore, PlanAnswer } from "../ports/declaring-store.ts";
import type { DueEdge } from "../ports/signal.ts";
import { makeChanges, plannedSubjects, type Refused, RolledBack, subjectsOf } from "./change-set.ts";
import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { logCall } from "./log-entries.ts";
import { deleteQuota, listCounts, listQuotas, upsertQuota } from "./sql/declaring.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface DeclaringStoreOptions {
  /** Of role `setpoint_api`: one organization per transaction. */
  readonly database: Database;
  /** Of role `setpoint_admin`: for the quotas, which are the platform's to set. */
  readonly administration: Database;
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

  constructor(options: DeclaringStoreOptions) {
    this.#options = options;
  }

  async change({ organizationId, changes }: ChangeRequest): Promise<ChangeAnswer> {
    const { database, poke, logged } = this.#options;
    try {
      const made = await database.transaction(requireOrganizationId(organizationId), (tx) =>
        makeChanges(tx, organizationId, changes),
      );
      const shards = [...new Set(made.flatMap(({ woken }) => woken.shards))];
      if (shards.length > 0)
        poke?.(
          shards,
          made.flatMap(({ woken }) => woken.due),
        );
      logged?.();
      return { made: true, done: made.map(({ done }) => done) };
    } catch (thrown) {
      return refusedBy(thrown);
    }
  }

  async plan({ organizationId, changes }: ChangeRequest): Promise<PlanAnswer> {
    type Planned = Extract<PlanAnswer, { made: true }>;
    try {
      await this.#options.database.transaction(requireOrganizationId(organizationId), async (tx) => {
        const made = await makeChanges(tx, organizationId, changes);
        const subjects = await plannedSubjects(tx, organizationId, made);
        throw new RolledBack<Planned>({ made: true, done: made.map(({ done }) => done), subjects });
      });
      throw new StoreError("INTERNAL", "A dry run was committed.");
    } catch (thrown) {
      if (thrown instanceof RolledBack && isPlan(thrown.reason)) return thrown.reason as Planned;
      return refusedBy(thrown);
    }
  }

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
