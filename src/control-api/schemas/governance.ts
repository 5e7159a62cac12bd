import { z } from "zod";
import {
  differenceSchema,
  modeSchema,
  nameSchema,
  pageQuerySchema,
  pauseLevelSchema,
  timeSchema,
  verdictSchema,
} from "./common.ts";

const reason = z.string().trim().min(3, "say why, in a few words").max(500);
const longestPauseSeconds = 30 * 24 * 3600;
const forSeconds = z.int().min(1).max(longestPauseSeconds);

const heldState = z.enum(["open", "approved", "rejected", "withdrawn"]);
const comment = z.string().trim().min(3, "say why, in a few words").max(1_000);

/** Who may decide: four eyes keeps those who asked for it from allowing it. */
const approvalRuleSchema = z.object({
  fourEyes: z.boolean(),
  notBy: z.array(z.object({ who: z.string(), why: z.string() })),
  /** About whoever asks. */
  you: z.object({ may: z.boolean(), because: z.string() }),
});

export const heldChangeSchema = z
  .object({
    id: z.string(),
    type: z.enum(["plan", "policy", "pause-end", "declaration"]),
    state: heldState,
    level: z.enum(["subject", "account", "organization", "platform", "scope"]),
    scope: z.string().optional(),
    guard: z.string(),
    digest: z.string(),
    verdict: verdictSchema,
    openedAt: timeSchema,
    openedBy: z.string().optional(),
    reason: z.string().optional(),
    /** Until when somebody should have decided. A change of the rules lapses then; one of a plan keeps waiting. */
    deadline: timeSchema,
    overdue: z.boolean(),
    approval: approvalRuleSchema,
    /** How much it touches. */
    blastRadius: z.object({
      items: z.int(),
      resources: z.int(),
      accounts: z.int(),
      actions: z.record(z.string(), z.int()),
    }),
    decidedBy: z.string().optional(),
    decidedAt: timeSchema.optional(),
    comment: z.string().optional(),
    items: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        /** The route of the resource; absent when it is gone. */
        link: z.string().optional(),
        key: z.string(),
        action: z.string(),
        externalId: z.string().optional(),
        differences: z.array(differenceSchema),
        reason: z.string(),
      }),
    ),
    truncated: z.boolean(),
  })
  .meta({ id: "HeldChange" });
export type HeldChangeDocument = z.output<typeof heldChangeSchema>;
export const heldChangeListSchema = z.object({ items: z.array(heldChangeSchema), truncated: z.boolean() });
export const heldChangeQuerySchema = z.strictObject({
  state: z.enum(["open", "approved", "rejected", "withdrawn", "any"]).default("open"),
  level: z.enum(["subject", "account", "organization", "platform", "scope"]).optional(),
  guard: z.string().max(40).optional(),
  kind: z.string().max(63).optional(),
  olderThanSeconds: z.coerce.number().int().min(0).max(31_536_000).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

export const approvalSchema = z
  .strictObject({
    digest: z.string().min(8).max(128),
    forSeconds: z
      .int()
      .min(60)
      .max(7 * 24 * 3600)
      .default(3600),
    comment: comment.optional(),
  })
  .meta({ id: "Approval", description: "Binds to the digest the approver saw." });
export const rejectionSchema = z
  .strictObject({ comment })
  .meta({ id: "Rejection", description: "Whoever asked reads the comment." });
export const approvalAnswerSchema = z.object({ id: z.string(), state: z.literal("approved"), grants: z.int() });
export const withdrawalSchema = z
  .strictObject({ comment: comment.optional() })
  .meta({ id: "Withdrawal", description: "By who asked for it, or who may approve it." });
export const withdrawalAnswerSchema = z.object({ id: z.string(), state: z.literal("withdrawn") });
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
    /** What it covers, as whoever placed it called it. */
    on: z.string().optional(),
    level: pauseLevelSchema,
    author: z.string(),
    reason: z.string(),
    expiresAt: timeSchema,
    remainingSeconds: z.int(),
  })
  .meta({ id: "Pause" });
export type PauseDocument = z.output<typeof pauseSchema>;
export const pauseListSchema = z.object({ items: z.array(pauseSchema) });
export const extensionSchema = z
  .strictObject({ forSeconds })
  .meta({ id: "PauseExtension", description: "From now on; a pause is never made shorter by this." });
export const endedSchema = z.object({ ended: z.array(z.string()) });

/** What would be written if nothing paused it, from what was last seen. */
export const pendingSchema = z
  .object({
    items: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        scope: z.string(),
        link: z.string(),
        differences: z.int(),
        actions: z.record(z.string(), z.int()),
        message: z.string(),
        /** What else than the pause stands in the way; empty: it would run. */
        blockedBy: z.array(z.string()),
        since: timeSchema,
        lookedAt: timeSchema.optional(),
      }),
    ),
    /** Of all that is left to do, as far as it was read. */
    totals: z.object({
      resources: z.int(),
      wouldRun: z.int(),
      actions: z.record(z.string(), z.int()),
      /** The part of the actions that would run; the others wait for something else. */
      wouldDo: z.record(z.string(), z.int()),
    }),
    truncated: z.boolean(),
  })
  .meta({ id: "Pending" });
export type PendingDocument = z.output<typeof pendingSchema>;
export type PausePreviewDocument = z.output<typeof pausePreviewSchema>;
export type FreezePreviewDocument = z.output<typeof freezePreviewSchema>;
export const pausePreviewSchema = z
  .object({ pauses: z.array(pauseSchema), pending: pendingSchema })
  .meta({ id: "PausePreview" });
export const freezePreviewSchema = z
  .object({
    freezes: z.array(pauseSchema),
    organizations: z.array(z.object({ name: z.string(), leftToDo: z.int(), due: z.int() })),
  })
  .meta({ id: "FreezePreview", description: "Per organization: subjects with something left to do, and those due." });

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

export const ignoreRuleSchema = z
  .strictObject({
    kind: z.string().min(1).max(63),
    name: nameSchema.optional().meta({ description: "Of this resource alone; of all of the kind without it." }),
    item: z.string().min(1).max(500).optional().meta({ description: "Of the item with this key alone." }),
    field: z
      .string()
      .max(200)
      .regex(/^(\/[^/]+)+$/, "name a field of the items as a JSON pointer, such as /ttlSeconds")
      .meta({ description: "A JSON pointer inside the item, with all that is inside it; * stands for every key." }),
    reason,
    until: timeSchema.optional().meta({ description: "From then on it is acted upon again; without it, never." }),
  })
  .meta({ id: "IgnoreRule", description: "That a field which differs outside is left as it is." });

export const policySchema = z
  .strictObject({
    mode: modeSchema.optional(),
    limits: limits.optional(),
    ceiling: limits.optional(),
    protect: z.boolean().optional(),
    fourEyes: z.boolean().optional(),
    ignore: z.array(ignoreRuleSchema).max(100, "at most 100 rules").optional(),
  })
  .meta({ id: "Policy", description: "What one scope says. PUT replaces all of it." });
export type PolicyDocument = z.output<typeof policySchema>;

export const policyQuerySchema = z.strictObject({
  /** Approve in the same request what loosens a rule. Needs the digest that the first answer named. */
  approve: z.enum(["true", "false"]).default("false"),
  digest: z.string().min(8).max(128).optional(),
  reason: reason.optional(),
});
export const policyHistorySchema = z
  .object({
    items: z.array(
      z.object({
        version: z.int(),
        policy: policySchema,
        author: z.string(),
        at: timeSchema,
        reason: z.string().optional(),
      }),
    ),
  })
  .meta({ id: "PolicyHistory" });

const limitValue = z.union([z.number(), z.object({ count: z.number(), percent: z.number(), atLeast: z.number() })]);
export const limitsSchema = z
  .object({
    mode: z.object({ value: modeSchema, from: z.string() }),
    protect: z.object({ value: z.boolean(), from: z.string().optional() }),
    fourEyes: z.object({ value: z.boolean(), from: z.string().optional() }),
    limits: z.array(
      z.object({
        name: z.string(),
        /** What holds, after every ceiling. */
        value: limitValue,
        default: z.object({ value: limitValue, from: z.string() }),
        ceiling: z.object({ value: limitValue, from: z.string() }).optional(),
      }),
    ),
    /** What differs and is left alone; each rule with the scope that has it. */
    ignore: z.array(ignoreRuleSchema.extend({ from: z.string() })).optional(),
  })
  .meta({ id: "EffectiveLimits", description: "What holds in a scope, and which scope says so." });
export type LimitsDocument = z.output<typeof limitsSchema>;
export const limitsQuerySchema = z.strictObject({ kind: z.string().max(63).optional() });

export const proposalOfRulesSchema = z
  .union([
    z.strictObject({
      type: z.literal("policy"),
      on: z.string().max(300).default("organization"),
      policy: policySchema,
      reason,
    }),
    z.strictObject({ type: z.literal("pause-end"), pause: z.string().min(1).max(100), reason }),
  ])
  .meta({ id: "RuleProposal", description: "What a machine or an assistant may ask for and a person decides." });

const planItemSchema = z.object({
  key: z.string(),
  /** What would be done to it: a replacement or a takeover stands among the updates. */
  action: z.string(),
  externalId: z.string().optional(),
  differences: z.array(differenceSchema),
  origin: z.enum(["declared", "inferred"]).optional(),
  held: z.boolean(),
});
export const planSchema = z
  .object({
    kind: z.string(),
    name: z.string(),
    subjects: z.array(
      z.object({
        account: z.string().optional(),
        /** `open`: something is left to do. `done`: nothing is. `unknown`: it was not looked at yet. */
        state: z.enum(["open", "done", "unknown"]),
        since: timeSchema.optional(),
        madeAt: timeSchema.optional(),
        observedAt: timeSchema.optional(),
        observationAgeSeconds: z.int().optional(),
        completeness: z.enum(["complete", "partial", "failed"]).optional(),
        counts: z.record(z.string(), z.int()),
        create: z.array(planItemSchema),
        update: z.array(planItemSchema),
        delete: z.array(planItemSchema),
        other: z.array(planItemSchema),
        truncated: z.boolean(),
        verdicts: z.array(verdictSchema),
        heldChanges: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "Plan", description: "What the last cycle wanted and has not done." });
export type PlanDocument = z.output<typeof planSchema>;

export const planListQuerySchema = pageQuerySchema.extend({ kind: z.string().max(63).optional() });
export const planListSchema = z
  .object({
    /** The oldest first. What may not be read is left out, so that a page may be short and yet not be the last. */
    items: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        scope: z.string(),
        /** The route of the resource; `/plan` behind it shows every item. */
        link: z.string(),
        account: z.string().optional(),
        since: timeSchema,
        madeAt: timeSchema,
        lookedAt: timeSchema.optional(),
        counts: z.record(z.string(), z.int()),
        /** What stands in the way; empty: it is being carried out. */
        guards: z.array(z.string()),
        heldItems: z.int(),
        heldChanges: z.array(z.string()),
      }),
    ),
    nextPageToken: z.string().optional(),
  })
  .meta({ id: "PlanList", description: "Subjects with something left to do." });
export type PlanListDocument = z.output<typeof planListSchema>;

export const driftSchema = z
  .object({
    /** Many resources with one cause are one entry, the oldest first. */
    causes: z.array(
      z.object({
        kind: z.string(),
        action: z.string(),
        field: z.string(),
        items: z.int(),
        resources: z.array(
          z.object({ name: z.string(), scope: z.string(), link: z.string(), since: timeSchema, items: z.int() }),
        ),
        resourceCount: z.int(),
        since: timeSchema,
        guards: z.array(z.string()),
      }),
    ),
    resources: z.int(),
    /** Rules of this organization and of the platform by which drift is left as it is: it is not among the causes. */
    ignored: z.array(ignoreRuleSchema.extend({ from: z.string() })).optional(),
    truncated: z.boolean(),
  })
  .meta({ id: "Drift", description: "What differs from its declaration, by cause." });
export type DriftDocument = z.output<typeof driftSchema>;
export const driftQuerySchema = z.strictObject({
  kind: z.string().max(63).optional(),
  limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
});
