import { type JsonSchema, type OpenApiDocument, resolved } from "../fuzz/json-schema.ts";

const secretName = /passw|secret$|^token$|^recoveryCodes$|^uri$/i;
/** Fields that are named like a secret and are none: how many there are. */
const numbers = new Set(["GET /v1/me gives recoveryCodes"]);

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> }>
  >;
}

/** Every field of the API that takes or gives a secret, as `POST /v1/session takes password`. */
export function secretFields(document: OpenApiDocument): readonly string[] {
  const found = new Set<string>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const { requestBody, responses } = operation as unknown as Operation;
      const note = (verb: string) => (name: string) => found.add(`${method.toUpperCase()} ${path} ${verb} ${name}`);
      for (const { schema } of Object.values(requestBody?.content ?? {})) walk(schema, document, note("takes"), []);
      for (const [status, { content = {} }] of Object.entries(responses))
        if (status !== "default")
          for (const { schema } of Object.values(content)) walk(schema, document, note("gives"), []);
    }
  return [...found].filter((field) => !numbers.has(field));
}

function walk(
  given: JsonSchema,
  document: OpenApiDocument,
  note: (name: string) => void,
  above: readonly string[],
): void {
  const name = given.$ref;
  if (name !== undefined && above.includes(name)) return;
  const inside = name === undefined ? above : [...above, name];
  const schema = resolved(given, document);
  for (const [field, part] of Object.entries(schema.properties ?? {})) {
    const { writeOnly } = part as { readonly writeOnly?: boolean };
    if (secretName.test(field) || writeOnly === true) note(field);
    walk(part, document, note, inside);
  }
  for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    walk(part, document, note, inside);
  if (schema.items !== undefined) walk(schema.items, document, note, inside);
  if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, document, note, inside);
}

/** Names of all fields in a value, however deep. */
export function fieldsOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  return Object.entries(value).flatMap(([name, part]) => [name, ...fieldsOf(part)]);
}

/** Whether an address is one of a path of the document. */
export function isOf(template: string, address: string): boolean {
  const escaped = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/:?]+");
  return new RegExp(`^${escaped}(\\?.*)?$`).test(address);
}
