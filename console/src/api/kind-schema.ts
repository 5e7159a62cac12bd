import { queryOptions } from "@tanstack/react-query";
import { get } from "./client.ts";

/** As much of JSON Schema as the kinds' zod schemas become. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly $ref?: string;
}

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** The server's own document: the schemas that it validates with, of every kind that is installed there. */
export const kindSchemasQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: async () => (await get<OpenApi>("/v1/openapi.json")).components.schemas,
  staleTime: Number.POSITIVE_INFINITY,
});

/** The schema of what a kind's spec may be; undefined where it is not known. */
export function specSchema(schemas: Readonly<Record<string, JsonSchema>>, kind: string): JsonSchema | undefined {
  return schemas[`${kind}Manifest`]?.properties?.["spec"];
}

export function resolved(schemas: Readonly<Record<string, JsonSchema>>, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (schemas[name] ?? {});
}
