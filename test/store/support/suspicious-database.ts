import { Client } from "pg";
import {
  Database,
  type DatabaseOptions,
  type DatabaseRole,
  type Tenants,
  type Transaction,
} from "../../../src/store/database.ts";
import type { Call, SqlValue, Statement } from "../../../src/store/statement.ts";

/** What became of a statement that was run by a role without a tenant. */
export interface Attempt {
  readonly role: string;
  readonly statement: string;
  readonly outcome: "error" | "nothing" | "rows";
  readonly detail: string;
}

const roles = ["setpoint_api", "setpoint_engine"] as const;

/**
 * Runs each statement that touches tenants' rows without a tenant first, as the role that is about to run it, and keeps
 * what happened. What administration runs is tried as the API.
 */
export class Suspicion implements AsyncDisposable {
  readonly attempts: Attempt[] = [];
  readonly #clients: ReadonlyMap<string, Client>;

  private constructor(clients: ReadonlyMap<string, Client>) {
    this.#clients = clients;
  }

  static async open(url: string): Promise<Suspicion> {
    const clients = new Map<string, Client>();
    for (const role of roles) {
      const client = new Client(url);
      await client.connect();
      await client.query(`set role ${role}; set lock_timeout = 200`);
      // A pooled connection that served a tenant before reads the setting as ''; both must fail.
      if (role === "setpoint_api") await client.query("begin; set local setpoint.organizations = '{}'; commit");
      clients.set(role, client);
    }
    return new Suspicion(clients);
  }

  async try(by: DatabaseRole, { statement, values }: Call<unknown>): Promise<void> {
    if (statement.touches !== "tenants") return;
    for (const [role, client] of this.#clients) {
      if (role !== (by === "setpoint_admin" ? "setpoint_api" : by)) continue;
      await client.query("begin");
      const attempt = await client
        .query(statement.text, [...values])
        .then(
          ({ rowCount }) =>
            ({ outcome: (rowCount ?? 0) > 0 ? "rows" : "nothing", detail: `${rowCount} rows` }) as const,
        )
        .catch((thrown: unknown) => {
          // It stood in front of a row that the real transaction has locked: that proves nothing.
          const isStuck = String(thrown).includes("lock timeout");
          return { outcome: isStuck ? "nothing" : "error", detail: String(thrown) } as const;
        });
      await client.query("rollback");
      this.attempts.push({ role, statement: statement.name, ...attempt });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) await client.end();
  }
}

/** The real database, with every statement tried without a tenant before it runs. */
export class SuspiciousDatabase extends Database {
  readonly #suspicion: Suspicion;

  constructor(options: DatabaseOptions, suspicion: Suspicion) {
    super(options);
    this.#suspicion = suspicion;
  }

  override async transact<const Calls extends readonly Call<unknown>[]>(tenants: Tenants, calls: Calls) {
    for (const one of calls) await this.#suspicion.try(this.role, one);
    return super.transact(tenants, calls);
  }

  override transaction<Result>(tenants: Tenants, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return super.transaction(tenants, (tx) => {
      // Statements stay in the order they were asked in, although each waits for its attempt.
      let last: Promise<unknown> = Promise.resolve();
      const run = <Row>(statement: Statement<Row>, ...values: readonly SqlValue[]): Promise<readonly Row[]> => {
        const answer = last.then(async () => {
          await this.#suspicion.try(this.role, { statement, values });
          return tx.run(statement, ...values);
        });
        last = answer.catch(() => undefined);
        return answer;
      };
      return work({ run });
    });
  }
}
