import type { Json } from "../../ports/json.ts";
import type { Call } from "./call.ts";
import { invalid } from "./errors.ts";

/** What can be asked for of an entry: its metadata and its properties, by their names. */
export type Facts = Readonly<Record<string, Json | undefined>>;

const prefix = "filter.";

/**
 * `filter.name=web` has those whose name holds that text, whatever its case; of several values for one name any will do, and all
 * names must. `orderBy=name` sorts. Without either, nobody's facts are looked at.
 */
export function chosen<R>(call: Call, rows: readonly R[], factsOf: (row: R) => Facts): readonly R[] {
  const names = [...new Set(call.query.keys())].filter((key) => key.startsWith(prefix));
  const orderBy = call.query.get("orderBy");
  if (names.length === 0 && orderBy === null) return rows;
  const wanted = names.map((name) => ({ name: name.slice(prefix.length), values: call.query.getAll(name) }));
  const left = rows
    .map((row) => ({ row, facts: factsOf(row) }))
    .filter(({ facts }) => wanted.every(({ name, values }) => values.some((value) => isIt(facts, name, value))));
  const inOrder = orderBy === null ? left : left.toSorted((a, b) => compared(a.facts[orderBy], b.facts[orderBy]));
  return inOrder.map(({ row }) => row);
}

function isIt(facts: Facts, name: string, value: string): boolean {
  if (name === "createdAfter") return momentOf(facts["createdDate"]) > momentOf(moment(name, value));
  if (name === "createdBefore") return momentOf(facts["createdDate"]) < momentOf(moment(name, value));
  const text = name === "createdDate" ? momentOf(facts[name]) : textOf(facts[name]);
  return text.toLowerCase().includes(name === "createdDate" ? momentOf(value) : value.toLowerCase());
}

/** As the provider writes it in filters: yyyy-MM-dd HH:mm:ss. */
function moment(name: string, value: string): string {
  if (/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(value)) return value;
  throw invalid(`${prefix}${name}`, "must be a time such as 2026-01-31 23:59:59");
}

function momentOf(value: Json | undefined): string {
  return textOf(value).replace("T", " ").replace("Z", "");
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What has no such property comes last. */
function compared(left: Json | undefined, right: Json | undefined): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const [a, b] = [textOf(left), textOf(right)];
  if (a === b) return 0;
  return b === "" || (a !== "" && a < b) ? -1 : 1;
}
