import { z } from "zod";
import { actionSchema } from "./access.ts";
import { nameSchema, timeSchema } from "./common.ts";

const permissionKeySchema = z
  .string()
  .max(100)
  .regex(/^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*)$/, "must be a permission key such as organization.account, or *");
const ruleSchema = z
  .strictObject({ key: permissionKeySchema, actions: z.array(actionSchema).min(1).max(5) })
  .meta({ id: "TokenRule" });
const rulesSchema = z.array(ruleSchema).min(1).max(100);

const tokenNameSchema = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]+$/u, "must be one line of text")
  .meta({ description: "What it is for, so that somebody can tell later whether it is still needed." });
const longestDays = 90;
const shortestDays = 1 / 1_440;
const lifeSchema = z
  .number()
  .min(shortestDays, "must be a minute at least")
  .max(longestDays, `must be at most ${longestDays} days`)
  .default(30)
  .meta({ description: "When it ends by itself. There is no token without an end." });

const placeSchema = { project: nameSchema.optional(), workspace: nameSchema.optional() };
/** Rights at a place: the organization itself, a project or a workspace. */
const accessSchema = z
  .strictObject({ ...placeSchema, rules: rulesSchema })
  .refine(({ project, workspace }) => workspace === undefined || project !== undefined, {
    message: "a workspace is in a project: name both",
    path: ["project"],
  });
const personalAccessSchema = z
  .strictObject({ organization: nameSchema.optional(), ...placeSchema, rules: rulesSchema })
  .refine(
    ({ organization, project, workspace }) =>
      (workspace === undefined || project !== undefined) && (project === undefined || organization !== undefined),
    { message: "a workspace is in a project and a project in an organization: name all", path: ["organization"] },
  );

export const newPersonalTokenSchema = z
  .strictObject({
    name: tokenNameSchema,
    expiresInDays: lifeSchema,
    access: z
      .array(personalAccessSchema)
      .min(1)
      .max(20)
      .optional()
      .meta({ description: "What it may do. Left out: whatever you may do, at the time it is used." }),
  })
  .meta({ id: "NewPersonalToken" });

export const newOrganizationTokenSchema = z
  .strictObject({
    type: z.enum(["service-token", "assistant-token"]).meta({
      description: "service-token: for a program. assistant-token: for an AI assistant. Neither ever decides.",
    }),
    name: tokenNameSchema,
    expiresInDays: lifeSchema,
    access: z.array(accessSchema).min(1).max(20),
  })
  .meta({ id: "NewOrganizationToken" });

export const newWorkspaceKeySchema = z
  .strictObject({ name: tokenNameSchema, expiresInDays: lifeSchema, rules: rulesSchema })
  .meta({ id: "NewWorkspaceKey" });

const longestEnrolmentMinutes = 15;
export const newEnrolmentTokenSchema = z
  .strictObject({
    name: tokenNameSchema,
    expiresInMinutes: z
      .number()
      .min(1, "must be a minute at least")
      .max(longestEnrolmentMinutes, `must be at most ${longestEnrolmentMinutes} minutes`)
      .default(longestEnrolmentMinutes),
  })
  .meta({ id: "NewEnrolmentToken" });

const tokenTypeSchema = z.enum([
  "personal-token",
  "service-token",
  "workspace-key",
  "agent-enrolment",
  "assistant-token",
]);

export const tokenSchema = z
  .object({
    id: z.string(),
    type: tokenTypeSchema,
    name: z.string(),
    /** `platform`, `organization/…`, `workspace/…`: where it was made. */
    scope: z.string(),
    access: z
      .array(z.object({ scope: z.string(), rules: z.array(ruleSchema) }))
      .optional()
      .meta({ description: "Not there: whatever its maker may do." }),
    maker: z.string(),
    state: z.enum(["active", "expired", "revoked", "redeemed"]),
    madeAt: timeSchema,
    expiresAt: timeSchema,
    lastUsedAt: timeSchema.optional().meta({ description: "To the minute." }),
  })
  .meta({ id: "Token" });
export type TokenDocument = z.output<typeof tokenSchema>;

export const newTokenSchema = tokenSchema
  .extend({ token: z.string().meta({ description: "The token itself. It is shown this once and never again." }) })
  .meta({ id: "NewToken" });
export const tokenListSchema = z.object({ items: z.array(tokenSchema) });

export const leakedTokenSchema = z.strictObject({ token: z.string().min(1).max(512) }).meta({ id: "LeakedToken" });
