import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Ajv, type ValidateFunction } from "ajv";
import { type Deviation, deviations } from "../specs/deviations.ts";

interface Schema {
  readonly [key: string]: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const methods = ["get", "post", "put", "patch", "delete"];

/** A provider's published specification, and whether requests and answers are as it says. */
export class Specification {
  readonly #name: Deviation["specification"];
  readonly #document: Document;
  readonly #ajv = new Ajv({ strict: false, allErrors: true, formats });
  readonly #compiled = new Map<Schema, ValidateFunction>();

  constructor(name: Deviation["specification"], file: string) {
    this.#name = name;
    const text = gunzipSync(readFileSync(new URL(`../specs/${file}`, import.meta.url))).toString("utf8");
    this.#document = JSON.parse(text) as Document;
    this.#ajv.addSchema({ $id: "spec", components: closed(this.#document.components) as object });
  }

  /** Every operation, as METHOD /path. */
  operations(): readonly string[] {
    return Object.entries(this.#document.paths).flatMap(([path, byMethod]) =>
      methods.filter((method) => byMethod[method] !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** Query parameters of an operation that take one of some values, with these. */
  choices(operation: string): Readonly<Record<string, readonly string[]>> {
    const [method = "", path = ""] = operation.split(" ");
    const parameters = this.#document.paths[path]?.[method.toLowerCase()]?.parameters ?? [];
    const valuesOf = ({ schema = {} }: Parameter) =>
      (schema["enum"] ?? (schema["items"] as Schema | undefined)?.["enum"]) as readonly string[] | undefined;
    return Object.fromEntries(
      parameters.flatMap((parameter) => {
        const values = parameter.in === "query" ? valuesOf(parameter) : undefined;
        return values === undefined ? [] : [[parameter.name, values] as const];
      }),
    );
  }

  /** The operation a request belongs to; the path is the one behind the base path. */
  operationOf(method: string, path: string): string | undefined {
    const segments = path.split("/");
    const fits = (pattern: string) => {
      const parts = pattern.split("/");
      return (
        parts.length === segments.length && parts.every((part, at) => part.startsWith("{") || part === segments[at])
      );
    };
    const found = Object.keys(this.#document.paths)
      .filter((pattern) => fits(pattern) && this.#document.paths[pattern]?.[method.toLowerCase()] !== undefined)
      .toSorted((left, right) => left.split("{").length - right.split("{").length)[0];
    return found === undefined ? undefined : `${method} ${found}`;
  }

  /** What an answer has that the specification does not allow, beyond the deviations that are listed. */
  answerFaults(operation: string, status: number, body: unknown): string[] {
    const { responses } = this.#operation(operation);
    const response = responses[String(status)] ?? responses[`${Math.floor(status / 100)}xx`] ?? responses["default"];
    if (response === undefined) return [`${operation} answers ${status}, which it does not list`];
    const schema = schemaOf(response);
    if (schema === undefined)
      return body === undefined ? [] : [`${operation} ${status} has a body and should have none`];
    return this.#faults(operation, schema, body).filter((fault) => !this.#isKnown(operation, fault));
  }

  /** What a request has that the specification does not allow. */
  requestFaults(operation: string, query: URLSearchParams, body: unknown): string[] {
    const { parameters = [], requestBody } = this.#operation(operation);
    const known = parameters.filter((parameter) => parameter.in === "query");
    const strangers = [...new Set(query.keys())].filter((name) => !known.some((parameter) => parameter.name === name));
    const missing = known.filter(({ required, name }) => required === true && !query.has(name));
    const schema = requestBody === undefined ? undefined : schemaOf(requestBody);
    return [
      ...strangers.map((name) => `${operation} does not know the query parameter ${name}`),
      ...missing.map(({ name }) => `${operation} needs the query parameter ${name}`),
      ...(schema === undefined || body === undefined ? [] : this.#faults(operation, schema, body)).filter(
        (fault) => !this.#isKnown(operation, fault),
      ),
      ...(schema === undefined && body !== undefined ? [`${operation} takes no body`] : []),
    ];
  }

  #operation(name: string): Operation {
    const [method = "", path = ""] = name.split(" ");
    const operation = this.#document.paths[path]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`The specification has no ${name}.`);
    return operation;
  }

  #faults(operation: string, schema: Schema, body: unknown): string[] {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(closed(schema) as object);
    this.#compiled.set(schema, validate);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${operation}: ${instancePath === "" ? "the body" : instancePath} ${message ?? ""} ${JSON.stringify(params)}`,
    );
  }

  #isKnown(operation: string, fault: string): boolean {
    return deviations.some(
      (deviation) =>
        deviation.specification === this.#name &&
        (deviation.operation ?? operation) === operation &&
        deviation.where.test(fault),
    );
  }
}

const formats = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  decimal: /^-?\d+(\.\d+)?$/,
  int32: true,
  int64: true,
  double: true,
  float: true,
  uri: true,
  uuid: true,
  byte: true,
} as const;

function schemaOf({ content }: Content): Schema | undefined {
  return Object.values(content ?? {})[0]?.schema;
}

/** What holds values, and no schemas. */
const asItIs = new Set(["enum", "default", "example"]);

/**
 * OpenAPI 3.0 as JSON Schema: what is nullable may be null, references lead into the whole document, and an object that
 * lists its properties has no others (a field that nobody documented is a mistake here).
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const source = value as Schema;
  if (typeof source["$ref"] === "string") return { $ref: `spec${source["$ref"]}` };
  const { nullable, ...rest } = source;
  const result: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([key, entry]) => [key, asItIs.has(key) ? entry : closed(entry)]),
  );
  const isPlain = result["allOf"] === undefined && result["oneOf"] === undefined && result["anyOf"] === undefined;
  if (source["type"] === "object" && source["properties"] !== undefined && isPlain) {
    result["additionalProperties"] ??= false;
  }
  return nullable === true ? { anyOf: [result, { type: "null" }] } : result;
}
