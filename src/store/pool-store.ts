import type { Freed, GivenBack, PoolStore, TakenOut } from "../ports/pool-store.ts";
import type { Database, Transaction } from "./database.ts";
import { append } from "./log-entries.ts";
import { priorityNumber } from "./priorities.ts";
import {
  deletePoolAccount,
  freePoolAccount,
  insertPoolAccount,
  listPool,
  lockPoolAccount,
  lockPooled,
  namedBy,
  type PoolStandingRow,
  readPoolAccount,
  returnPoolAccounts,
  undockAccount,
  wakeWaitingForPool,
} from "./sql/pool.ts";
import { wakeUndocked } from "./sql/wake.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface PoolStoreOptions {
  /** Of role `setpoint_api`: for what an organization does with its own. */
  readonly database: Database;
  /** Of role `setpoint_admin`: the pool is the operator's. */
  readonly administration: Database;
  /** Called after a commit that appended to the log. */
  readonly logged?: () => void;
}

type Request<Method extends keyof PoolStore> = Parameters<PoolStore[Method]>[0];

/** The operator's pool on PostgreSQL. Each method is one transaction with its log entries. */
export class PostgresPoolStore implements PoolStore {
  readonly #options: PoolStoreOptions;

  constructor(options: PoolStoreOptions) {
    this.#options = options;
  }

  list: PoolStore["list"] = async () => {
    const rows = await this.#options.administration.run("platform", call(listPool));
    return rows.map(({ credential_ref, calls_per_second, since_ms, organization, ...row }) => ({
      ...row,
      credentialRef: credential_ref,
      callsPerSecond: calls_per_second,
      organization: organization ?? undefined,
      sinceMs: since_ms,
    }));
  };

  add({ author, ...account }: Request<"add">): Promise<void> {
    const { name, provider, settings, credentialRef, locations, callsPerSecond } = account;
    return this.#administer(async (tx) => {
      const values = [JSON.stringify(settings), credentialRef, locations, callsPerSecond] as const;
      await tx.run(insertPoolAccount, name, provider, ...values);
      await wakeWaiting(tx, provider);
      const data = { name, provider, credentialRef, locations: [...locations], callsPerSecond };
      await append(tx, { organizationId: undefined, type: "pool.added", uid: name, author, data, after: account });
    });
  }

  remove({ name, author }: Request<"remove">): Promise<TakenOut> {
    return this.#administer<TakenOut>(async (tx) => {
      const [standing] = await tx.run(lockPoolAccount, name);
      if (standing === undefined) return { result: "not-found" };
      if (standing.state === "claimed") return { result: "claimed", organization: nameOf(standing) };
      await tx.run(deletePoolAccount, name);
      const data = { name, provider: standing.provider };
      await append(tx, { organizationId: undefined, type: "pool.removed", uid: name, author, data });
      return { result: "removed" };
    });
  }

  free({ name, author }: Request<"free">): Promise<Freed> {
    return this.#administer<Freed>(async (tx) => {
      const [seen] = await tx.run(readPoolAccount, name);
      if (seen === undefined) return { result: "not-found" };
      const { organization_id: organizationId, account_id: accountId } = seen;
      if (organizationId !== null && accountId !== null) {
        await tx.run(lockPooled, organizationId, accountId);
        const [user] = await tx.run(namedBy, organizationId, accountId);
        if (user !== undefined) return { result: "in-use", organization: nameOf(seen), resources: user.total };
        await tx.run(returnPoolAccounts, organizationId, accountId);
        await tx.run(undockAccount, organizationId, accountId);
        const data = { poolAccount: name, by: "an operator of the platform" };
        await append(tx, { organizationId, type: "account.given-back", uid: accountId, author, data });
      }
      const [locked] = await tx.run(lockPoolAccount, name);
      // Whoever claimed or took it in between was first.
      if (locked === undefined || locked.state === "claimed") return { result: "not-found" };
      await tx.run(freePoolAccount, name);
      await wakeWaiting(tx, locked.provider);
      const data = { name, organization: seen.organization ?? undefined };
      await append(tx, { organizationId: undefined, type: "pool.freed", uid: name, author, data });
      return { result: "freed" };
    });
  }

  async giveBack({ organizationId, accountId, author }: Request<"giveBack">): Promise<GivenBack> {
    const tenant = requireOrganizationId(organizationId);
    const answer = await this.#options.database.transaction(tenant, async (tx): Promise<GivenBack> => {
      const [account] = await tx.run(lockPooled, organizationId, accountId);
      if (account === undefined) return { result: "not-found" };
      if (account.pool === null) return { result: "own" };
      if (account.pool.account === undefined) return { result: "waiting" };
      const users = await tx.run(namedBy, organizationId, accountId);
      if (users[0] !== undefined) {
        const named = users.map(({ kind, name, scope }) => ({ kind, name, scope }));
        return { result: "in-use", users: named, total: users[0].total };
      }
      await tx.run(returnPoolAccounts, organizationId, accountId);
      await tx.run(undockAccount, organizationId, accountId);
      const data = { name: account.name, poolAccount: account.pool.account };
      await append(tx, { organizationId, type: "account.given-back", uid: accountId, author, data });
      return { result: "returned", poolAccount: account.pool.account };
    });
    if (answer.result === "returned") this.#options.logged?.();
    return answer;
  }

  async #administer<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    const answer = await this.#options.administration.transaction("platform", work);
    this.#options.logged?.();
    return answer;
  }
}

/** An operation's row comes before its subject's, as for whoever ends one. */
async function wakeWaiting(tx: Transaction, provider: string): Promise<void> {
  await tx.run(wakeWaitingForPool, provider);
  await tx.run(wakeUndocked, priorityNumber("event"), provider);
}

/** One that was deleted has no name any more. */
function nameOf({ organization, organization_id: id }: PoolStandingRow): string {
  return organization ?? id ?? "nobody";
}
