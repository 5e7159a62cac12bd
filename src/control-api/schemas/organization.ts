import { z } from "zod";
import { cloudFamilySchema } from "../../kinds/compute-provider/schema.ts";
import { jsonSchema, nameSchema, timeSchema } from "./common.ts";
import { accountCredentialSchema } from "./secrets.ts";

export const namedSchema = z.strictObject({ name: nameSchema });
const verificationSchema = z.enum(["in_setup", "verified", "pending", "blocked", "waitlist"]).meta({
  description: "What the platform thinks of an organization. Only in a verified one can anything be created.",
});
export const organizationSchema = z
  .object({
    name: z.string(),
    id: z.string(),
    verification: verificationSchema,
    state: z.enum(["active", "inactive"]),
    /** What whoever set the status last said about it. */
    reason: z.string(),
  })
  .meta({ id: "Organization" });
export type OrganizationDocument = z.output<typeof organizationSchema>;
export const organizationStatusSchema = z
  .strictObject({
    verification: verificationSchema.optional(),
    state: z.enum(["active", "inactive"]).optional(),
    reason: z.string().trim().min(1).max(500),
  })
  .refine(
    ({ verification, state }) => verification !== undefined || state !== undefined,
    "names neither a verification nor a state",
  )
  .meta({ id: "OrganizationStatusChange" });
export const organizationListSchema = z.object({ items: z.array(organizationSchema) });
export const scopeSchema = z.object({ name: z.string() });
export const scopeListSchema = z.object({ items: z.array(scopeSchema) });

export const credentialReferenceSchema = z
  .string()
  .regex(
    /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/,
    "must be env:NAME or file:PATH; a credential itself is sent as `credential`",
  )
  .max(1024);

export const newAccountSchema = z
  .strictObject({
    name: nameSchema,
    provider: z.string().min(1).max(63),
    settings: z.record(z.string(), jsonSchema).default({}),
    credentialRef: credentialReferenceSchema.optional(),
    credential: accountCredentialSchema.optional(),
    callsPerSecond: z.number().positive().max(1000).default(10),
    fromPool: z.boolean().optional().meta({
      description:
        "One of the operator's pool is claimed for it when something is first made there. It has no credential of its own.",
    }),
  })
  .refine(({ credentialRef, credential }) => credentialRef === undefined || credential === undefined, {
    message: "is given twice: as a reference or as itself, not both",
    path: ["credential"],
  })
  .superRefine(({ fromPool, provider, settings, credential, credentialRef }, context) => {
    if (fromPool !== true) return;
    const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const families = cloudFamilySchema.options;
    if (!families.some((family) => family === provider))
      issue("provider", `must be a cloud that has a pool: ${families.join(" or ")}`);
    const own = { settings: Object.keys(settings).length > 0, credential, credentialRef };
    for (const [path, value] of Object.entries(own))
      if (value !== undefined && value !== false)
        issue(path, "is the operator's, for an account that comes from the pool");
  })
  .meta({ id: "NewAccount" });
export type NewAccount = z.output<typeof newAccountSchema>;

const accountUseSchema = z
  .object({
    callsLeft: z.number().meta({ description: "Calls that may be made at once." }),
    callsAtMost: z.number().meta({ description: "What a budget that was left alone grows to." }),
    blockedUntil: timeSchema.optional().meta({ description: "Nobody calls it before then." }),
    latency: z
      .object({
        medianMs: z.int().meta({ description: "Half of the calls were answered within this time." }),
        p95Ms: z.int().meta({ description: "95 of 100 were." }),
        slowestMs: z.int(),
        calls: z
          .int()
          .meta({ description: "How many calls that is: the last 64 at most, and fewer while there were fewer." }),
        at: timeSchema.meta({ description: "When that was last told: with every block of calls that is taken." }),
      })
      .optional()
      .meta({
        id: "AccountLatency",
        description: "How long the provider took to answer, failures and timeouts included.",
      }),
    inventories: z.array(z.object({ collection: z.string(), completeAt: timeSchema })).meta({
      description: "When each list that its subjects share was last read whole; none where each is read by itself.",
    }),
    subjects: z.int(),
    failing: z.int().meta({ description: "Subjects whose last look failed." }),
    owned: z.int().meta({ description: "Items that are ours there." }),
    oldestLookAt: timeSchema.optional().meta({ description: "Of the subject that was looked at longest ago." }),
    lastLookAt: timeSchema.optional(),
  })
  .meta({ id: "AccountUse", description: "What is left of its budget, and how the looks at it went. Only in lists." });

export const accountSchema = z
  .object({
    name: z.string(),
    id: z.string(),
    provider: z.string(),
    settings: z.record(z.string(), jsonSchema),
    callsPerSecond: z.number(),
    fingerprint: z.string().optional(),
    claimedIncarnation: z.int().optional(),
    credential: z.enum(["sealed", "reference", "none"]).optional().meta({
      description:
        "How its credential is kept: sealed to the engine, named at the engine's machine, or not at all. Only in lists.",
    }),
    use: accountUseSchema.optional(),
    pool: z
      .object({
        account: z.string().optional().meta({ description: "The one that it has. Without: it waits for its claim." }),
        locations: z
          .array(z.string())
          .meta({ description: "Where things may be made; empty: wherever the provider is." }),
      })
      .optional()
      .meta({ description: "Of an account that comes from the operator's pool." }),
  })
  .meta({ id: "Account" });
export const accountListSchema = z.object({ items: z.array(accountSchema) });
export type AccountDocument = z.output<typeof accountSchema>;
