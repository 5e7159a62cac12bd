import { z } from "zod";
import { cloudFamilySchema } from "../../kinds/compute-provider/schema.ts";
import { jsonSchema, nameSchema, timeSchema } from "./common.ts";
import { credentialReferenceSchema } from "./organization.ts";

const locationsSchema = z
  .array(z.string().regex(/^[a-z0-9/-]{1,40}$/, "must be a location in the provider's own name, such as fsn1"))
  .max(50)
  .meta({ description: "Where things may be made, in the provider's own names; empty: wherever the provider is." });

export const newPoolAccountSchema = z
  .strictObject({
    name: nameSchema,
    provider: cloudFamilySchema,
    settings: z.record(z.string(), jsonSchema).default({}),
    credentialRef: credentialReferenceSchema,
    locations: locationsSchema.default([]),
    callsPerSecond: z.number().positive().max(1000).default(10),
  })
  .meta({ id: "NewPoolAccount" });

export const poolAccountSchema = z
  .object({
    name: z.string(),
    provider: z.string(),
    settings: z.record(z.string(), jsonSchema),
    locations: locationsSchema,
    callsPerSecond: z.number(),
    state: z.enum(["free", "claimed", "returned"]).meta({
      description:
        "free: whoever needs one may claim it. claimed: an organization has it. returned: it waits for an operator's word that it is empty.",
    }),
    organization: z.string().optional().meta({ description: "Whose it is, or was last." }),
    since: timeSchema.meta({ description: "Since when it is in this state." }),
  })
  .meta({ id: "PoolAccount" });
export type PoolAccountDocument = z.output<typeof poolAccountSchema>;
export const poolSchema = z.object({ items: z.array(poolAccountSchema) });
