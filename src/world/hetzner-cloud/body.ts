import { z } from "zod";
import type { Call } from "./call.ts";
import { HetznerError } from "./errors.ts";
import { isLabelKey, isLabelValue } from "./labels.ts";

export const labelsSchema = z
  .record(z.string(), z.string())
  .refine(
    (labels) => Object.entries(labels).every(([key, value]) => isLabelKey(key) && isLabelValue(value)),
    "contains an invalid label",
  );

export const nameSchema = z.string().min(1, "must not be empty").max(128, "is too long");
export const idSchema = z.int().min(1);
/** An ID that may be left out or null, which mean the same. */
export const optionalIdSchema = idSchema.nullish().transform((id) => id ?? undefined);
/** Where the API takes an ID or a name. */
export const idOrNameSchema = z.union([z.string().min(1), z.int().transform(String)]);

/** The body as the operation wants it; what does not fit is named field by field, as the API does. */
export function bodyOf<S extends z.ZodType>(call: Pick<Call, "body">, schema: S): z.output<S> {
  const parsed = schema.safeParse(jsonOf(call.body));
  if (parsed.success) return parsed.data;
  const fields = new Map<string, string[]>();
  for (const { path, message } of parsed.error.issues) {
    const name = path.map(String).join(".");
    fields.set(name, [...(fields.get(name) ?? []), message]);
  }
  const list = [...fields].map(([name, messages]) => ({ name, messages }));
  const first = list[0];
  throw new HetznerError(
    422,
    "invalid_input",
    `invalid input in field '${first?.name ?? ""}': ${first?.messages[0] ?? "is invalid"}`,
    { fields: list },
  );
}

function jsonOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new HetznerError(400, "json_error", "Invalid JSON input in your request");
  }
}
