import { z } from "zod";

export const quotaSchema = z
  .object({
    /** A kind, or `*` for every kind without a limit of its own. */
    kind: z.string(),
    limit: z.int(),
    used: z.int().optional(),
    /** Whether the organization has a limit of its own, or the platform's default applies. */
    own: z.boolean(),
  })
  .meta({ id: "Quota" });
export const quotaListSchema = z.object({ items: z.array(quotaSchema) }).meta({ id: "QuotaList" });
export const quotaBodySchema = z
  .strictObject({
    limit: z.int().min(0).max(1_000_000_000).nullable().meta({ description: "null: back to the default." }),
  })
  .meta({ id: "QuotaChange" });
