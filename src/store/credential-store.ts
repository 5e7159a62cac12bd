import type {
  CredentialOwner,
  CredentialRecord,
  CredentialState,
  CredentialStore,
  NewCredential,
} from "../ports/credential-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Database, Transaction } from "./database.ts";
import { logCall } from "./log-entries.ts";
import {
  type CredentialRow,
  findCredential,
  insertCredential,
  listCredentials,
  listPersonalCredentials,
  noteCredentialUses,
  redeemCredential,
  revokeCredential,
  revokeCredentialByHash,
  revokePersonalCredential,
} from "./sql/credentials.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface CredentialStoreOptions {
  /** Of role `setpoint_api`: an organization's tokens. */
  readonly database: Database;
  /** Of role `setpoint_admin`: personal tokens, and the search for a token before its organization is known. */
  readonly administration: Database;
  /** Called after a commit that appended to the log. */
  readonly logged?: () => void;
}

/** Tokens on PostgreSQL. Each method is one transaction with its log entry. */
export class PostgresCredentialStore implements CredentialStore {
  readonly #options: CredentialStoreOptions;

  constructor(options: CredentialStoreOptions) {
    this.#options = options;
  }

  async create(request: NewCredential): Promise<CredentialRecord> {
    const { id, organizationId, type, name, hash, scope, bindings, personId, author, forMs } = request;
    const [[row]] = await this.#for(organizationId).transact(tenantOf(organizationId), [
      call(
        insertCredential,
        id,
        organizationId ?? null,
        type,
        name,
        hash,
        scope,
        bindings === undefined ? null : JSON.stringify(bindings),
        personId ?? null,
        author.name,
        Math.round(forMs),
      ),
      logCall({
        organizationId,
        type: "credential.created",
        uid: id,
        author,
        data: { type, name, scope, forMs: Math.round(forMs), bindings: JSON.stringify(bindings ?? "as its maker") },
      }),
    ]);
    this.#options.logged?.();
    if (row === undefined) throw new Error(`The token ${id} was not stored`);
    return record(row);
  }

  async list(owner: CredentialOwner): Promise<readonly CredentialRecord[]> {
    const rows = await (owner.organizationId === undefined
      ? this.#options.administration.run("platform", call(listPersonalCredentials, owner.personId ?? null))
      : this.#options.database.run(
          requireOrganizationId(owner.organizationId),
          call(listCredentials, owner.organizationId, owner.scope ?? null, owner.type ?? null),
        ));
    return rows.map(record);
  }

  async find(hash: string): Promise<CredentialRecord | undefined> {
    const [row] = await this.#options.administration.run("platform", call(findCredential, hash));
    return row === undefined ? undefined : record(row);
  }

  revoke({ owner, id, author }: Parameters<CredentialStore["revoke"]>[0]): Promise<CredentialRecord | undefined> {
    const { organizationId } = owner;
    return this.#end(organizationId, author, "credential.revoked", (tx) =>
      owner.organizationId === undefined
        ? tx.run(revokePersonalCredential, id, author.name, owner.personId ?? null)
        : tx.run(revokeCredential, id, author.name, owner.organizationId, owner.scope ?? null, owner.type ?? null),
    );
  }

  revokeByHash({
    hash,
    author,
  }: Parameters<CredentialStore["revokeByHash"]>[0]): Promise<CredentialRecord | undefined> {
    return this.#end(undefined, author, "credential.revoked", (tx) =>
      tx.run(revokeCredentialByHash, hash, author.name),
    );
  }

  async noteUses(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#options.administration.run("platform", call(noteCredentialUses, ids));
  }

  redeem(hash: string): Promise<CredentialRecord | undefined> {
    const author: Principal = { name: "agent", type: "machine" };
    return this.#end(undefined, author, "credential.redeemed", (tx) => tx.run(redeemCredential, hash));
  }

  /** Changes one token, and says so in the log of whom it belongs to. */
  async #end(
    organizationId: string | undefined,
    author: Principal,
    type: string,
    change: (tx: Transaction) => Promise<readonly CredentialRow[]>,
  ): Promise<CredentialRecord | undefined> {
    const ended = await this.#for(organizationId).transaction(tenantOf(organizationId), async (tx) => {
      const [row] = await change(tx);
      if (row === undefined) return undefined;
      const entry = logCall({
        organizationId: row.organization_id ?? undefined,
        type,
        uid: row.id,
        author,
        data: { type: row.type, name: row.name, scope: row.scope },
      });
      await tx.run(entry.statement, ...entry.values);
      return record(row);
    });
    if (ended !== undefined) this.#options.logged?.();
    return ended;
  }

  #for(organizationId: string | undefined): Database {
    return organizationId === undefined ? this.#options.administration : this.#options.database;
  }
}

function tenantOf(organizationId: string | undefined) {
  return organizationId === undefined ? "platform" : requireOrganizationId(organizationId);
}

function record(row: CredentialRow): CredentialRecord {
  return {
    id: row.id,
    organizationId: row.organization_id ?? undefined,
    type: row.type,
    name: row.name,
    scope: row.scope,
    bindings: row.bindings?.map((binding) => ({ ...binding, organizationId: binding.organizationId ?? undefined })),
    personId: row.person_id ?? undefined,
    maker: row.maker,
    state: stateOf(row),
    madeAtMs: row.made_at_ms,
    expiresAtMs: row.expires_at_ms,
    expiresInMs: row.expires_at_ms - row.now_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}

function stateOf(row: CredentialRow): CredentialState {
  if (row.revoked_at_ms !== null) return "revoked";
  if (row.redeemed_at_ms !== null) return "redeemed";
  return row.expires_at_ms <= row.now_ms ? "expired" : "active";
}
