import { z } from "zod";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

/** Clouds whose accounts can be watched, and put into the operator's pool. */
export const cloudFamilySchema = z.enum(["hetzner-cloud", "ionos"]);

export const computeProviderSchema = z.strictObject({
  account: resourceNameSchema.describe(
    "The account that is watched: its credential, its call budget, and everything in it.",
  ),
  family: cloudFamilySchema.describe("Which provider the account is at."),
  locations: z
    .array(z.string().regex(/^[a-z0-9-]{1,40}$/))
    .max(50)
    .default([])
    .describe("Where things may be made, in the provider's own names; empty: wherever the provider is."),
});

export type ComputeProviderSpec = z.output<typeof computeProviderSchema>;
