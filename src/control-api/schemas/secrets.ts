import { z } from "zod";
import { nameSchema, timeSchema } from "./common.ts";

/** Write-only: it is taken and never given back, in no answer, log, event or error. */
const secretValueSchema = z
  .string()
  .min(1)
  .max(65_536)
  .meta({ description: "Write-only: no answer ever contains it.", writeOnly: true, format: "password" });

export const newSecretSchema = z.strictObject({ value: secretValueSchema }).meta({ id: "NewSecret" });
export const secretSchema = z
  .object({ name: nameSchema, version: z.int(), changedAt: timeSchema, changedBy: z.string() })
  .meta({ id: "Secret", description: "That a secret is there. Its value is never shown." });
export type SecretDocument = z.output<typeof secretSchema>;
export const secretListSchema = z.object({ items: z.array(secretSchema) });

/** Sealed to the engine as soon as it arrives: the API itself cannot read it back. */
export const accountCredentialSchema = z
  .strictObject({
    write: secretValueSchema,
    read: secretValueSchema
      .optional()
      .meta({ description: "Used for looking, where it is given; `write` is then used for acting alone." }),
  })
  .meta({ id: "AccountCredential" });
export type AccountCredential = z.output<typeof accountCredentialSchema>;
export const credentialAnswerSchema = z
  .object({ account: z.string(), sealedTo: z.string(), parts: z.array(z.enum(["read", "write"])) })
  .meta({ id: "AccountCredentialAnswer" });

const countsSchema = z.object({ underRoot: z.int(), tenantKeys: z.int(), secrets: z.int() });
export const rotationRequestSchema = z
  .strictObject({
    tenantKeys: z.boolean().default(true).meta({ description: "Whether tenants get new keys, too." }),
    startedAt: timeSchema.optional().meta({ description: "From the first answer, to go on with the same rotation." }),
    batchSize: z.int().min(1).max(1_000).default(200),
  })
  .meta({ id: "RotationRequest" });
export const rotationSchema = z
  .object({ rootKeyId: z.string(), startedAt: timeSchema, moved: countsSchema, left: countsSchema })
  .meta({ id: "Rotation", description: "What one batch did. Repeat it with `startedAt` until nothing is left." });
