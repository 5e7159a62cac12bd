import { Database, type DatabaseOptions, type Tenants, type Transaction } from "../../../src/store/database.ts";
import { type Call, type SqlValue, type Statement, statement } from "../../../src/store/statement.ts";

/** What became of a statement that was run by a role without a tenant. */
export interface Attempt {
  readonly role: string;
  readonly statement: string;
  readonly outcome: "error" | "nothing" | "rows";
  readonly detail: string;
}

const savepoint = statement<never>("test savepoint", "platform", "savepoint attempt");
const goBack = statement<never>("test go back", "platform", "rollback to savepoint attempt");
const forget = statement<unknown>("test forget", "platform", "select set_config('setpoint.organizations', '', true)");
const asApi = statement<unknown>("test as api", "platform", "set local role setpoint_api");

/**
 * The real database, except that each statement which touches tenants' rows is first run without a tenant: in the very
 * transaction that is about to run it, with all it has done so far, and undone again. What administration runs is tried
 * as the API.
 */
export class SuspiciousDatabase extends Database {
  readonly #attempts: Attempt[];

  constructor(options: DatabaseOptions, attempts: Attempt[]) {
    super(options);
    this.#attempts = attempts;
  }

  override transact<const Calls extends readonly Call<unknown>[]>(tenants: Tenants, calls: Calls) {
    return this.transaction(tenants, (tx) => tx.finish(calls));
  }

  override transaction<Result>(tenants: Tenants, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return super.transaction(tenants, (tx) => {
      // Statements stay in the order they were asked in, although each waits for its attempt.
      let last: Promise<unknown> = Promise.resolve();
      const run = <Row>(statement: Statement<Row>, ...values: readonly SqlValue[]): Promise<readonly Row[]> => {
        const answer = last.then(async () => {
          if (statement.touches === "tenants") await this.#try(tx, { statement, values });
          return tx.run(statement, ...values);
        });
        last = answer.catch(() => undefined);
        return answer;
      };
      // In turn, and committed when the work is done: an attempt may come before each.
      const finish = (async (calls) => {
        const rows: unknown[] = [];
        for (const one of calls) rows.push(await run(one.statement, ...one.values));
        return rows;
      }) as Transaction["finish"];
      return work({ run, finish });
    });
  }

  async #try(tx: Transaction, { statement, values }: Call<unknown>): Promise<void> {
    await tx.run(savepoint);
    await tx.run(forget);
    const isAdministration = this.role === "setpoint_admin";
    if (isAdministration) await tx.run(asApi);
    const attempt = await tx
      .run(statement, ...values)
      .then((rows) => ({ outcome: rows.length > 0 ? "rows" : "nothing", detail: `${rows.length} rows` }) as const)
      .catch((thrown: unknown) => ({ outcome: "error", detail: String(thrown) }) as const);
    await tx.run(goBack);
    const role = isAdministration ? "setpoint_api" : this.role;
    this.#attempts.push({ role, statement: statement.name, ...attempt });
  }
}
