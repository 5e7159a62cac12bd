import { readFileSync } from "node:fs";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/**
 * Every field of every request that would take this text, as `collection/pointer`: what people can write that others read. Routes of
 * the same collection in other scopes, and the specs of all kinds, are one.
 */
export function fieldsTaking(text: string): readonly string[] {
  const document = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")) as OpenApi;
  const found = new Set<string>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const { requestBody } of Object.values(operations))
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        walk(document, schema, text, (pointer) => found.add(nameOf(path, pointer)));
  return [...found].sort();
}

function nameOf(path: string, pointer: string): string {
  const collection = path
    .replace(/^\/v1\//, "")
    .replace(/^organizations\/\{organization\}\/?/, "")
    .replace(/^projects\/\{project\}\/?/, "")
    .replace(/^workspaces\/\{workspace\}\/?/, "");
  const isResource = /^\/(metadata|spec|kind)/.test(pointer);
  if (isResource) return `resource${pointer.replace(/^\/spec.*/, "/spec")}`;
  return `${collection}${pointer}`;
}

function walk(document: OpenApi, given: Schema, text: string, take: (pointer: string) => void, pointer = ""): void {
  const schema = resolved(document, given);
  const inside = (part: Schema, name: string) => walk(document, part, text, take, `${pointer}${name}`);
  if (pointer.split("/").length > 9) return;
  const { anyOf = [], oneOf = [], allOf = [], properties = {}, additionalProperties, items } = schema;
  const parts = [...anyOf, ...oneOf, ...allOf];
  for (const part of parts) inside(part, "");
  for (const [name, part] of Object.entries(properties)) inside(part, `/${name}`);
  if (typeof additionalProperties === "object") inside(additionalProperties, "/*");
  if (items !== undefined) inside(items, "/-");
  const isOpen = schema.type === undefined && parts.length === 0 && schema.enum === undefined && !("const" in schema);
  if ((isOpen && schema.properties === undefined) || (schema.type === "string" && takes(schema, text))) take(pointer);
}

function resolved(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {};
}

function takes({ enum: values, pattern, format, maxLength, ...rest }: Schema, text: string): boolean {
  if (values !== undefined || "const" in rest || format !== undefined) return false;
  if (maxLength !== undefined && maxLength < text.length) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(text);
}
