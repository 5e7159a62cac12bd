import type { Command } from "commander";
import { parseSeconds } from "./duration.ts";
import { type Cell, type Format, formats, json, ndjson, parseFormat, safeText, table, toned, yaml } from "./output.ts";
import type { CliWorld } from "./world.ts";

export interface OutputOptions {
  readonly output: string;
}

export interface RecordOptions extends OutputOptions {
  readonly watch?: boolean;
  readonly timeout?: string;
}

/** A list, and how each of its records looks to people and to programs. */
export interface Records<Item> {
  /** The document as the API gave it, for json and yaml. */
  readonly value: unknown;
  readonly items: readonly Item[];
  readonly name: (item: Item) => string;
  readonly head: readonly string[];
  readonly row: (item: Item) => readonly Cell[];
  /** What `-o wide` shows behind the other columns. */
  readonly wide?: { readonly head: readonly string[]; readonly cells: (item: Item) => readonly Cell[] };
  /** Lines that stand below the row of a record. */
  readonly below?: (item: Item) => readonly string[];
  /** What a person is told instead of an empty table, and what to do about it. */
  readonly empty: string;
  /** What a person is told below the table. */
  readonly note?: string;
}

/** One document: a page of text for people, and its name. */
export interface OneRecord {
  readonly value: unknown;
  readonly name: string;
  readonly text: () => string;
}

export const formatWords = `${formats.slice(0, -1).join(", ")} or ${formats.at(-1) ?? ""}`;
/** Lists without a stream of their own are read this often. */
const everyMs = 2_000;

/** For commands that print one document. */
export function withOutput(command: Command): Command {
  return command.option("-o, --output <format>", formatWords, "table");
}

/** For commands that print a list. */
export function withRecords(command: Command): Command {
  return withOutput(command)
    .option("-w, --watch", "go on and print what changes")
    .option("--timeout <duration>", "with --watch: how long at most");
}

export function showOne(world: CliWorld, options: OutputOptions, { value, name, text }: OneRecord): void {
  const format = parseFormat(options.output);
  if (format === "json") world.writeData(json(value));
  else if (format === "yaml") world.writeData(yaml(value));
  else if (format === "ndjson") world.writeData(ndjson([value]));
  else if (format === "name") world.writeData(`${name}\n`);
  else world.writeData(text());
}

export async function showRecords<Item>(
  world: CliWorld,
  options: RecordOptions,
  read: () => Records<Item> | Promise<Records<Item>>,
): Promise<void> {
  const format = parseFormat(options.output);
  if (options.watch !== true) return writeRecords(world, format, await read());
  const signal = world.timer(options.timeout === undefined ? undefined : parseSeconds(options.timeout) * 1_000);
  let known: ReadonlyMap<string, string> | undefined;
  do {
    const records = await read();
    if (known === undefined && (format === "table" || format === "wide")) writeRecords(world, format, records);
    else writeChanges(world, format, records, known ?? new Map());
    known = textsOf(records);
    await world.sleep(everyMs);
  } while (!signal.aborted);
}

function writeRecords<Item>(world: CliWorld, format: Format, records: Records<Item>): void {
  const { value, items, name, head, row, wide, below, empty, note } = records;
  if (format === "json") return world.writeData(json(value));
  if (format === "yaml") return world.writeData(yaml(value));
  if (format === "ndjson") return world.writeData(ndjson(items));
  if (format === "name") return world.writeData(items.map((item) => `${name(item)}\n`).join(""));
  if (items.length === 0) return world.writeNote(`${empty}\n`);
  const more = format === "wide" ? wide : undefined;
  const rows = items.map((item) => [...row(item), ...(more?.cells(item) ?? [])]);
  const [title = "", ...lines] = table(world, [...head, ...(more?.head ?? [])], rows)
    .trimEnd()
    .split("\n");
  const under = items.map((item) => below?.(item) ?? []);
  world.writeData(`${[title, ...lines.flatMap((line, index) => [line, ...(under[index] ?? [])])].join("\n")}\n`);
  if (note !== undefined) world.writeNote(`${note}\n`);
}

function textsOf<Item>({ items, name }: Records<Item>): ReadonlyMap<string, string> {
  return new Map(items.map((item) => [name(item), JSON.stringify(item)]));
}

/** Newest last: a list that begins with the newest is read from its end, so that lines come in the order of time. */
function writeChanges<Item>(
  world: CliWorld,
  format: Format,
  records: Records<Item>,
  known: ReadonlyMap<string, string>,
): void {
  const now = textsOf(records);
  for (const item of records.items.toReversed()) {
    const name = records.name(item);
    if (known.get(name) === now.get(name)) continue;
    const type = known.has(name) ? "MODIFIED" : "ADDED";
    if (format === "json" || format === "ndjson") world.writeData(ndjson([{ type, object: item }]));
    else if (format === "yaml") world.writeData(`---\n${yaml({ type, object: item })}`);
    else if (format === "name") world.writeData(`${name}\n`);
    else world.writeData(`${[lineOf(world, records.row(item)), ...(records.below?.(item) ?? [])].join("\n")}\n`);
  }
  for (const name of known.keys()) {
    if (now.has(name)) continue;
    if (format === "json" || format === "ndjson") world.writeData(ndjson([{ type: "DELETED", name }]));
    else if (format === "yaml") world.writeData(`---\n${yaml({ type: "DELETED", name })}`);
    else if (format !== "name") world.writeData(`${toned(world, "soft", "gone")}  ${safeText(name)}\n`);
  }
}

function lineOf(world: CliWorld, cells: readonly Cell[]): string {
  return cells
    .map((cell) => (typeof cell === "string" ? safeText(cell) : toned(world, cell.tone, safeText(cell.text))))
    .join("  ");
}
