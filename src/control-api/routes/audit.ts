import { Readable } from "node:stream";
import { z } from "zod";
import { epochMsOf } from "../../kernel/iso-time.ts";
import type { AuditFilter, AuditScope } from "../../ports/audit-store.ts";
import type { SealedEntry } from "../../ports/read-store.ts";
import { entryDocument } from "../audit/entry-document.ts";
import { exportCsv, exportLines } from "../audit/export.ts";
import type { Caller } from "../access/caller.ts";
import type { Need } from "../access/need.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route, type RouteAnswer } from "../route.ts";
import {
  auditExportQuerySchema,
  auditHeadSchema,
  auditListSchema,
  type AuditQuery,
  auditQuerySchema,
} from "../schemas/audit.ts";
import { nameSchema } from "../schemas/common.ts";
import { requireScope } from "../scope.ts";

interface Part {
  readonly path: string;
  readonly whose: string;
  readonly parameters: typeof organizationParameters;
  readonly need: (action: "read" | "execute") => Exclude<Need, { readonly at: "nobody" }>;
  scopeOf(parameters: { readonly organization?: string | undefined }): Promise<AuditScope>;
}

const organizationParameters = z.strictObject({ organization: nameSchema.optional() });
const tag = "audit";

/** The same three routes for an organization's part of the log and for all of it. */
export function auditRoutes(context: ApiContext): readonly Route[] {
  const organization: Part = {
    path: "/v1/organizations/{organization}/audit",
    whose: "an organization",
    parameters: z.strictObject({ organization: nameSchema }) as unknown as typeof organizationParameters,
    need: (action) => ({ at: "path", key: "organization.audit", action }),
    scopeOf: async (parameters) => {
      const names = { organization: parameters.organization ?? "" };
      return { organizationId: (await requireScope(context, names)).organizationId };
    },
  };
  const platform: Part = {
    path: "/v1/audit",
    whose: "the platform and every organization",
    parameters: z.strictObject({}) as unknown as typeof organizationParameters,
    need: (action) => ({ at: "platform", key: "platform.audit", action }),
    scopeOf: async () => "platform",
  };
  return [organization, platform].flatMap((part) => [
    listRoute(context, part),
    exportRoute(context, part),
    headRoute(context, part),
  ]);
}

function listRoute(context: ApiContext, part: Part): Route {
  return defineRoute({
    method: "GET",
    path: part.path,
    summary: `Who did what, when, why and from where: the audit trail of ${part.whose}`,
    need: part.need("read"),
    tag,
    parameters: part.parameters,
    query: auditQuerySchema,
    answers: { 200: { description: "Newest first", schema: auditListSchema } },
    handle: async ({ parameters, query }) => {
      const scope = await part.scopeOf(parameters);
      const beforePosition = query.pageToken === undefined ? undefined : positionOf(query.pageToken);
      const limit = query.pageSize + 1;
      const found = await context.audit.list({ scope, filter: filterOf(query), beforePosition, limit });
      const items = found.slice(0, query.pageSize);
      const last = items.at(-1);
      const more = found.length > query.pageSize && last !== undefined ? { nextPageToken: tokenOf(last) } : {};
      return { status: 200, body: { items: items.map(entryDocument), ...more } };
    },
  });
}

function exportRoute(context: ApiContext, part: Part): Route {
  return defineRoute({
    method: "GET",
    path: `${part.path}/export`,
    summary: `Export the audit trail of ${part.whose}: as JSON lines that prove themselves, or as CSV`,
    need: part.need("execute"),
    tag,
    parameters: part.parameters,
    query: auditExportQuerySchema,
    answers: { 200: { description: "A stream: a header, the entries oldest first, and an end" } },
    handle: async ({ caller, parameters, query }) => {
      const scope = await part.scopeOf(parameters);
      return await startExport(context, caller, scope, query);
    },
  });
}

async function startExport(
  context: ApiContext,
  caller: Caller,
  scope: AuditScope,
  query: z.output<typeof auditExportQuerySchema>,
): Promise<RouteAnswer> {
  const { last } = await context.audit.ends(scope);
  const upTo = last === undefined ? undefined : { position: last.position, hash: last.hash };
  await context.audit.noteExport({ scope, author: caller.principal, format: query.format, upTo });
  const request = { store: context.audit, scope, filter: filterOf(query), upTo, nowMs: context.clock.nowMs() };
  const isCsv = query.format === "csv";
  const body = Readable.from(isCsv ? exportCsv(request) : exportLines(request), { objectMode: false });
  const type = isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson";
  const file = `attachment; filename="setpoint-audit.${isCsv ? "csv" : "ndjson"}"`;
  return { status: 200, headers: { "content-type": type, "content-disposition": file }, body };
}

function headRoute(context: ApiContext, part: Part): Route {
  return defineRoute({
    method: "GET",
    path: `${part.path}/head`,
    summary: `Where the audit trail of ${part.whose} begins and ends`,
    need: part.need("read"),
    tag,
    parameters: part.parameters,
    answers: { 200: { description: "Compare it with the end of an export", schema: auditHeadSchema } },
    handle: async ({ parameters }) => {
      const { first, last } = await context.audit.ends(await part.scopeOf(parameters));
      return { status: 200, body: { ...pointOf("first", first), ...pointOf("last", last) } };
    },
  });
}

function pointOf(name: string, entry: SealedEntry | undefined): object {
  return entry === undefined ? {} : { [name]: { position: entry.position, hash: entry.hash } };
}

function filterOf(query: Pick<AuditQuery, "actor" | "type" | "resource" | "from" | "to" | "outcome">): AuditFilter {
  const { actor, type, resource, from, to, outcome } = query;
  return {
    actor,
    type,
    resource,
    outcome,
    fromMs: from === undefined ? undefined : epochMsOf(from),
    toMs: to === undefined ? undefined : epochMsOf(to),
  };
}

function tokenOf({ position }: SealedEntry): string {
  return Buffer.from(String(position)).toString("base64url");
}

function positionOf(token: string): number {
  const text = Buffer.from(token, "base64url").toString();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Problem("FIELDS_INVALID", "The page token is not one that was given out here: begin without one", {
    errors: [{ pointer: "/pageToken", message: "is not a page token" }],
  });
}
