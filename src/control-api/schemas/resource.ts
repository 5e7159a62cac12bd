import { z } from "zod";
import {
  apiVersion,
  jsonSchema,
  modeSchema,
  nameSchema,
  pageQuerySchema,
  timeSchema,
  verdictSchema,
} from "./common.ts";

const labelsSchema = z
  .record(z.string().regex(/^[a-z0-9]([a-z0-9./-]{0,61}[a-z0-9])?$/), z.string().max(128))
  .refine((labels) => Object.keys(labels).length <= 32, "at most 32 labels");

/** What people write. Everything that is not here is refused. */
export const manifestSchema = z
  .strictObject({
    apiVersion: z.literal(apiVersion),
    kind: z.string().min(1).max(63),
    metadata: z.strictObject({
      name: nameSchema,
      labels: labelsSchema.optional(),
      mode: modeSchema.optional(),
      protect: z.boolean().optional(),
    }),
    spec: jsonSchema,
  })
  .meta({ id: "Manifest" });
export type Manifest = z.output<typeof manifestSchema>;

export const conditionSchema = z
  .object({
    type: z.string(),
    status: z.enum(["True", "False", "Unknown"]),
    reason: z.string(),
    message: z.string(),
    since: timeSchema.optional(),
  })
  .meta({ id: "Condition", description: "Ready, Synced and Fresh are always there; others only while they are true." });
export type ConditionView = z.output<typeof conditionSchema>;

export const subjectStatusSchema = z
  .object({
    account: z.string().optional(),
    observedGeneration: z.int().optional(),
    differences: z.int().optional(),
    owned: z.int().optional(),
    lookedAt: timeSchema.optional(),
    confirmedAt: timeSchema.optional(),
    convergedAt: timeSchema.optional(),
    dueAt: timeSchema.optional(),
    heldBy: z.string().optional(),
    conditions: z.array(conditionSchema),
  })
  .meta({ id: "SubjectStatus" });

export const resourceSchema = z
  .object({
    apiVersion: z.literal(apiVersion),
    kind: z.string(),
    metadata: z.object({
      name: z.string(),
      organization: z.string(),
      project: z.string().optional(),
      workspace: z.string().optional(),
      uid: z.string(),
      generation: z.int(),
      revision: z.int(),
      labels: z.record(z.string(), z.string()),
      mode: modeSchema.optional(),
      protect: z.boolean(),
      declaredBy: z.string(),
      declaredAt: timeSchema,
      deletion: z.object({ by: z.string(), at: timeSchema, orphan: z.boolean() }).optional(),
    }),
    spec: jsonSchema,
    status: z.object({
      conditions: z.array(conditionSchema),
      subjects: z.array(subjectStatusSchema),
      /** Resources whose loop carries this one out, for kinds without a loop. */
      partOf: z.array(z.object({ kind: z.string(), name: z.string() })),
    }),
  })
  .meta({ id: "Resource" });
export type ResourceDocument = z.output<typeof resourceSchema>;

export const resourceListSchema = z
  .object({ items: z.array(resourceSchema), nextPageToken: z.string().optional() })
  .meta({ id: "ResourceList" });

export const resourceListQuerySchema = pageQuerySchema.extend({
  labels: z
    .string()
    .regex(/^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*$/, "must look like key=value,other=value")
    .optional(),
});

export const deleteQuerySchema = z.strictObject({
  orphan: z.stringbool({ truthy: ["true", ""], falsy: ["false"] }).default(false),
  confirm: z.coerce.number().int().min(0).optional(),
});

const historyEntrySchema = z
  .object({
    type: z.enum(["change", "verdict"]),
    at: timeSchema,
    words: z.string(),
    action: z.string().optional(),
    key: z.string().optional(),
    trigger: z.string().optional(),
    result: z.string().optional(),
    answer: z.string().optional(),
    differences: z
      .array(z.object({ field: z.string(), wanted: jsonSchema.optional(), seen: jsonSchema.optional() }))
      .optional(),
    declaredBy: z.array(z.object({ uid: z.string(), author: z.string(), at: timeSchema })).optional(),
    verdicts: z.array(verdictSchema),
    approved: z.boolean().optional(),
  })
  .meta({ id: "HistoryEntry" });
export type HistoryDocument = z.output<typeof historyEntrySchema>;

export const reasonSchema = z
  .object({
    topic: z.enum([
      "declared",
      "deletion",
      "mode",
      "pause",
      "hold",
      "look",
      "strangers",
      "condition",
      "held-change",
      "part-of",
    ]),
    /** Whether this is what keeps the resource from being as declared. */
    blocking: z.boolean(),
    words: z.string(),
    /** The command that answers it, where there is one. */
    command: z.string().optional(),
    data: jsonSchema.optional(),
  })
  .meta({ id: "Reason" });
export type Reason = z.output<typeof reasonSchema>;

export const whySchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    uid: z.string(),
    summary: z.string(),
    chain: z.array(reasonSchema),
    history: z.array(historyEntrySchema),
  })
  .meta({ id: "Why" });
export type WhyDocument = z.output<typeof whySchema>;

export const reconcileAnswerSchema = z.object({ kind: z.string(), name: z.string(), message: z.string() });
