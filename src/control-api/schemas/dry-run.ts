import { z } from "zod";
import { differenceSchema, fieldChangeSchema, modeSchema, timeSchema, verdictSchema } from "./common.ts";

const plannedItemSchema = z
  .object({
    action: z.enum(["create", "update", "replace", "delete", "adopt", "takeover", "forget"]),
    key: z.string(),
    externalId: z.string().optional(),
    differences: z.array(differenceSchema),
    /** Whether every guard would let it through. */
    passes: z.boolean(),
  })
  .meta({ id: "PlannedItem" });

const plannedSubjectSchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    account: z.string().optional(),
    mode: modeSchema.optional(),
    /** What the plan rests on. Absent: it was never looked at, so nothing can be said about it. */
    observation: z
      .object({
        completeness: z.enum(["complete", "partial", "failed"]),
        /** When it was last seen to be so, and how long ago that is. */
        at: timeSchema,
        ageSeconds: z.int(),
        items: z.int(),
        truncated: z.boolean(),
      })
      .optional(),
    sizes: z.object({ create: z.int(), update: z.int(), replace: z.int(), delete: z.int() }),
    items: z.array(plannedItemSchema),
    verdicts: z.array(verdictSchema),
    /** What differs and would be left as it is, with the rule that says so. */
    ignored: z
      .array(
        differenceSchema.extend({
          key: z.string(),
          reason: z.string(),
          from: z.string(),
          until: timeSchema.optional(),
        }),
      )
      .optional()
      .meta({ description: "What differs and would be left as it is, with the rule that says so." }),
    /** What would wait for a person. */
    held: z.array(z.object({ guard: z.string(), level: z.string(), reason: z.string(), keys: z.array(z.string()) })),
    /** Why a cycle would stop before it has a plan. */
    problem: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: "PlannedSubject" });

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true),
    changes: z.array(
      z.object({
        action: z.enum(["create", "update", "delete", "none"]),
        kind: z.string(),
        name: z.string(),
        /** The revision it is computed from; 0: nothing stands there. */
        revision: z.int(),
        fields: z.array(fieldChangeSchema),
      }),
    ),
    subjects: z.array(plannedSubjectSchema),
    notes: z.array(z.string()),
  })
  .meta({ id: "DryRun", description: "What the changes would lead to, over what was last seen. Nothing was written." });
export type DryRunDocument = z.output<typeof dryRunSchema>;
