import type { Call } from "../../src/store/statement.ts";
import { Database, type Tenants, type Transaction } from "../../src/store/database.ts";

/**
 * The production database that also counts its transactions, those that only read included. The server counts them too, but says
 * so up to ten seconds later, and what a short window then shows is what happened before it.
 */
export class CountingDatabase extends Database {
  transactions = 0;

  override transact<const Calls extends readonly Call<unknown>[]>(tenants: Tenants, calls: Calls) {
    this.transactions += 1;
    return super.transact(tenants, calls);
  }

  override transaction<Result>(tenants: Tenants, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    this.transactions += 1;
    return super.transaction(tenants, work);
  }
}
