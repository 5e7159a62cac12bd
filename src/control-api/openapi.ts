import { z } from "zod";
import { problemSchema } from "./schemas/common.ts";
import { needText } from "./access/need.ts";
import type { Route } from "./route.ts";

type Schema = Record<string, unknown>;

/** The OpenAPI 3.1 document, from the very routes that are served. Deterministic: it is committed and compared. */
export function openApiDocument(routes: readonly Route[], version: string): Schema {
  const components = new Map<string, Schema>();
  const schemaOf = (schema: z.ZodType, io: "input" | "output") => converted(schema, io, components);
  const problem = schemaOf(problemSchema, "output");
  const paths: Record<string, Record<string, Schema>> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operationOf(route, schemaOf, problem);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Setpoint Control API",
      version,
      description:
        "Declare what should exist; read what does, with its age. Errors are RFC 9457 problem details with a stable code.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "http://127.0.0.1:7780" }],
    security: [{ token: [] }, { session: [] }],
    paths: sorted(paths),
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A session's token, a token of a person or a program, or that of the operator's file.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-setpoint",
          description:
            "A session in a browser; `setpoint` on plain HTTP. What changes something must come from our own pages.",
        },
      },
      schemas: sorted(Object.fromEntries(components)),
    },
  };
}

function operationOf(
  route: Route,
  schemaOf: (schema: z.ZodType, io: "input" | "output") => Schema,
  problem: Schema,
): Schema {
  const body = route.documentedBody ?? route.body;
  const json = (schema: Schema) => ({ "application/json": { schema } });
  const contentOf = (schema: Schema) => ({ [route.bodyType ?? "application/json"]: { schema } });
  const answers = Object.entries(route.answers).map(([status, { description, schema }]) => [
    status,
    { description, ...(schema === undefined ? {} : { content: json(schemaOf(schema, "output")) }) },
  ]);
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [route.tag],
    "x-permission": needText(route.need),
    ...(route.need.at === "nobody" ? { security: [] } : {}),
    parameters: [...pathParameters(route, schemaOf), ...queryParameters(route, schemaOf), ...headerParameters(route)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(schemaOf(body, "input")) } }),
    responses: {
      ...Object.fromEntries(answers),
      default: { description: "A problem", content: { "application/problem+json": { schema: problem } } },
    },
  };
}

function operationIdOf(route: Route): string {
  const words = route.path
    .replace("/v1/", "")
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== "");
  return [route.method.toLowerCase(), ...words]
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}

function pathParameters(route: Route, schemaOf: (schema: z.ZodType, io: "input") => Schema): readonly Schema[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return names.map((name) => {
    const schema = route.parameters.shape[name] as z.ZodType | undefined;
    const required = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
    return {
      name,
      in: "path",
      required: true,
      schema: required === undefined ? { type: "string" } : schemaOf(required, "input"),
    };
  });
}

function queryParameters(route: Route, schemaOf: (schema: z.ZodType, io: "output") => Schema): readonly Schema[] {
  // What a query means is its parsed form: "true" and "10" arrive as text in any case.
  return Object.entries(route.query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema: schemaOf(schema as z.ZodType, "output"),
  }));
}

function headerParameters(route: Route): readonly Schema[] {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  const match = header("If-Match", "The ETag that was read, or `*` for whatever stands there; another one is refused.");
  const noneMatch = header("If-None-Match", "`*`: it must not exist yet.");
  const repeatable = header(
    "Idempotency-Key",
    "Sent again within 24 hours, the request happens once and is answered alike.",
  );
  const lastEvent = header("Last-Event-ID", "For a watch: where the last connection was.");
  return [
    ...(route.takesIfMatch === true ? [match] : []),
    ...(route.takesIfMatch === true && (route.method === "PUT" || route.method === "PATCH") ? [noneMatch] : []),
    ...(route.method === "POST" && route.need.at !== "nobody" ? [repeatable] : []),
    ...(route.query !== undefined && "watch" in route.query.shape ? [lastEvent] : []),
  ];
}

/** JSON Schema of one zod schema, with what has a name moved to the components. */
function converted(schema: z.ZodType, io: "input" | "output", components: Map<string, Schema>): Schema {
  const holder = z.toJSONSchema(z.object({ held: schema }), {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
  }) as Schema;
  const definitions = (holder["$defs"] ?? {}) as Record<string, Schema>;
  for (const [name, definition] of Object.entries(definitions)) {
    components.set(name, rewritten(without(definition, "id")) as Schema);
  }
  const properties = holder["properties"] as Record<string, Schema>;
  return rewritten(properties["held"]) as Schema;
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) =>
      key === "$ref" && typeof part === "string"
        ? [key, part.replace("#/$defs/", "#/components/schemas/")]
        : [key, rewritten(part)],
    ),
  );
}

function without(schema: Schema, name: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name));
}

function sorted<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1)));
}
