import { z } from "zod";
import { jsonSchema, pageQuerySchema, timeSchema } from "./common.ts";

const filterShape = {
  actor: z.string().min(1).max(320).optional().meta({ description: "Who: the name of the person or machine." }),
  type: z
    .string()
    .regex(/^[a-z][a-z.-]{0,99}$/, "must be a type of entry or its beginning, such as resource. or pause.placed")
    .optional(),
  resource: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .meta({ description: "What it happened to: its uid, its name, or Kind/name." }),
  from: timeSchema.optional(),
  to: timeSchema.optional(),
  outcome: z.enum(["done", "not-done"]).optional().meta({
    description: "not-done: what was refused, rejected, withdrawn or cancelled, is overdue, or waits for somebody.",
  }),
};
export const auditQuerySchema = pageQuerySchema.extend(filterShape);
export type AuditQuery = z.output<typeof auditQuerySchema>;
export const auditExportQuerySchema = z.strictObject({
  ...filterShape,
  format: z.enum(["ndjson", "csv"]).default("ndjson"),
});

const logPointSchema = z.object({ position: z.int(), hash: z.string() }).meta({ id: "LogPoint" });

/** One entry for people: who, what, when, why and from where. */
const auditEntrySchema = z
  .object({
    position: z.int(),
    at: timeSchema,
    type: z.string(),
    actor: z.string(),
    actorType: z.string().optional(),
    credential: z.string().optional().meta({ description: "Type and id of what they proved themselves with." }),
    address: z.string().optional(),
    requestId: z.string().optional(),
    reason: z.string().optional().meta({ description: "What they gave as the reason (Setpoint-Reason)." }),
    organizationId: z.string(),
    resource: z.string().optional(),
    revision: z.int().optional(),
    before: z.string().optional().meta({ description: "SHA-256 of the canonical JSON of what was before." }),
    after: z.string().optional(),
    data: jsonSchema,
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntryDocument = z.output<typeof auditEntrySchema>;
export const auditListSchema = z.object({ items: z.array(auditEntrySchema), nextPageToken: z.string().optional() });
export const auditHeadSchema = z
  .object({ first: logPointSchema.optional(), last: logPointSchema.optional() })
  .meta({ id: "AuditHead", description: "The first and the last entry that are there now." });

/** The lines of an export: a header, the entries as they were sealed, and an end that says what should be there. */
export const exportHeaderSchema = z.strictObject({
  setpoint: z.literal("audit-export"),
  version: z.literal(1),
  scope: z.string(),
  /** Filtered: each entry can be checked, and whether one is missing cannot. */
  filtered: z.boolean(),
  /** What the first entry follows on; null at the beginning of the log. */
  after: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
  exportedAt: z.string(),
});
export type ExportHeader = z.output<typeof exportHeaderSchema>;

export const sealedEntrySchema = z.strictObject({
  incarnation: z.int(),
  position: z.int(),
  organizationId: z.string(),
  type: z.string(),
  uid: z.string().optional(),
  revision: z.int().optional(),
  actor: z.string(),
  data: jsonSchema,
  trail: z.record(z.string(), z.string()).optional(),
  atMs: z.int(),
  tenantLink: z.strictObject({ position: z.int(), hash: z.string() }).optional(),
  previousHash: z.string(),
  hash: z.string(),
});

export const exportEndSchema = z.strictObject({
  end: z.strictObject({
    entries: z.int(),
    position: z.int().nullable(),
    hash: z.string().nullable(),
    headerHash: z.string(),
  }),
});
