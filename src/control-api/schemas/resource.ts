import { z } from "zod";
import {
  apiVersion,
  fieldChangeSchema,
  jsonSchema,
  modeSchema,
  nameSchema,
  timeSchema,
  verdictSchema,
} from "./common.ts";

const labelsSchema = z
  .record(z.string().regex(/^[a-z0-9]([a-z0-9./-]{0,61}[a-z0-9])?$/), z.string().max(128))
  .refine((labels) => Object.keys(labels).length <= 32, "at most 32 labels");

/** What people write. Everything that is not here is refused. */
export const manifestSchema = z
  .strictObject({
    apiVersion: z.literal(apiVersion).meta({ description: "The version of this form." }),
    kind: z.string().min(1).max(63).meta({ description: "What it is." }),
    metadata: z
      .strictObject({
        name: nameSchema,
        labels: labelsSchema.optional().meta({ description: "Words of your own, to find and to prune by." }),
        mode: modeSchema.optional(),
        protect: z
          .boolean()
          .optional()
          .meta({ description: "Nothing that it made outside is deleted while this is true." }),
      })
      .meta({ description: "What it is called, and how far its loop may go." }),
    spec: jsonSchema,
  })
  .meta({ id: "Manifest" });
export type Manifest = z.output<typeof manifestSchema>;

const conditionSchema = z
  .object({
    type: z.string(),
    status: z.enum(["True", "False", "Unknown"]),
    reason: z.string(),
    message: z.string(),
    since: timeSchema.optional(),
  })
  .meta({ id: "Condition", description: "Ready, Synced and Fresh are always there; others only while they are true." });
export type ConditionView = z.output<typeof conditionSchema>;

const cycleTraceSchema = z
  .object({
    at: timeSchema,
    result: z.string(),
    spentMs: z.object({ observe: z.number(), diff: z.number(), guard: z.number(), act: z.number() }),
    /** Sizes of the diff sets before the guards. */
    create: z.int(),
    update: z.int(),
    delete: z.int(),
    written: z.int(),
  })
  .meta({ id: "CycleTrace" });
export type CycleTraceDocument = z.output<typeof cycleTraceSchema>;

const subjectStatusSchema = z
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
    /** What the loop reports beside its verdict, in the form its kind documents. */
    report: jsonSchema.optional(),
    /** The last cycles that changed the status, the oldest first: what each found, and where its time went. */
    cycles: z.array(cycleTraceSchema).optional(),
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
      /** Grows with every change of the status. Revision and this together order what a watch shows. */
      statusRevision: z.int(),
      labels: z.record(z.string(), z.string()),
      mode: modeSchema.optional(),
      protect: z.boolean(),
      declaredBy: z.string(),
      declaredAt: timeSchema,
      deletion: z.object({ by: z.string(), at: timeSchema, orphan: z.boolean() }).optional(),
      /** Who set each field, by its pointer. Not in lists. */
      owners: z.record(z.string(), z.string()).optional(),
    }),
    spec: jsonSchema,
    status: z.object({
      conditions: z.array(conditionSchema),
      subjects: z.array(subjectStatusSchema),
      /** Resources whose loop carries this one out, for kinds without a loop. */
      partOf: z.array(z.object({ kind: z.string(), name: z.string() })),
      /** How far its loop may go after every scope above it has spoken, and which of them said so. Not in the answer to a create. */
      effectiveMode: z.object({ mode: modeSchema, from: z.string() }).optional(),
      /**
       * How many differences there are, over all its subjects; of a kind without a loop: in what carries it out. Not there before
       * everything was looked at.
       */
      differences: z.int().optional(),
      /** When all of it was last confirmed, of a kind without a loop: when what carries it out was. */
      confirmedAt: timeSchema.optional(),
      /** Of what those loops report: what speaks of this resource. */
      report: jsonSchema.optional(),
    }),
  })
  .meta({ id: "Resource" });
export type ResourceDocument = z.output<typeof resourceSchema>;

export const resourceListSchema = z
  .object({
    items: z.array(resourceSchema),
    /** There may be more, also where this page is short or empty. */
    nextPageToken: z.string().optional(),
    metadata: z.object({
      /** The end of the log before this was read: watch from here, and nothing is missed. */
      position: z.string(),
    }),
  })
  .meta({ id: "ResourceList" });

export const statusSubresourceSchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    uid: z.string(),
    generation: z.int(),
    statusRevision: z.int(),
    status: resourceSchema.shape.status,
  })
  .meta({ id: "ResourceStatus" });

const declarationSchema = z
  .object({
    revision: z.int(),
    generation: z.int(),
    by: z.string(),
    at: timeSchema,
    spec: jsonSchema,
    labels: z.record(z.string(), z.string()),
    mode: modeSchema.optional(),
    protect: z.boolean(),
    /** What this one changed; absent where the one before is no longer kept. */
    changes: z.array(fieldChangeSchema).optional(),
  })
  .meta({ id: "Declaration" });
export type DeclarationDocument = z.output<typeof declarationSchema>;
export const declarationListSchema = z.object({ items: z.array(declarationSchema) }).meta({ id: "DeclarationList" });

const resourceEventSchema = z
  .object({ type: z.string(), at: timeSchema, by: z.string(), revision: z.int().optional(), position: z.string() })
  .meta({ id: "ResourceEvent" });
export const resourceEventListSchema = z
  .object({ items: z.array(resourceEventSchema) })
  .meta({ id: "ResourceEventList" });

export const rollbackBodySchema = z
  .strictObject({ toGeneration: z.int().min(1).optional(), toRevision: z.int().min(1).optional() })
  .refine(
    ({ toGeneration, toRevision }) => (toGeneration === undefined) !== (toRevision === undefined),
    "name either toGeneration or toRevision",
  )
  .meta({ id: "Rollback" });

const historyEntrySchema = z
  .object({
    type: z.enum(["change", "verdict", "declaration"]),
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
    /** Of a declaration: its revision, who declared it, and what it changed. */
    revision: z.int().optional(),
    by: z.string().optional(),
    changes: z.array(fieldChangeSchema).optional(),
  })
  .meta({ id: "HistoryEntry" });
export type HistoryDocument = z.output<typeof historyEntrySchema>;

const reasonSchema = z
  .object({
    topic: z.enum([
      "declared",
      "deletion",
      "mode",
      "pause",
      "hold",
      "operation",
      "look",
      "strangers",
      "condition",
      "held-change",
      "part-of",
      "ignored",
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

export const historySchema = z.object({ items: z.array(historyEntrySchema) }).meta({ id: "History" });

const seenItemSchema = z
  .object({
    key: z.string(),
    externalId: z.string(),
    item: jsonSchema,
    /** Whether it is ours: made here, or taken over by approval. */
    owned: z.boolean(),
    /** The resources that declare it; empty: nobody does. */
    declaredBy: z.array(z.object({ kind: z.string(), name: z.string() })),
    /** What would declare it just as it is; only of what nobody declares. */
    manifest: manifestSchema.optional(),
    /** Why nothing can declare it. */
    problem: z.string().optional(),
  })
  .meta({ id: "SeenItem" });
export type SeenItemDocument = z.output<typeof seenItemSchema>;

export const observationSchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    subjects: z.array(
      z.object({
        account: z.string().optional(),
        completeness: z.enum(["complete", "partial", "failed"]),
        /** When it was last seen to be so. */
        at: timeSchema,
        /** Items were left out to keep the record bounded. */
        truncated: z.boolean(),
        items: z.array(seenItemSchema),
      }),
    ),
  })
  .meta({ id: "Observation", description: "What was last seen outside. Empty: it was not looked at yet." });
export type ObservationDocument = z.output<typeof observationSchema>;

export const reconcileAnswerSchema = z.object({ kind: z.string(), name: z.string(), message: z.string() });
