import { accountCredentialBinding } from "../kernel/account-credential.ts";
import type { EngineKey, EngineOpener, EngineSealer } from "../ports/engine-seal.ts";
import type { AccountCredentialStore } from "../ports/secret-store.ts";
import type { DueEdge } from "../ports/signal.ts";
import type { Database } from "./database.ts";
import { authorPriority } from "./declare.ts";
import { wokenOf } from "./due-edges.ts";
import { logCall } from "./log-entries.ts";
import {
  accountsUnderOtherKey,
  currentEngineKey,
  insertEngineKey,
  lockEngineKeys,
  replaceAccountCredential,
  resealAccount,
  retireEngineKeys,
  type SealedAccountRow,
} from "./sql/secrets.ts";
import { wakeAccount } from "./sql/wake.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

const scheme = "sealed:";

export interface AccountCredentialStoreOptions {
  /** Of role `setpoint_api`. */
  readonly database: Database;
  /** Called after the commit with what became due. */
  readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
  /** Called after a commit that appended to the log. */
  readonly logged?: () => void;
}

/** Credentials of accounts, sealed to the engine: the API writes them and cannot read them. */
export class PostgresAccountCredentialStore implements AccountCredentialStore {
  readonly #options: AccountCredentialStoreOptions;

  constructor(options: AccountCredentialStoreOptions) {
    this.#options = options;
  }

  async engineKey(): Promise<EngineKey | undefined> {
    const [row] = await this.#options.database.run("platform", call(currentEngineKey));
    return row === undefined ? undefined : { id: row.id, publicKey: row.public_key };
  }

  async replace(request: Parameters<AccountCredentialStore["replace"]>[0]): Promise<boolean> {
    const { organizationId, accountId, write, read, author } = request;
    const tenant = requireOrganizationId(organizationId);
    const woken = await this.#options.database.transaction(tenant, async (tx) => {
      // Subjects before accounts, like everybody who takes both.
      const rows = await tx.run(wakeAccount, authorPriority(author), accountId, organizationId);
      const [account] = await tx.run(replaceAccountCredential, organizationId, accountId, write, read ?? null);
      if (account === undefined) return undefined;
      const data = { name: account.name, parts: read === undefined ? ["write"] : ["read", "write"] };
      const entry = logCall({ organizationId, type: "account.credential-replaced", uid: accountId, author, data });
      await tx.run(entry.statement, ...entry.values);
      return wokenOf(rows);
    });
    if (woken === undefined) return false;
    if (woken.shards.length > 0) this.#options.poke?.(woken.shards, woken.due);
    this.#options.logged?.();
    return true;
  }
}

export type EngineKeyState =
  | { readonly state: "registered" | "known" }
  /** Credentials are sealed to a key that this scheduler does not have as its current one. */
  | { readonly state: "other"; readonly currentId: string };

/**
 * Says to which key credentials are sealed from now on. The first scheduler decides; later a key takes over only from one
 * that its owner still has, which is what a rotation looks like. A scheduler with a key of its own changes nothing.
 */
export function registerEngineKey(administration: Database, opener: EngineOpener): Promise<EngineKeyState> {
  const { key, earlierIds } = opener;
  return administration.transaction("platform", async (tx) => {
    const [, [current]] = await Promise.all([tx.run(lockEngineKeys), tx.run(currentEngineKey)]);
    if (current?.id === key.id) return { state: "known" };
    if (current !== undefined && !earlierIds.includes(current.id)) return { state: "other", currentId: current.id };
    await tx.run(retireEngineKeys);
    await tx.run(insertEngineKey, key.id, key.publicKey);
    const data = { id: key.id, before: current?.id };
    const entry = logCall({ organizationId: undefined, type: "key.engine-registered", actor: "setpoint", data });
    await tx.run(entry.statement, ...entry.values);
    return { state: "registered" };
  });
}

/** Seals a batch of credentials anew to the current key. Answers with how many; to be repeated until there are none. */
export function resealAccounts(
  administration: Database,
  seal: { readonly opener: EngineOpener; readonly sealer: EngineSealer },
  batchSize: number,
): Promise<number> {
  const prefix = `${scheme}x1.${seal.opener.key.id}.`;
  return administration.transaction("platform", async (tx) => {
    const rows = await tx.run(accountsUnderOtherKey, prefix, batchSize);
    let moved = 0;
    for (const row of rows) {
      const anew = { write: resealed(seal, row, "write"), read: resealed(seal, row, "read") };
      if (anew.write === row.credential_ref && anew.read === row.read_credential_ref) continue;
      const before = [row.credential_ref, row.read_credential_ref] as const;
      await tx.run(resealAccount, row.organization_id, row.id, ...before, anew.write, anew.read);
      moved += 1;
    }
    return moved;
  });
}

/** What cannot be opened stays as it is: whoever has its key may still come. */
function resealed(
  { opener, sealer }: { readonly opener: EngineOpener; readonly sealer: EngineSealer },
  row: SealedAccountRow,
  part: "read" | "write",
): string | null {
  const reference = part === "write" ? row.credential_ref : row.read_credential_ref;
  if (reference === null || !reference.startsWith(scheme)) return reference;
  const sealed = reference.slice(scheme.length);
  if (opener.isCurrent(sealed)) return reference;
  const binding = accountCredentialBinding({ organizationId: row.organization_id, id: row.id }, part);
  try {
    return scheme + sealer.seal(opener.key, opener.open(sealed, binding), binding);
  } catch {
    return reference;
  }
}
