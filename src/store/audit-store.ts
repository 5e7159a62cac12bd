import type { AuditEnds, AuditFilter, AuditScope, AuditStore } from "../ports/audit-store.ts";
import type { SealedEntry } from "../ports/read-store.ts";
import type { Database, Tenants } from "./database.ts";
import { logCall } from "./log-entries.ts";
import { sealedEntry } from "./read-store.ts";
import {
  auditEnds,
  auditPage,
  listAudit,
  listPlatformAudit,
  platformAuditEnds,
  platformAuditPage,
} from "./sql/audit.ts";
import type { SealedRow } from "./sql/reads.ts";
import { call, type SqlValue, type Statement } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface AuditStoreOptions {
  /** Of role `setpoint_api`: one organization's part. */
  readonly database: Database;
  /** Of role `setpoint_admin`: the whole. */
  readonly administration: Database;
  readonly logged?: () => void;
}

interface ForBoth {
  readonly tenant: Statement<SealedRow>;
  readonly platform: Statement<SealedRow>;
}

/** The sealed log on PostgreSQL, read as evidence. */
export class PostgresAuditStore implements AuditStore {
  readonly #options: AuditStoreOptions;

  constructor(options: AuditStoreOptions) {
    this.#options = options;
  }

  list({ scope, filter, beforePosition, limit }: Parameters<AuditStore["list"]>[0]): Promise<readonly SealedEntry[]> {
    const statements = { tenant: listAudit, platform: listPlatformAudit };
    return this.#read(scope, statements, ...filterValues(filter), beforePosition ?? null, limit);
  }

  page(request: Parameters<AuditStore["page"]>[0]): Promise<readonly SealedEntry[]> {
    const { scope, filter, afterPosition, upToPosition, limit } = request;
    const statements = { tenant: auditPage, platform: platformAuditPage };
    return this.#read(scope, statements, ...filterValues(filter), afterPosition, upToPosition, limit);
  }

  async ends(scope: AuditScope): Promise<AuditEnds> {
    const [first, last] = await this.#read(scope, { tenant: auditEnds, platform: platformAuditEnds });
    return { first, last };
  }

  async noteExport({ scope, author, format, upTo }: Parameters<AuditStore["noteExport"]>[0]): Promise<void> {
    const organizationId = scope === "platform" ? undefined : scope.organizationId;
    const data = { format, upToPosition: upTo?.position };
    const entry = logCall({ organizationId, type: "audit.exported", author, data });
    await this.#database(scope).run(tenantsOf(scope), entry);
    this.#options.logged?.();
  }

  async #read(scope: AuditScope, statements: ForBoth, ...values: readonly SqlValue[]): Promise<readonly SealedEntry[]> {
    const chosen = scope === "platform" ? statements.platform : statements.tenant;
    const organizationId = scope === "platform" ? null : scope.organizationId;
    const rows = await this.#database(scope).run(tenantsOf(scope), call(chosen, organizationId, ...values));
    return rows.map(sealedEntry);
  }

  #database(scope: AuditScope): Database {
    return scope === "platform" ? this.#options.administration : this.#options.database;
  }
}

function tenantsOf(scope: AuditScope): Tenants {
  return scope === "platform" ? "platform" : requireOrganizationId(scope.organizationId);
}

function filterValues({ actor, type, resource, fromMs, toMs, outcome }: AuditFilter): readonly SqlValue[] {
  return [actor ?? null, type ?? null, resource ?? null, fromMs ?? null, toMs ?? null, outcome ?? null];
}
