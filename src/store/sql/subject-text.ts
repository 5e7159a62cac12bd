import type { LoadedResource, LoadedSubject } from "./load.ts";

/** Between two subjects, between two fields of one, and between the parts of its path. No name and no JSON has these in it. */
export const betweenSubjects = "\u001e";
const betweenFields = "\u001f";
const betweenParts = "\u001d";

type Form = "text" | "free text" | "number" | "boolean" | "json" | "parts";

/**
 * The fields of a loaded subject on their way, in the order of `LoadedSubject` with its resource at the end. Each is sent as the
 * server prints it, which is twice as quick as making one JSON of all; what people may have written freely is quoted.
 */
const FIELDS: readonly (readonly [column: string, form: Form])[] = [
  ["id", "number"],
  ["organization_id", "text"],
  ["account_id", "text"],
  ["shard", "number"],
  ["input_version", "number"],
  ["policy_version", "number"],
  ["due_at_ms", "number"],
  ["hold_operation_id", "text"],
  ["hold_since_ms", "number"],
  ["hold_reason", "free text"],
  ["detached", "json"],
  ["memory", "json"],
  ["status", "json"],
  ["observation_hash", "text"],
  ["held_digest", "text"],
  ["path", "parts"],
  ["mode", "text"],
  ["protect", "boolean"],
  ["busy", "boolean"],
  ["undone", "json"],
  ["uid", "text"],
  ["kind", "text"],
  ["name", "free text"],
  ["scope", "text"],
  ["generation", "number"],
  ["spec", "json"],
  ["labels", "json"],
  ["author_name", "free text"],
  ["author_type", "text"],
  ["declared_at_ms", "number"],
  ["deletion", "json"],
];
const OWN_FIELDS = FIELDS.findIndex(([column]) => column === "uid");

/** SQL: one subject as one text, from a row that has every column under its own name. */
export function subjectText(row: string): string {
  const columns = FIELDS.map(([column, form]) => {
    if (form === "free text") return `to_json(${row}.${column})`;
    return form === "parts" ? `array_to_string(${row}.${column}, E'\\x1d')` : `${row}.${column}`;
  });
  return `concat(${columns.join(", E'\\x1f', ")})`;
}

/** The subject that such a text says. */
export function readSubject(text: string): LoadedSubject {
  const fields = text.split(betweenFields);
  if (fields.length !== FIELDS.length)
    throw new Error(`Subject ${fields[0]} was read with ${fields.length} fields; expected ${FIELDS.length}`);
  const values = fields.map((field, place) => readField(field, (FIELDS[place] as (typeof FIELDS)[number])[1]));
  const resource = values.splice(OWN_FIELDS) as unknown as LoadedResource;
  return [...values, resource] as unknown as LoadedSubject;
}

function readField(field: string, form: Form): unknown {
  if (form === "parts") return field === "" ? [] : field.split(betweenParts);
  if (field === "") return null;
  if (form === "text") return field;
  if (form === "number") return Number(field);
  return form === "boolean" ? field === "t" : JSON.parse(field);
}
