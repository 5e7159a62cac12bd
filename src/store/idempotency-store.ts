import type { BegunRequest, IdempotencyScope, IdempotencyStore } from "../ports/idempotency-store.ts";
import type { Database, Tenants } from "./database.ts";
import { dropKey, finishKey, readKey, takeKey } from "./sql/idempotency.ts";
import { call } from "./statement.ts";
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

  finish: IdempotencyStore["finish"] = async ({ scope, answer: { status, headers, body } }) => {
    const stored = body === undefined ? null : JSON.stringify(body);
    const values = [...keyOf(scope), status, JSON.stringify(headers), stored];
    await this.#for(scope).run(tenants(scope), call(finishKey, ...values));
  };

  forget: IdempotencyStore["forget"] = async (scope) => {
    await this.#for(scope).run(tenants(scope), call(dropKey, ...keyOf(scope)));
  };

  #for({ organizationId }: IdempotencyScope): Database {
    return organizationId === undefined ? this.#administration : this.#database;
  }
}

function keyOf({ organizationId, principal, key }: IdempotencyScope) {
  return [organizationId ?? null, principal, key] as const;
}

function tenants({ organizationId }: IdempotencyScope): Tenants {
  return organizationId === undefined ? "platform" : requireOrganizationId(organizationId);
}
