import type { SpecAsSeen } from "../../kernel/kind.ts";
import type { Json, JsonObject } from "../../ports/json.ts";

/** How one field of an item is said in a spec; a text says why it is not. */
export type SaidInSpec = (seen: Json | undefined) => { readonly spec: JsonObject } | string;

/** Puts every field that differs into the spec by its own words. One that has none keeps the whole from being said. */
export function specAsSeen(
  item: object,
  fields: readonly string[],
  words: Readonly<Record<string, SaidInSpec>>,
): SpecAsSeen {
  let spec: JsonObject = {};
  for (const field of fields) {
    const said = words[field]?.((item as Readonly<Record<string, Json>>)[field]) ?? `no spec says its ${field}`;
    if (typeof said === "string") return { ok: false, message: said };
    spec = { ...spec, ...said.spec };
  }
  return { ok: true, spec };
}

/** A field of the item that is a field of the spec. */
export function sameField(name: string): SaidInSpec {
  return (seen) => (seen === undefined ? `its ${name} was not seen` : { spec: { [name]: seen } });
}

/** A list of names that a spec says with more about each: what it says of those that stay is kept. */
export function namedList(name: string, before: Json | undefined): SaidInSpec {
  return (seen) => {
    if (!Array.isArray(seen)) return `its ${name} were not seen`;
    const known = (Array.isArray(before) ? before : []) as readonly { readonly name: string }[];
    const entries = (seen as readonly string[]).map(
      (one): JsonObject => ({ ...known.find((entry) => entry.name === one), name: one }),
    );
    return { spec: { [name]: entries } };
  };
}

/** The labels without those that Setpoint puts there itself. */
export const ownLabels: SaidInSpec = (seen) => {
  const labels = Object.entries((seen ?? {}) as JsonObject).filter(([label]) => !label.startsWith("setpoint-"));
  return { spec: { labels: Object.fromEntries(labels) } };
};

export function itsName(kind: string): SaidInSpec {
  return (seen) => `it is called ${JSON.stringify(seen)} outside, and a ${kind} gives its thing its own name`;
}
