import type { LogPoint, SealedEntry } from "./read-store.ts";
import type { Principal } from "./records.ts";

export interface AuditFilter {
  readonly actor: string | undefined;
  /** The beginning of the type: `resource.`, `resource.created`. */
  readonly type: string | undefined;
  /** What it happened to: its uid, its name, or Kind/name. */
  readonly resource: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  /** Whether it came about, or was refused, rejected, given up or stands still. */
  readonly outcome: "done" | "not-done" | undefined;
}

/** Whose part of the log: an organization's own entries and no others, or everything there is. */
export type AuditScope = { readonly organizationId: string } | "platform";

/** The first and the last entry that are there. */
export interface AuditEnds {
  readonly first: SealedEntry | undefined;
  readonly last: SealedEntry | undefined;
}

/** The sealed log, as evidence. */
export interface AuditStore {
  /** Newest first. */
  list(request: {
    readonly scope: AuditScope;
    readonly filter: AuditFilter;
    readonly beforePosition: number | undefined;
    readonly limit: number;
  }): Promise<readonly SealedEntry[]>;
  /** Oldest first, up to a position: one page of an export. */
  page(request: {
    readonly scope: AuditScope;
    readonly filter: AuditFilter;
    readonly afterPosition: number;
    readonly upToPosition: number;
    readonly limit: number;
  }): Promise<readonly SealedEntry[]>;
  ends(scope: AuditScope): Promise<AuditEnds>;
  /** Who took a copy is part of the record. */
  noteExport(request: {
    readonly scope: AuditScope;
    readonly author: Principal;
    readonly format: string;
    readonly upTo: LogPoint | undefined;
  }): Promise<void>;
}
