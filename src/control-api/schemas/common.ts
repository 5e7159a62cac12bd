import { z } from "zod";
import { resourceNameSchema } from "../../kinds/naming/resource-name-schema.ts";
import type { Json } from "../../ports/json.ts";

export const apiVersion = "setpoint/v1";

export const nameSchema = resourceNameSchema;
export const timeSchema = z.iso.datetime().meta({ description: "RFC 3339, UTC." });
export const modeSchema = z.enum(["observe", "propose", "enforce"]).meta({
  description: "observe: look and report. propose: every change waits for a person. enforce: act within the guards.",
});
export const pauseLevelSchema = z.enum(["deletes", "writes", "all"]);
/** Any JSON value: what arrives here has been parsed from JSON, so there is nothing left to check. */
export const jsonSchema = z.unknown() as z.ZodType<Json>;

/** Scope names in a path. Which of them are there says where a resource lives. */
export const scopeParametersSchema = z.strictObject({
  organization: nameSchema,
  project: nameSchema.optional(),
  workspace: nameSchema.optional(),
});
export type ScopeParameters = z.output<typeof scopeParametersSchema>;

export const verdictSchema = z
  .object({
    guard: z.string(),
    answer: z.enum(["pass", "trim", "wait", "hold", "refuse"]),
    reason: z.string(),
    numbers: z.record(z.string(), z.number()),
    keys: z.array(z.string()),
  })
  .meta({ id: "Verdict", description: "A guard's answer, always with a reason and numbers." });

export const differenceSchema = z
  .object({ field: z.string(), wanted: jsonSchema.optional(), seen: jsonSchema.optional() })
  .meta({ id: "FieldDifference" });

export const fieldChangeSchema = z
  .object({ pointer: z.string(), before: jsonSchema.optional(), after: jsonSchema.optional() })
  .meta({ id: "FieldChange", description: "A field by its pointer, with the value before and after." });

/** Every `code` a problem may carry. */
export const problemCodes = [
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "ORGANIZATION_UNKNOWN",
  "SCOPE_UNKNOWN",
  "KIND_UNKNOWN",
  "ACCOUNT_UNKNOWN",
  "PROVIDER_UNKNOWN",
  "BODY_INVALID",
  "FIELDS_INVALID",
  "MODE_REQUIRED",
  "SCOPE_NOT_ALLOWED",
  "NAME_MISMATCH",
  "ALREADY_EXISTS",
  "BEING_DELETED",
  "REVISION_CONFLICT",
  "COUNT_MISMATCH",
  "GUARD_REFUSED",
  "DIGEST_MOVED",
  "HELD_CHANGE_CLOSED",
  "OPERATION_STATE",
  "FOUR_EYES",
  "PRINCIPAL_REFUSED",
  "FORBIDDEN",
  "STEP_UP_REQUIRED",
  "SIGN_IN_REFUSED",
  "RATE_LIMITED",
  "ENTITY_STATUS",
  "QUOTA_EXCEEDED",
  "PRECONDITION_REQUIRED",
  "OWNER_CONFLICT",
  "IN_USE",
  "REFERENCE_INVALID",
  "IDEMPOTENCY_REUSED",
  "IDEMPOTENCY_IN_FLIGHT",
  "CURSOR_GONE",
  "PASSWORD_WEAK",
  "CREDENTIAL_SCOPE",
  "TOO_LARGE",
  "METHOD_UNKNOWN",
  "UNAVAILABLE",
  "INTERNAL",
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(problemCodes),
    requestId: z.string().optional(),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    verdict: verdictSchema.optional(),
    /** The digest of what waits now, when the one that was sent is no longer it. */
    digest: z.string().optional(),
    /** Where what was asked for waits for another person. */
    heldChange: z.string().optional(),
    /** The revision that stands, when another one was expected. */
    revision: z.int().optional(),
    /** What happened to it since the revision that was expected: who, when, and which fields. */
    changed: z
      .object({ by: z.string(), at: timeSchema, fields: z.array(fieldChangeSchema), deleting: z.boolean() })
      .optional(),
    /** The fields that another owner set, with both owners. */
    owners: z.array(z.object({ pointer: z.string(), owner: z.string(), asked: z.string() })).optional(),
    /** What refers to it, as `kind/name`, with its scope. */
    users: z.array(z.object({ kind: z.string(), name: z.string(), scope: z.string() })).optional(),
    quota: z.object({ kind: z.string(), limit: z.int(), used: z.int() }).optional(),
  })
  .meta({ id: "Problem", description: "RFC 9457 problem details with a stable code." });
export type ProblemDocument = z.output<typeof problemSchema>;

export const pageQuerySchema = z.strictObject({
  pageSize: z.coerce.number().int().min(1).max(500).default(100),
  pageToken: z.string().max(512).optional(),
});
