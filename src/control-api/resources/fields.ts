import { sameJson } from "../../kernel/hash.ts";
import type { Change } from "../../ports/declaring-store.ts";
import type { Json, JsonObject } from "../../ports/json.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { Mode } from "../../ports/records.ts";

/** What somebody declares, field by field: JSON pointers into the manifest, down to what is not an object. */
export type Fields = ReadonlyMap<string, Json>;

/** What a manifest says, without its name. */
export interface Declaration {
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: Mode | undefined;
  readonly protect: boolean | undefined;
}

export type Owners = Readonly<Record<string, string>>;

export function fieldsOf({ spec, labels, mode, protect }: Declaration): Fields {
  const fields = new Map<string, Json>();
  for (const [key, value] of Object.entries(labels)) fields.set(`/metadata/labels/${escaped(key)}`, value);
  if (mode !== undefined) fields.set("/metadata/mode", mode);
  if (protect !== undefined) fields.set("/metadata/protect", protect);
  collect("/spec", spec, fields);
  return fields;
}

/** A list is one field: its elements have no names by which two owners could tell them apart. */
function collect(pointer: string, value: Json, fields: Map<string, Json>): void {
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0) fields.set(pointer, value);
  for (const [key, part] of entries) collect(`${pointer}/${escaped(key)}`, part, fields);
}

export function declarationOf(fields: Fields): Declaration {
  const labels: Record<string, string> = {};
  let spec: Json = {};
  for (const [pointer, value] of fields) {
    const [area, ...path] = pointer.slice(1).split("/").map(unescaped);
    if (area === "spec") spec = path.length === 0 ? value : withField(isObject(spec) ? spec : {}, path, value);
    else if (path[0] === "labels" && typeof value === "string") labels[path[1] ?? ""] = value;
  }
  return {
    spec,
    labels,
    mode: fields.get("/metadata/mode") as Mode | undefined,
    protect: fields.get("/metadata/protect") as boolean | undefined,
  };
}

function withField(parent: JsonObject, [key = "", ...rest]: readonly string[], value: Json): JsonObject {
  const child = Object.hasOwn(parent, key) ? parent[key] : undefined;
  const made = rest.length === 0 ? value : withField(isObject(child) ? child : {}, rest, value);
  return { ...parent, [key]: made };
}

/** The fields in which two declarations differ, with both values. */
export interface FieldChange {
  readonly pointer: string;
  readonly before?: Json;
  readonly after?: Json;
}

export function changesBetween(before: Fields, after: Fields): readonly FieldChange[] {
  const pointers = [...new Set([...before.keys(), ...after.keys()])].sort();
  return pointers.flatMap((pointer) => {
    const [old, now] = [before.get(pointer), after.get(pointer)];
    if (old !== undefined && now !== undefined && sameJson(old, now)) return [];
    return [{ pointer, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) }];
  });
}

export function declarationOfView({ resource, mode, protect }: ResourceView): Declaration {
  return { spec: resource.spec, labels: resource.labels, mode, protect: protect ? true : undefined };
}

/** What a change makes of what stands there, field by field. */
export function changedFields(change: Change, before: ResourceView | undefined): readonly FieldChange[] {
  const old = before === undefined ? new Map() : fieldsOf(declarationOfView(before));
  return changesBetween(old, change.action === "delete" ? new Map() : fieldsOf(change.declare));
}

/** Who owns a field: whoever is named for it, or for what it is in. Defaults belong to nobody. */
export function ownerOf(owners: Owners, pointer: string): string | undefined {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf("/", end - 1)) {
    const part = pointer.slice(0, end);
    if (Object.hasOwn(owners, part)) return owners[part];
  }
  return undefined;
}

/** After a replacement: what stays as it was keeps its owner. */
export function ownersAfterReplace(given: Fields, standing: Fields, owners: Owners, manager: string): Owners {
  const entries = [...given].map(([pointer, value]) => {
    const old = standing.get(pointer);
    const same = old !== undefined && sameJson(old, value);
    return [pointer, same ? (ownerOf(owners, pointer) ?? manager) : manager] as const;
  });
  return Object.fromEntries(entries);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
