import { z } from "zod";
import { timeSchema } from "./common.ts";

export const loopsSchema = z
  .object({
    kinds: z.array(
      z.object({
        kind: z.string(),
        plural: z.string(),
        /** The key that roles allow or do not allow: `setpoint can-i`. */
        permission: z.string(),
        scopes: z.array(z.string()),
        modeRequired: z.boolean(),
        everySeconds: z.number().optional(),
        inputs: z.array(z.string()),
        /** How old a verdict may be before it reads Unknown. */
        verdictLimitSeconds: z.number().optional(),
        withoutLoop: z.string().optional(),
        /** As measured; only for those who may look at the whole platform. */
        activity: z
          .object({
            subjects: z.int(),
            failing: z.int(),
            lastCycleAt: timeSchema.optional(),
            /** When the periodic timer has come round to every subject at the latest. */
            nextCycleBy: timeSchema.optional(),
            /** Between two looks at one subject, from the cycles of the last ten minutes that found nothing to do. */
            realIntervalSeconds: z.number().optional(),
          })
          .optional(),
      }),
    ),
    /** The platform's own records: what deliberately has no loop. */
    withoutLoop: z.array(z.object({ record: z.string(), why: z.string() })),
  })
  .meta({ id: "Loops" });
export type LoopsDocument = z.output<typeof loopsSchema>;

export const summarySchema = z
  .object({
    installationId: z.string(),
    incarnation: z.int(),
    schemaVersion: z.int(),
    organizations: z.int(),
    resources: z.int(),
    subjects: z.int(),
    heldOpen: z.int(),
    pausesActive: z.int(),
    operationsAttention: z.int().meta({
      description: "Operations that wait for a person, or hold their resource for over 15 minutes",
    }),
    shardsLeased: z.int(),
    dueNow: z.int(),
    oldestConfirmedAt: timeSchema.optional(),
    services: z.array(z.object({ name: z.string(), state: z.string(), detail: z.string() })),
  })
  .meta({ id: "Summary" });
export type SummaryDocument = z.output<typeof summarySchema>;
