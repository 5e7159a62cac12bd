import type { Writable } from "node:stream";
import pg from "pg";
import type { Log } from "../ports/log.ts";
import { isRace, StoreError, toStoreError } from "./errors.ts";
import { type Call, call, type SqlValue, type Statement, statement } from "./statement.ts";

export type DatabaseRole = "setpoint_api" | "setpoint_engine" | "setpoint_admin";

/**
 * For whom a transaction acts. The API names one organization; the engine those of the subjects in its batch, by name
 * or through their rows. "platform" names nobody: rows of tenants are then an error.
 */
export type Tenants =
  | "platform"
  | { readonly organizations: readonly string[] }
  | { readonly ofSubjects: readonly number[] }
  | { readonly ofAccount: string };

export interface DatabaseOptions {
  readonly url: string;
  readonly role: DatabaseRole;
  readonly log: Log;
  /** Connections at most. */
  readonly max?: number;
  /** The store's clock in tests; production uses the server's own. */
  readonly nowMs?: (() => number) | undefined;
  /** How long a statement may wait for a lock, and run. */
  readonly lockTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** Sees every statement before it is sent; for counting and for tests. */
  readonly onStatement?: ((sent: Call<unknown>, role: DatabaseRole) => void) | undefined;
}

/** An open transaction. Statements are sent at once and in order; nothing waits unless the caller does. */
export interface Transaction {
  run<Row>(statement: Statement<Row>, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** The last calls: the commit leaves with them and not one round trip later. Nothing may be run behind them. */
  finish<const Calls extends readonly Call<unknown>[]>(calls: Calls): Promise<Rows<Calls>>;
}

type Rows<Calls extends readonly Call<unknown>[]> = {
  -readonly [Index in keyof Calls]: Calls[Index] extends Call<infer Row> ? readonly Row[] : never;
};

const begin = statement<never>("begin", "platform", "begin");
const commit = statement<never>("commit", "platform", "commit");
const rollback = statement<never>("rollback", "platform", "rollback");
const openPlatform = statement<unknown>(
  "open platform",
  "platform",
  "select set_config('setpoint.organizations', '', true), set_config('setpoint.now_ms', $1, true)",
);
const openOrganizations = statement<unknown>(
  "open organizations",
  "platform",
  "select set_config('setpoint.organizations', $2::uuid[]::text, true), set_config('setpoint.now_ms', $1, true)",
);
const openSubjects = statement<unknown>(
  "open subjects",
  "platform",
  `select set_config('setpoint.organizations', (
     select coalesce(array_agg(distinct organization_id), '{}')::text from setpoint.subject where id = any ($2::bigint[])
   ), true), set_config('setpoint.now_ms', $1, true)`,
);
const openAccount = statement<unknown>(
  "open account",
  "platform",
  `select set_config('setpoint.organizations', (
     select coalesce(array_agg(organization_id), '{}')::text from setpoint.account_budget where account_id = $2
   ), true), set_config('setpoint.now_ms', $1, true)`,
);

const raceAttempts = 5;

/**
 * The connections of one role. All statements of the store pass through here, and every transaction names its tenants
 * in the round trip that opens it: the connections are pipelined, so that begin, tenants, statements and commit leave
 * together when nothing has to be decided in between.
 */
export class Database {
  readonly role: DatabaseRole;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  readonly #transactions = new WeakMap<pg.PoolClient, number>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.role = options.role;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.role,
      max: options.max ?? 8,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 60_000,
      types: { getTypeParser },
      // The pool waits for what this returns, although its types do not say so.
      onConnect: (client): void => prepareSession(client, options) as unknown as undefined,
    });
    // A connection that breaks in use fails its queries, which is enough; unheard, its error would end the process.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
    // A connection that breaks while idle is replaced by the pool; whoever needs one next learns more.
    this.#pool.on("error", (error) => options.log.warn("store.connection-lost", { message: error.message }));
  }

  /** Whether the store's clock is the one of a test instead of the server's own. */
  get clockIsGiven(): boolean {
    return this.#options.nowMs !== undefined;
  }

  /** All calls in one transaction and one round trip. Use it when no call depends on another one's answer. */
  async transact<const Calls extends readonly Call<unknown>[]>(tenants: Tenants, calls: Calls): Promise<Rows<Calls>> {
    const rows = await this.#withClient((client) => this.#send(client, tenants, calls));
    return rows as Rows<Calls>;
  }

  /** One call as a transaction of its own. */
  async run<Row>(tenants: Tenants, one: Call<Row>): Promise<readonly Row[]> {
    const [rows] = await this.transact(tenants, [one]);
    return rows;
  }

  /** A transaction whose statements depend on each other. It may run again when it lost a race: effects only through it. */
  transaction<Result>(tenants: Tenants, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#withClient(async (client) => {
      let finished = false;
      const run = this.#query.bind(this, client) as Transaction["run"];
      const finish = ((calls) => {
        finished = true;
        return this.#finish(client, calls);
      }) as Transaction["finish"];
      // Both are waited for: work that went on after the rollback would run outside of any transaction.
      const [opened, worked] = await Promise.allSettled([this.#open(client, tenants), work({ run, finish })]);
      if (opened.status === "fulfilled" && worked.status === "fulfilled") {
        if (!finished) await this.#commit(client);
        return worked.value;
      }
      if (!finished) await this.#query(client, rollback).catch(() => undefined);
      throw opened.status === "rejected" ? opened.reason : (worked as PromiseRejectedResult).reason;
    });
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #send(client: pg.PoolClient, tenants: Tenants, calls: readonly Call<unknown>[]): Promise<unknown[]> {
    const [only] = calls;
    if (tenants === "platform" && calls.length === 1 && only !== undefined && this.#options.nowMs === undefined) {
      // A single statement is a transaction by itself, and without an open one no tenant is named.
      return [await this.#query(client, only.statement, ...only.values)];
    }
    const [, rows] = await allOf([this.#open(client, tenants), this.#finish(client, calls)]);
    return rows;
  }

  async #finish(client: pg.PoolClient, calls: readonly Call<unknown>[]): Promise<unknown[]> {
    const asked = calls.map((one) => this.#query(client, one.statement, ...one.values));
    const [rows] = await allOf([allOf(asked), this.#commit(client)]);
    return rows;
  }

  async #open(client: pg.PoolClient, tenants: Tenants): Promise<void> {
    const nowMs = this.#options.nowMs === undefined ? "" : String(this.#options.nowMs());
    const opening = openingOf(tenants, nowMs);
    await Promise.all([this.#query(client, begin), this.#query(client, opening.statement, ...opening.values)]);
  }

  async #commit(client: pg.PoolClient): Promise<void> {
    this.#options.onStatement?.({ statement: commit, values: [] }, this.role);
    gather(client);
    const { command } = await ask(client, { name: commit.name, text: commit.text });
    // PostgreSQL answers the commit of an aborted transaction with a rollback and no error.
    if (command !== "COMMIT")
      throw new StoreError("INTERNAL", `The transaction ended with ${command}, not with COMMIT`);
  }

  async #query<Row>(client: pg.PoolClient, { name, text, touches }: Statement<Row>, ...values: readonly SqlValue[]) {
    this.#options.onStatement?.({ statement: { name, text, touches }, values }, this.role);
    gather(client);
    const { rows } = await ask(client, { name, text, values: values as unknown[] });
    return rows as readonly Row[];
  }

  /**
   * Kept plans know the tables as they were when they were made. At its 10th, 100th, 1,000th… transaction a connection
   * makes them anew, so that none is much older than the growth that this very work brings about.
   */
  async #planAnew(client: pg.PoolClient): Promise<void> {
    const count = (this.#transactions.get(client) ?? 0) + 1;
    this.#transactions.set(client, count);
    if (count >= 10 && Number.isInteger(Math.log10(count))) await client.query("discard plans");
  }

  async #withClient<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        const client = await this.#pool.connect();
        let failure: unknown;
        try {
          await this.#planAnew(client);
          return await work(client);
        } catch (thrown) {
          failure = thrown;
          throw thrown;
        } finally {
          // A connection in an unknown state is closed, not reused.
          client.release(failure !== undefined && client.getTransactionStatus() !== "I");
        }
      } catch (thrown) {
        if (!isRace(thrown) || attempt >= raceAttempts) throw toStoreError(thrown);
      }
    }
  }
}

/** Waits for all. The first failure is the cause; those behind it only say that the transaction was aborted. */
async function allOf<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  await Promise.allSettled(work);
  const values: unknown[] = [];
  for (const one of work) values.push(await one);
  return values as { -readonly [Index in keyof Work]: Awaited<Work[Index]> };
}

/**
 * By the callback: what the client's own promise answers with is kept until the next full collection, and everything that is read
 * passes through here.
 */
function ask(client: pg.PoolClient, query: pg.QueryConfig): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(query, (error: Error | null | undefined, result) => (error ? reject(error) : resolve(result)));
  });
}

/** Statements that are asked in one go leave in one piece: the server wakes up once for them, and not once for each. */
function gather(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
  stream.cork();
  void Promise.resolve().then(() => stream.uncork());
}

function openingOf(tenants: Tenants, nowMs: string): Call<unknown> {
  if (tenants === "platform") return call(openPlatform, nowMs);
  if ("organizations" in tenants) return call(openOrganizations, nowMs, tenants.organizations);
  if ("ofSubjects" in tenants) return call(openSubjects, nowMs, tenants.ofSubjects);
  return call(openAccount, nowMs, tenants.ofAccount);
}

async function prepareSession(client: pg.ClientBase, options: DatabaseOptions): Promise<void> {
  const { role } = options;
  // A policy of the platform or the end of a freeze wakes every subject there is.
  const { lockTimeoutMs = 15_000, statementTimeoutMs = role === "setpoint_admin" ? 600_000 : 60_000 } = options;
  await client.query(
    `set role ${role}; set lock_timeout = ${lockTimeoutMs}; set statement_timeout = ${statementTimeoutMs}; ` +
      // Locks of a process that stopped in mid-transaction must not stop the others for longer than this.
      "set idle_in_transaction_session_timeout = 10000",
  );
  if (role === "setpoint_admin") return;
  // These roles find rows by their keys, and planning their larger statements takes longer than running them. So they
  // are planned once and never to read whole tables: a plan made while a table was small outlives its growth.
  await client.query(
    "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off",
  );
}

/** bigint and bigint[] as numbers: ids, versions and milliseconds all fit, and what does not is an error. */
const getTypeParser = ((oid: number, format?: "text") =>
  oid === 20 ? safeInteger : (pg.types.getTypeParser(oid, format) as unknown)) as typeof pg.types.getTypeParser;

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for a number`);
  return value;
}
