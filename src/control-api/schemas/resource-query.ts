import { z } from "zod";
import { modeSchema, nameSchema, pageQuerySchema } from "./common.ts";

const flag = z.stringbool({ truthy: ["true", ""], falsy: ["false"] });

/** Where a list goes on, and whether it goes on for ever. */
export const resourceListQuerySchema = pageQuerySchema.extend({
  pageToken: z.string().max(1_024).optional(),
  labels: z
    .string()
    .min(1, "an empty selector never means all: leave it out")
    .max(2_000)
    .optional()
    .meta({ description: "key=value, key!=value, key in (a,b), key notin (a,b), key, !key; separated by commas." }),
  namePrefix: z.string().min(1, "an empty prefix never means all: leave it out").max(63).optional(),
  mode: modeSchema.optional(),
  ready: z.enum(["true", "false", "unknown"]).optional(),
  drifted: flag.optional(),
  held: flag.optional(),
  deleting: flag.optional(),
  sort: z
    .enum(["name", "-name", "declaredAt", "-declaredAt", "updated", "-updated"])
    .default("name")
    .meta({ description: "`updated`: when its status last changed. A leading minus turns it round." }),
  watch: flag.default(false).meta({ description: "Answer with server-sent events instead of a page." }),
  cursor: z
    .string()
    .max(64)
    .optional()
    .meta({ description: "For a watch: where to go on, as Last-Event-ID or metadata.position say it." }),
});
export type ResourceListQuery = z.output<typeof resourceListQuerySchema>;

const dryRun = flag.default(false).meta({ description: "Write nothing: answer with the plan." });
const fresh = flag
  .default(false)
  .meta({ description: "With dryRun: have it looked at again first, for at most 10 seconds." });
const fieldManager = nameSchema
  .optional()
  .meta({ description: "Who owns the fields; the caller unless said otherwise." });

export const writeQuerySchema = z.strictObject({ dryRun, fresh, fieldManager });
export const applyQuerySchema = z.strictObject({
  dryRun,
  fresh,
  fieldManager: nameSchema,
  force: flag.default(false).meta({ description: "Take over fields that have another owner." }),
});
export const deleteQuerySchema = z.strictObject({
  dryRun,
  fresh,
  orphan: flag.default(false),
  confirm: z.coerce.number().int().min(0).optional(),
});
export const rollbackQuerySchema = z.strictObject({ dryRun, fresh, fieldManager });
export const historyQuerySchema = z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(50) });
