import { z } from "zod";
import { emailSchema } from "../identity/email.ts";
import { nameSchema, timeSchema } from "./common.ts";
import { signUpSchema } from "./identity.ts";

export const actionSchema = z.enum(["read", "create", "update", "delete", "execute"]);
const keySchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/, "must be a permission key; GET /v1/permissions lists them")
  .max(100);
export const permissionListSchema = z.object({
  items: z.array(
    z
      .object({
        key: z.string(),
        scope: z.enum(["platform", "organization", "project", "workspace"]),
        actions: z.array(actionSchema),
        description: z.string(),
        sensitive: z.boolean(),
      })
      .meta({ id: "Permission" }),
  ),
});

export type PermissionDocument = z.output<typeof permissionListSchema>["items"][number];

const ruleSchema = z.strictObject({ key: keySchema, actions: z.array(actionSchema).min(1).max(5) });
export const roleBodySchema = z
  .strictObject({ description: z.string().max(500).default(""), rules: z.array(ruleSchema).min(1).max(200) })
  .meta({ id: "RoleBody" });
export const newRoleSchema = roleBodySchema.extend({ name: nameSchema }).meta({ id: "NewRole" });
export const roleSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    /** Seed roles come with Setpoint and cannot be changed. */
    seed: z.boolean(),
    rules: z.array(z.object({ key: z.string(), actions: z.array(actionSchema) })),
    revision: z.int().optional(),
    changedBy: z.string().optional(),
    changedAt: timeSchema.optional(),
  })
  .meta({ id: "Role" });
export type RoleDocument = z.output<typeof roleSchema>;
export const roleListSchema = z.object({ items: z.array(roleSchema) });

/** A role, and where: in the organization, or in one project or workspace of it. */
export const newBindingSchema = z
  .strictObject({ role: nameSchema, project: nameSchema.optional(), workspace: nameSchema.optional() })
  .refine(
    ({ project, workspace }) => workspace === undefined || project !== undefined,
    "a workspace lives in a project: name it too",
  )
  .meta({ id: "NewBinding" });
export const bindingSchema = z
  .object({
    id: z.string(),
    role: z.string(),
    project: z.string().optional(),
    workspace: z.string().optional(),
    madeBy: z.string(),
    madeAt: timeSchema,
  })
  .meta({ id: "Binding" });
export const memberSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    addedBy: z.string(),
    addedAt: timeSchema,
    /** False after a restore, until an operator of the platform says that they still belong here. */
    confirmed: z.boolean(),
    bindings: z.array(bindingSchema),
  })
  .meta({ id: "Member" });
export type MemberDocument = z.output<typeof memberSchema>;
export const memberListSchema = z.object({ items: z.array(memberSchema), nextPageToken: z.string().optional() });
export const removedSchema = z.object({ removed: z.string() });

export const newInviteSchema = z
  .strictObject({
    email: emailSchema,
    bindings: z.array(newBindingSchema).max(20).default([]),
    forSeconds: z
      .int()
      .min(60)
      .max(30 * 86_400)
      .default(7 * 86_400),
  })
  .meta({ id: "NewInvite" });
const inviteSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    bindings: z.array(z.object({ role: z.string(), project: z.string().optional(), workspace: z.string().optional() })),
    invitedBy: z.string(),
    createdAt: timeSchema,
    expiresAt: timeSchema,
    state: z.enum(["open", "accepted", "revoked", "expired"]),
  })
  .meta({ id: "Invite" });
export type InviteDocument = z.output<typeof inviteSchema>;
export const inviteListSchema = z.object({ items: z.array(inviteSchema) });
export const createdInviteSchema = inviteSchema
  .extend({
    mailed: z.boolean(),
    /** Shown this once, and only where no mail was sent. */
    link: z.string().optional(),
    secret: z.string().optional(),
  })
  .meta({ id: "CreatedInvite" });
export const inviteSecretSchema = z.strictObject({ secret: z.string().min(1).max(200) });
export const joinInviteSchema = inviteSecretSchema
  .extend(signUpSchema.omit({ email: true }).shape)
  .meta({ id: "JoinInvite" });
export const acceptedInviteSchema = z.object({ organization: z.string(), bindings: z.int() });

export const explainQuerySchema = z.strictObject({
  permission: keySchema,
  action: actionSchema,
  organization: nameSchema.optional(),
  project: nameSchema.optional(),
  workspace: nameSchema.optional(),
  /** Somebody else, by e-mail or id. */
  as: z.string().min(1).max(254).optional(),
});
export const explanationSchema = z
  .object({
    who: z.string(),
    permission: z.string(),
    action: actionSchema,
    scope: z.string(),
    allowed: z.boolean(),
    because: z.string(),
    /** The role and where it is bound, when it is allowed. */
    role: z.string().optional(),
    boundAt: z.string().optional(),
  })
  .meta({ id: "AccessExplanation" });
export type ExplanationDocument = z.output<typeof explanationSchema>;
