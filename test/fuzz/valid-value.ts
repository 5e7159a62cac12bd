import fc from "fast-check";
import type { SeededRandom } from "../sim/random.ts";
import { type JsonSchema, type OpenApiDocument, resolved } from "./json-schema.ts";

/** Words that mean something here, by the name of the field they stand in. */
const wordsOf: Readonly<Record<string, readonly unknown[]>> = {
  apiVersion: ["setpoint/v1"],
  kind: ["DnsZone", "DnsRecord"],
  provider: ["powerdns"],
  account: ["lab"],
  zone: ["zone"],
  project: ["web", "shop"],
  workspace: ["live"],
  role: ["owner", "auditor", "reader"],
  on: ["accounts/lab", "projects/web", "kinds/DnsZone"],
  key: ["organization.project", "project.dns_zone", "*"],
  permission: ["organization.project", "platform.freeze"],
  email: ["fuzz-1@example.test", "fuzz-2@example.test", "owner@ours-1.test"],
  password: ["tall giraffes hum quietly"],
  url: ["https://hooks.example.com/fuzz", "http://127.0.0.1:1/x"],
  spec: [
    { account: "lab", zone: "fuzz.test" },
    { zone: "zone", name: "fuzz", type: "A", values: ["192.0.2.7"] },
  ],
  settings: [{ url: "http://127.0.0.1:8081" }],
};

const deepest = 8;

/** A value that the schema allows, and that is likely to get past what the schema cannot say. */
export function validValue(
  given: JsonSchema,
  document: OpenApiDocument,
  random: SeededRandom,
  name = "",
  depth = 0,
): unknown {
  const schema = resolved(given, document);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const word = random.pick(wordsOf[name] ?? []);
  if (word !== undefined && random.chance(0.8)) return word;
  const branch = random.pick(schema.anyOf ?? schema.oneOf ?? []);
  if (branch !== undefined) return validValue(branch, document, random, name, depth);
  const type = Array.isArray(schema.type) ? random.pick(schema.type as readonly string[]) : schema.type;
  if (type === "object") return objectValue(schema, document, random, depth);
  if (type === "array") return listValue(schema, document, random, name, depth);
  if (type === "string") return textValue(schema, random);
  if (type === "integer" || type === "number") return numberValue(schema, random, type === "integer");
  if (type === "boolean") return random.chance(0.5);
  if (type === "null") return null;
  return anyValue(random, depth);
}

function objectValue(
  schema: JsonSchema,
  document: OpenApiDocument,
  random: SeededRandom,
  depth: number,
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const needed = schema.required?.includes(name) === true;
    if (needed || (depth < deepest && random.chance(0.4)))
      made[name] = validValue(part, document, random, name, depth + 1);
  }
  const extra = schema.additionalProperties;
  if (typeof extra === "object" && random.chance(0.5)) {
    const key = schema.propertyNames === undefined ? "a" : textValue(schema.propertyNames, random);
    made[key] = validValue(extra, document, random, key, depth + 1);
  }
  return made;
}

function listValue(
  schema: JsonSchema,
  document: OpenApiDocument,
  random: SeededRandom,
  name: string,
  depth: number,
): unknown[] {
  const least = schema.minItems ?? 0;
  const length = depth >= deepest ? least : random.int(least, Math.min(schema.maxItems ?? least + 3, least + 3));
  return Array.from({ length }, () => validValue(schema.items ?? {}, document, random, name, depth + 1));
}

function textValue(schema: JsonSchema, random: SeededRandom): string {
  if (schema.format === "email") return `fuzz-${random.int(0, 9_999)}@example.test`;
  if (schema.format === "date-time") return random.choose("2026-11-15T10:00:00Z", "1970-01-01T00:00:00.000Z");
  if (schema.format === "uuid") return "01a1e241-0000-7000-8000-000000000000";
  const text = schema.pattern === undefined ? plainText(random) : matching(schema.pattern, random);
  const least = schema.minLength ?? 0;
  return text.padEnd(least, "x").slice(0, Math.max(least, schema.maxLength ?? text.length));
}

const generators = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string, random: SeededRandom): string {
  const generator = generators.get(pattern) ?? fc.stringMatching(new RegExp(pattern, "u"), { maxLength: 80 });
  generators.set(pattern, generator);
  return fc.sample(generator, { seed: random.bits() | 0, numRuns: 1 })[0] ?? "";
}

function plainText(random: SeededRandom): string {
  return random.choose("", "x", "a few words", "ünïcödé 🙂", "fuzz-name", "0", "true", "2026-11-15", "<b>&amp;</b>");
}

function numberValue(schema: JsonSchema, random: SeededRandom, whole: boolean): number {
  const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
  const most = Math.min(schema.maximum ?? least + 1_000, Number.MAX_SAFE_INTEGER);
  const value = random.choose(least, most, least + (most - least) * random.next());
  return whole ? Math.round(value) : value;
}

export function anyValue(random: SeededRandom, depth = 0): unknown {
  const inner = () => anyValue(random, depth + 1);
  const plain = random.choose<unknown>(null, true, 0, -1.5, "", "text", 1e308, "\u0000");
  if (depth > 3) return plain;
  return random.choose(plain, plain, [inner(), inner()], { a: inner(), toString: inner() });
}
