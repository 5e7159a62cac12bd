import { queryOptions } from "@tanstack/react-query";
import { get } from "./client.ts";
import type { JsonSchema } from "./json-schema.ts";

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** The server's own document: the schemas that it validates with, of every kind that is installed there. */
export const kindSchemasQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: async () => (await get<OpenApi>("/v1/openapi.json")).components.schemas,
  staleTime: Number.POSITIVE_INFINITY,
});
