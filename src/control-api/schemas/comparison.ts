import { z } from "zod";
import { jsonSchema, timeSchema } from "./common.ts";

const comparedFieldSchema = z
  .object({
    field: z.string(),
    declared: jsonSchema.optional(),
    /** What a cycle last wanted there. */
    last: jsonSchema.optional(),
    seen: jsonSchema.optional(),
    /** Set where it is left as it is: the rule's reason, its end if it has one, and the scope that has it. */
    ignored: z.object({ reason: z.string(), from: z.string(), until: timeSchema.optional() }).optional(),
  })
  .meta({ id: "ComparedField" });

const asSeenSchema = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    kind: z.string(),
    name: z.string(),
    /** The route of the resource to edit. */
    link: z.string(),
    /** Fields of its spec, and what they would have to be. */
    spec: z.record(z.string(), jsonSchema),
  }),
  z.object({ ok: z.literal(false), problem: z.string() }),
]);

const comparedItemSchema = z
  .object({
    key: z.string(),
    externalId: z.string().optional(),
    owned: z.boolean(),
    /** `missing`: declared and not there. `extra`: ours and no longer declared. `ignored`: only ignored fields differ. `stranger`: not ours, and nobody declares it. */
    state: z.enum(["same", "differs", "ignored", "missing", "extra", "stranger"]),
    declaredBy: z.array(z.object({ kind: z.string(), name: z.string() })),
    declared: jsonSchema.optional(),
    /** As a cycle last wanted it; `written`: and wrote it, at that time. */
    last: z.object({ item: jsonSchema, written: z.boolean(), at: timeSchema.optional() }).optional(),
    seen: jsonSchema.optional(),
    /** What differs, in the words of the kind's own comparison. */
    fields: z.array(comparedFieldSchema),
    /** How to declare what was seen instead, or why that cannot be said. */
    asSeen: asSeenSchema.optional(),
  })
  .meta({ id: "ComparedItem" });

export const comparisonSchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    subjects: z.array(
      z.object({
        account: z.string().optional(),
        /** Absent: it was not looked at yet. */
        completeness: z.enum(["complete", "partial", "failed"]).optional(),
        at: timeSchema.optional(),
        truncated: z.boolean(),
        /** How many items are as declared. */
        same: z.int(),
        /** What differs first. */
        items: z.array(comparedItemSchema),
        /** Why a cycle would stop before it knows what is wanted. */
        problem: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    ),
  })
  .meta({ id: "Comparison", description: "What is declared, what was last wanted, and what was last seen." });
export type ComparisonDocument = z.output<typeof comparisonSchema>;
