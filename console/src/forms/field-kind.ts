import { type JsonSchema, resolved } from "../api/json-schema.ts";

/** How a value is asked for. `json` is for what has no simpler form. */
export type FieldKind =
  | { readonly as: "choice" | "several"; readonly options: readonly string[] }
  | { readonly as: "yes-no" | "number" | "text" | "lines" | "pairs" | "object" | "json" }
  | { readonly as: "objects"; readonly shapes: readonly JsonSchema[] };

type Schemas = Readonly<Record<string, JsonSchema>>;

export function fieldKind(schemas: Schemas, schema: JsonSchema): FieldKind {
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (schema.enum !== undefined) return { as: "choice", options: schema.enum.map(String) };
  if (typeof schema.const === "string") return { as: "choice", options: [schema.const] };
  if (type === "boolean") return { as: "yes-no" };
  if (type === "integer" || type === "number") return { as: "number" };
  if (type === "string") return { as: "text" };
  if (type === "array" && schema.items !== undefined) return listKind(schemas, resolved(schemas, schema.items));
  if (type === "object" && typeof schema.additionalProperties === "object" && isText(schema.additionalProperties))
    return { as: "pairs" };
  return { as: type === "object" && schema.properties !== undefined ? "object" : "json" };
}

function listKind(schemas: Schemas, items: JsonSchema): FieldKind {
  if (items.enum !== undefined) return { as: "several", options: items.enum.map(String) };
  if (isText(items)) return { as: "lines" };
  const shapes = (items.anyOf ?? items.oneOf ?? [items]).map((shape) => resolved(schemas, shape));
  return shapes.every(({ properties }) => properties !== undefined) ? { as: "objects", shapes } : { as: "json" };
}

function isText(schema: JsonSchema): boolean {
  return schema.type === "string" && schema.enum === undefined;
}
