import { isoTime } from "../../kernel/iso-time.ts";
import type { AuditFilter, AuditScope, AuditStore } from "../../ports/audit-store.ts";
import type { LogPoint, SealedEntry } from "../../ports/read-store.ts";
import type { ExportHeader } from "../schemas/audit.ts";
import { headerHash } from "../schemas/audit-export.ts";
import { pointBefore } from "../schemas/export-chain.ts";
import { csvLine } from "./csv.ts";
import { entryDocument } from "./entry-document.ts";

const pageSize = 500;

export interface ExportRequest {
  readonly store: AuditStore;
  readonly scope: AuditScope;
  readonly filter: AuditFilter;
  /** The end of the log when the export began: what comes later is not part of it. */
  readonly upTo: LogPoint | undefined;
  readonly nowMs: number;
}

/** As JSON, one line each: what `setpoint audit verify` checks without asking anybody. */
export async function* exportLines(request: ExportRequest): AsyncGenerator<string> {
  const scope = request.scope === "platform" ? "platform" : `organization/${request.scope.organizationId}`;
  const header: ExportHeader = {
    setpoint: "audit-export",
    version: 1,
    scope,
    filtered: Object.values(request.filter).some((value) => value !== undefined),
    after: null,
    exportedAt: isoTime(request.nowMs),
  };
  let headerLine: string | undefined;
  let last: SealedEntry | undefined;
  let count = 0;
  for await (const entry of entries(request)) {
    if (headerLine === undefined) {
      headerLine = JSON.stringify({ ...header, after: pointBefore(entry, scope) ?? null });
      yield `${headerLine}\n`;
    }
    count += 1;
    last = entry;
    yield `${JSON.stringify(entry)}\n`;
  }
  if (headerLine === undefined) {
    headerLine = JSON.stringify(header);
    yield `${headerLine}\n`;
  }
  const end = { entries: count, position: last?.position ?? null, hash: last?.hash ?? null };
  yield `${JSON.stringify({ end: { ...end, headerHash: headerHash(headerLine) } })}\n`;
}

const columns = [
  "position",
  "at",
  "type",
  "actor",
  "actorType",
  "credential",
  "address",
  "requestId",
  "reason",
  "organizationId",
  "resource",
  "revision",
  "before",
  "after",
  "data",
  "hash",
] as const;

/** For spreadsheets. It carries the hashes and not all that they were made of: verify the JSON. */
export async function* exportCsv(request: ExportRequest): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const entry of entries(request)) {
    const document = { ...entryDocument(entry), data: JSON.stringify(entry.data) };
    yield csvLine(columns.map((column) => document[column]));
  }
}

async function* entries({ store, scope, filter, upTo }: ExportRequest): AsyncGenerator<SealedEntry> {
  if (upTo === undefined) return;
  let afterPosition = 0;
  for (;;) {
    const page = await store.page({ scope, filter, afterPosition, upToPosition: upTo.position, limit: pageSize });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    afterPosition = last.position;
  }
}
