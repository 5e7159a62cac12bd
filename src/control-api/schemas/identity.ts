import { z } from "zod";
import { emailSchema } from "../identity/email.ts";
import { pageQuerySchema, timeSchema } from "./common.ts";

const nameSchema = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(200, "must have at most 200 characters")
  .regex(/^[^\p{Cc}]*$/u, "must be one line of text");
/** Long enough for any sentence; what makes a password good is judged elsewhere. */
const passwordSchema = z.string().min(1, "must not be empty").max(1_000, "must have at most 1,000 characters");
const codeSchema = z.string().min(6).max(64).meta({ description: "Six digits of an app, or a recovery code." });
const linkTokenSchema = z.string().min(20).max(200);
const base64urlSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/, "must be base64url")
  .max(16_384);

const deliverySchema = z.enum(["cookie", "token"]).default("cookie").meta({
  description: "cookie: for a browser, in a cookie that scripts cannot read. token: in the answer, for a program.",
});
const platformRoleSchema = z.enum(["none", "operator", "administrator"]);
export const personIdSchema = z.string().min(1).max(100);

export const personSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    state: z.enum(["active", "disabled"]),
    platformRole: platformRoleSchema,
    verified: z.boolean(),
    createdAt: timeSchema,
  })
  .meta({ id: "Person" });
export type PersonDocument = z.output<typeof personSchema>;

export const signUpSchema = z.strictObject({ email: emailSchema, name: nameSchema, password: passwordSchema });
export const acceptedSchema = z
  .object({ accepted: z.literal(true), next: z.string().meta({ description: "What to do now, in words." }) })
  .meta({ id: "Accepted" });

export const signInSchema = z.strictObject({
  email: emailSchema,
  password: passwordSchema,
  code: codeSchema.optional(),
  as: deliverySchema,
});
const sessionSchema = z
  .object({
    id: z.string(),
    createdAt: timeSchema,
    lastSeenAt: timeSchema,
    endsAt: timeSchema,
    address: z.string(),
    userAgent: z.string(),
    current: z.boolean(),
  })
  .meta({ id: "Session" });
export type SessionDocument = z.output<typeof sessionSchema>;
export const signedInSchema = z
  .object({
    secondFactor: z.literal("required").optional().meta({
      description: "The password was right; repeat it with a code. Nothing else is in the answer.",
    }),
    person: personSchema.optional(),
    session: sessionSchema.optional(),
    token: z.string().optional().meta({ description: "Only where a token was asked for; shown once." }),
  })
  .meta({ id: "SignedIn" });
export type SignedInDocument = z.output<typeof signedInSchema>;
export const sessionListSchema = z.object({ items: z.array(sessionSchema) }).meta({ id: "SessionList" });

export const linkSignInSchema = z.strictObject({
  token: linkTokenSchema,
  as: deliverySchema,
  person: z
    .strictObject({ email: emailSchema, name: nameSchema, password: passwordSchema })
    .optional()
    .meta({ description: "Who you are, for the link of the first start." }),
});
export const forgotSchema = z.strictObject({ email: emailSchema });
export const resetSchema = z.strictObject({ token: linkTokenSchema, password: passwordSchema });
export const passwordChangeSchema = z.strictObject({
  oldPassword: passwordSchema.optional().meta({ description: "Left out only by whoever has no password yet." }),
  password: passwordSchema,
});

/** What a browser's authenticator answers; its content is verified as a whole, cryptographically. */
const passkeyAnswerSchema = z
  .object({
    id: base64urlSchema,
    rawId: base64urlSchema,
    type: z.literal("public-key"),
    response: z.object({
      clientDataJSON: base64urlSchema,
      authenticatorData: base64urlSchema,
      signature: base64urlSchema,
      userHandle: base64urlSchema.optional(),
    }),
    clientExtensionResults: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: "PasskeyAnswer" });
export type PasskeyAnswer = z.output<typeof passkeyAnswerSchema>;
export const passkeyRegistrationSchema = z.strictObject({
  label: nameSchema,
  response: z.object({
    id: base64urlSchema,
    rawId: base64urlSchema,
    type: z.literal("public-key"),
    response: z.object({
      clientDataJSON: base64urlSchema,
      attestationObject: base64urlSchema,
      transports: z.array(z.string().max(32)).max(16).optional(),
    }),
    clientExtensionResults: z.record(z.string(), z.unknown()).default({}),
  }),
});
export type PasskeyRegistration = z.output<typeof passkeyRegistrationSchema>;
export const passkeySignInSchema = z.strictObject({ passkey: passkeyAnswerSchema, as: deliverySchema });
export const passkeyOptionsSchema = z
  .object({ publicKey: z.record(z.string(), z.unknown()) })
  .meta({ id: "PasskeyOptions", description: "What navigator.credentials takes, in its JSON form." });
export const passkeySchema = z
  .object({
    id: z.string(),
    label: z.string(),
    relyingParty: z.string(),
    createdAt: timeSchema,
    lastUsedAt: timeSchema.optional(),
  })
  .meta({ id: "Passkey" });
export type PasskeyDocument = z.output<typeof passkeySchema>;
export const passkeyListSchema = z.object({ items: z.array(passkeySchema) }).meta({ id: "PasskeyList" });

export const proofSchema = z
  .strictObject({
    password: passwordSchema.optional(),
    code: codeSchema.optional(),
    passkey: passkeyAnswerSchema.optional(),
  })
  .refine((proof) => Object.values(proof).filter((value) => value !== undefined).length === 1, {
    message: "give one of: password, code, passkey",
  });

export const meSchema = z
  .object({
    name: z.string(),
    type: z.enum(["person", "machine", "assistant"]),
    credential: z.object({ type: z.string(), id: z.string() }),
    provenAt: timeSchema,
    person: personSchema.optional(),
    hasPassword: z.boolean().optional().meta({
      description: "Of a person: whether they have a password, which is asked for when it is changed.",
    }),
    secondFactor: z
      .object({ totp: z.boolean(), recoveryCodes: z.int(), passkeys: z.int() })
      .optional()
      .meta({ description: "What is set up besides the password; recovery codes that are left." }),
  })
  .meta({ id: "Me" });
export type MeDocument = z.output<typeof meSchema>;
export const meChangeSchema = z.strictObject({ name: nameSchema });

export const totpSchema = z.object({ secret: z.string(), uri: z.string() }).meta({
  id: "Totp",
  description: "For an authenticator app; shown once, and asked for only after it was confirmed.",
});
export const totpConfirmationSchema = z.strictObject({ code: z.string().regex(/^\d{6}$/, "must be six digits") });
export type TotpDocument = z.output<typeof totpSchema>;
export const recoveryCodesSchema = z
  .object({ recoveryCodes: z.array(z.string()) })
  .meta({ id: "RecoveryCodes", description: "Each works once, instead of a code. Shown once." });
export type RecoveryCodesDocument = z.output<typeof recoveryCodesSchema>;

export const peopleQuerySchema = pageQuerySchema;
export const personListSchema = z
  .object({ items: z.array(personSchema), nextPageToken: z.string().optional() })
  .meta({ id: "PersonList" });
export const newPersonSchema = z.strictObject({
  email: emailSchema,
  name: nameSchema,
  platformRole: platformRoleSchema.default("none"),
});
export const linkSchema = z
  .object({
    url: z.string().optional().meta({ description: "Shown once. Not there where it was sent by mail." }),
    mailed: z.boolean(),
    expiresAt: timeSchema,
  })
  .meta({ id: "OneTimeLink" });
export const addedPersonSchema = z.object({ person: personSchema, link: linkSchema }).meta({ id: "AddedPerson" });
export const personChangeSchema = z
  .strictObject({
    name: nameSchema.optional(),
    state: z.enum(["active", "disabled"]).optional(),
    platformRole: platformRoleSchema.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, { message: "name what should change" });
export const signInLinkSchema = z.strictObject({
  email: emailSchema.optional().meta({ description: "Whose link; needed where there are several administrators." }),
});
