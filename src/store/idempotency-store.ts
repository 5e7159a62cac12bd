import type { BegunRequest, IdempotencyScope, IdempotencyStore, StoredAnswer } from "../ports/idempotency-store.ts";
import type { Database, Tenants, Transaction } from "./database.ts";
import { dropKey, finishKey, readKey, takeKey } from "./sql/idempotency.ts";
import { type Call, call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** Remembers answers on PostgreSQL. Each method is one transaction. */
export class PostgresIdempotencyStore implements IdempotencyStore {
  readonly #database: Database;
  readonly #administration: Database;

  /** `administration` serves requests that name no organization. */
  constructor(options: { readonly database: Database; readonly administration: Database }) {
    this.#database = options.database;
    this.#administration = options.administration;
  }

  begin: IdempotencyStore["begin"] = async ({ scope, fingerprint, forMs, keepMs }): Promise<BegunRequest> => {
    const key = keyOf(scope);
    const [taken, [known]] = await this.#for(scope).transact(tenants(scope), [
      call(takeKey, ...key, fingerprint, forMs, keepMs),
      call(readKey, ...key),
    ]);
    if (taken.length > 0 || known === undefined) return { result: "begun" };
    if (known.fingerprint !== fingerprint) return { result: "other-request" };
    if (known.status === null) return { result: "in-flight" };
    const { status, headers, body } = known;
    return { result: "answered", answer: { status, headers: headers ?? {}, body: body ?? undefined } };
  };

  finish: IdempotencyStore["finish"] = async ({ scope, answer }) => {
    await this.#for(scope).run(tenants(scope), finishing(scope, answer));
  };

  forget: IdempotencyStore["forget"] = async (scope) => {
    await this.#for(scope).run(tenants(scope), call(dropKey, ...keyOf(scope)));
  };

  #for({ organizationId }: IdempotencyScope): Database {
    return organizationId === undefined ? this.#administration : this.#database;
  }
}

/** Keeps the answer in the transaction of what it tells of. */
export async function finish(tx: Transaction, scope: IdempotencyScope, answer: StoredAnswer): Promise<void> {
  const { statement, values } = finishing(scope, answer);
  await tx.run(statement, ...values);
}

function finishing(scope: IdempotencyScope, { status, headers, body }: StoredAnswer): Call<never> {
  const stored = body === undefined ? null : JSON.stringify(body);
  return call(finishKey, ...keyOf(scope), status, JSON.stringify(headers), stored);
}

function keyOf({ organizationId, principal, key }: IdempotencyScope) {
  return [organizationId ?? null, principal, key] as const;
}

function tenants({ organizationId }: IdempotencyScope): Tenants {
  return organizationId === undefined ? "platform" : requireOrganizationId(organizationId);
}
