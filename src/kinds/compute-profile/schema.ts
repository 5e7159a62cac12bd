import { z } from "zod";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

export const computeProfileSchema = z.strictObject({
  account: resourceNameSchema.describe("The account at whose provider the type is."),
  type: z.string().min(1).max(255).describe("The provider's name of the server type, such as cx22."),
  locations: z
    .array(z.string().regex(/^[a-z0-9-]{1,40}$/))
    .max(50)
    .default([])
    .describe("Where it is meant to be had, in the provider's own names; empty: wherever the provider has it."),
});

export type ComputeProfileSpec = z.output<typeof computeProfileSchema>;
