import { z } from "zod";
import { differenceSchema, modeSchema, pauseLevelSchema, timeSchema, verdictSchema } from "./common.ts";

const reason = z.string().trim().min(3, "say why, in a few words").max(500);
const longestPauseSeconds = 30 * 24 * 3600;
const forSeconds = z.int().min(1).max(longestPauseSeconds);

export const heldChangeSchema = z
  .object({
    id: z.string(),
    state: z.enum(["open", "approved", "rejected", "withdrawn"]),
    level: z.enum(["subject", "account", "organization", "platform"]),
    guard: z.string(),
    digest: z.string(),
    verdict: verdictSchema,
    openedAt: timeSchema,
    decidedBy: z.string().optional(),
    decidedAt: timeSchema.optional(),
    items: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        key: z.string(),
        action: z.string(),
        externalId: z.string().optional(),
        differences: z.array(differenceSchema),
        reason: z.string(),
      }),
    ),
  })
  .meta({ id: "HeldChange" });
export type HeldChangeDocument = z.output<typeof heldChangeSchema>;
export const heldChangeListSchema = z.object({ items: z.array(heldChangeSchema) });
export const heldChangeQuerySchema = z.strictObject({
  state: z.enum(["open", "approved", "rejected", "withdrawn", "any"]).default("open"),
});

export const approvalSchema = z
  .strictObject({
    digest: z.string().min(8).max(128),
    forSeconds: z
      .int()
      .min(60)
      .max(7 * 24 * 3600)
      .default(3600),
  })
  .meta({ id: "Approval", description: "Binds to the digest the approver saw." });
export const approvalAnswerSchema = z.object({ id: z.string(), state: z.literal("approved"), grants: z.int() });
export const rejectionAnswerSchema = z.object({ id: z.string(), state: z.literal("rejected") });

export const newPauseSchema = z
  .strictObject({
    on: z.string().max(300).default("organization").meta({
      description:
        "What to pause, in the words of the routes below the organization: `organization`, `projects/p`, `projects/p/workspaces/w`, `accounts/a`, or a resource such as `dnszones/z`.",
    }),
    level: pauseLevelSchema.default("writes"),
    reason,
    forSeconds: forSeconds.default(3600),
  })
  .meta({ id: "NewPause" });

export const freezeSchema = newPauseSchema.omit({ on: true }).meta({ id: "Freeze" });

export const pauseSchema = z
  .object({
    id: z.string(),
    scope: z.string(),
    level: pauseLevelSchema,
    author: z.string(),
    reason: z.string(),
    expiresAt: timeSchema,
  })
  .meta({ id: "Pause" });
export type PauseDocument = z.output<typeof pauseSchema>;
export const pauseListSchema = z.object({ items: z.array(pauseSchema) });
export const endedSchema = z.object({ ended: z.array(z.string()) });

/** What would be written if nothing paused it, from what was last seen. */
export const pendingSchema = z
  .object({
    items: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        scope: z.string(),
        differences: z.int(),
        message: z.string(),
        lookedAt: timeSchema.optional(),
      }),
    ),
    truncated: z.boolean(),
  })
  .meta({ id: "Pending" });
export type PendingDocument = z.output<typeof pendingSchema>;

const deleteLimit = z.strictObject({
  count: z.int().min(0).max(100_000),
  percent: z.number().min(0).max(100),
  atLeast: z.int().min(0).max(100_000),
});
const limits = z
  .strictObject({
    deletesPerCycle: deleteLimit,
    deletesPerHour: z
      .strictObject({ account: deleteLimit, organization: deleteLimit, platform: deleteLimit })
      .partial(),
    changesPerCycle: z.int().min(1).max(10_000),
    confirmAfterMs: z
      .int()
      .min(0)
      .max(24 * 3600_000),
    suspectPercent: z.number().min(1).max(100),
    suspectAtLeast: z.int().min(1).max(100_000),
  })
  .partial();

export const policySchema = z
  .strictObject({
    mode: modeSchema.optional(),
    limits: limits.optional(),
    ceiling: limits.optional(),
    protect: z.boolean().optional(),
    fourEyes: z.boolean().optional(),
  })
  .meta({ id: "Policy", description: "What one scope says. PUT replaces all of it." });
export type PolicyDocument = z.output<typeof policySchema>;
