import { z } from "zod";
import { jsonSchema, timeSchema } from "./common.ts";

const stateSchema = z.enum(["running", "held", "attention", "succeeded", "not-run", "cancelled"]).meta({
  description:
    "running: it has something to do, now or later. held: its plan waits for approval. attention: it waits for a person. The others are ends.",
});

export const operationSchema = z
  .object({
    id: z.string(),
    pipeline: z.string(),
    version: z.int(),
    state: stateSchema,
    direction: z.enum(["forward", "back"]).meta({ description: "back: what was made is being taken back" }),
    resource: z.object({ kind: z.string(), name: z.string(), uid: z.string() }),
    startedBy: z.string(),
    createdAt: timeSchema,
    startedAt: timeSchema.optional(),
    endedAt: timeSchema.optional(),
    step: z.string().optional(),
    attempts: z.int().meta({ description: "Failed attempts at the step it is at" }),
    message: z.string().meta({ description: "What it does or waits for" }),
    dueAt: timeSchema.optional(),
    ahead: z.int().optional().meta({
      description: "Operations of all organizations that have their turn before it, while it waits for its first one",
    }),
    aheadOwn: z.int().optional().meta({ description: "Those of its own organization among them" }),
    waitsFor: z.string().optional().meta({ description: "What has to come before it goes on" }),
    holdSince: timeSchema.optional(),
    cancel: z.object({ by: z.string(), at: timeSchema, reason: z.string() }).optional(),
    needsAttention: z
      .boolean()
      .meta({ description: "It waits for somebody, or holds its resource for over 15 minutes" }),
    attentionBecause: z.string().optional().meta({ description: "Why, and whose it is" }),
    can: z.array(z.enum(["cancel", "resume", "retry", "skip", "release"])),
    revision: z.int(),
  })
  .meta({ id: "Operation", description: "One run of a pipeline." });
export type OperationDocument = z.output<typeof operationSchema>;

export const stepEntrySchema = z
  .object({
    place: z.int(),
    step: z.string(),
    direction: z.enum(["forward", "back"]),
    result: z.enum(["done", "skipped", "begun", "failed", "noted", "again", "moved"]),
    at: timeSchema,
    attempt: z.int().optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    tookMs: z.number().optional(),
    input: jsonSchema.optional(),
    output: jsonSchema.optional(),
  })
  .meta({ id: "OperationStep", description: "One line of an operation's journal." });

export const operationListSchema = z.object({ items: z.array(operationSchema), nextPage: z.string().optional() });
export const stepListSchema = z.object({ items: z.array(stepEntrySchema) });

export const operationListQuerySchema = z.strictObject({
  state: stateSchema.optional(),
  attention: z.stringbool().optional().meta({ description: "Only those that need somebody" }),
  pageSize: z.coerce.number().int().min(1).max(500).default(100),
  page: z.string().max(100).optional(),
});
export const operationQuerySchema = z.strictObject({
  watch: z.stringbool().default(false).meta({ description: "Server-sent events until it ends, instead of one answer" }),
});

export const startBodySchema = z.strictObject({
  pipeline: z.string().min(1).max(100),
  version: z.int().min(1).optional().meta({ description: "Of the pipeline; the newest unless said" }),
  input: jsonSchema.optional(),
});
export const steerBodySchema = z.strictObject({ reason: z.string().min(1).max(500) });
export const steerStepBodySchema = steerBodySchema.extend({ step: z.string().min(1).max(100) });
