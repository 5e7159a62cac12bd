import { z } from "zod";
import type { Route } from "./route.ts";

/** Names of fields that have a secret in them, or something that lets somebody in. */
const secretNames = /^(token|secret|password|link|url|uri|recoverycodes|value)$/i;
const known = new WeakMap<Route, boolean>();

/** Whether a route's answer may hold a secret. When in doubt it does: then only its repetition is refused. */
export function answersSecret(route: Route): boolean {
  const decided =
    known.get(route) ?? route.showsSecret ?? Object.values(route.answers).some(({ schema }) => hasSecret(schema));
  known.set(route, decided);
  return decided;
}

function hasSecret(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false;
  return namesIn(z.toJSONSchema(schema, { unrepresentable: "any" })).some((name) => secretNames.test(name));
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([key, part]) =>
    key === "properties" && typeof part === "object" && part !== null
      ? [...Object.keys(part), ...namesIn(Object.values(part))]
      : namesIn(part),
  );
}
