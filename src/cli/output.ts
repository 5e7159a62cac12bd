import { styleText } from "node:util";
import { stringify } from "yaml";
import { usageError } from "./cli-error.ts";
import type { CliWorld } from "./world.ts";

export const formats = ["table", "wide", "json", "yaml", "ndjson", "name"] as const;
export type Format = (typeof formats)[number];

export function parseFormat(text: string): Format {
  const format = formats.find((entry) => entry === text);
  if (format === undefined) throw usageError(`There is no output format "${text}". Formats: ${formats.join(", ")}`);
  return format;
}

export type Tone = "good" | "warn" | "bad" | "soft";
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** Columns as wide as their widest cell; the last one is never padded, so that copying a line copies no spaces. */
export function table(world: CliWorld, head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [head, ...rows.map((row) => row.map((cell) => safeText(typeof cell === "string" ? cell : cell.text)))];
  const widths = head.map((_title, index) => Math.max(...texts.map((row) => (row[index] ?? "").length)));
  const lines = texts.map((row, rowIndex) =>
    row
      .map((text, index) => {
        const cell = rows[rowIndex - 1]?.[index];
        const shown = typeof cell === "object" ? toned(world, cell.tone, text) : text;
        return index === row.length - 1 ? shown : shown + " ".repeat(Math.max(0, (widths[index] ?? 0) - text.length));
      })
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** Text from outside must not move the cursor or change colours: control characters become visible. */
export function safeText(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === "\n" || character === "\t" ? " " : "\ufffd"));
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** One document a line: what programs read while it is still being written. */
export function ndjson(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Manifests are YAML unless something else is asked for; a table of them has their names. */
export function writeManifests(world: CliWorld, output: string, manifests: readonly Named[]): void {
  const format = parseFormat(output);
  const nameOf = ({ kind, metadata }: Named) => `${kind.toLowerCase()}/${metadata.name}`;
  if (format === "yaml") return world.writeData(yamlDocuments(manifests));
  if (format === "json") return world.writeData(json({ items: manifests }));
  if (format === "ndjson") return world.writeData(ndjson(manifests));
  if (format === "name") return world.writeData(manifests.map((one) => `${nameOf(one)}\n`).join(""));
  const rows = manifests.map(({ kind, metadata }) => [kind, metadata.name]);
  world.writeData(table(world, ["KIND", "NAME"], rows));
}

/** A value as a person reads it in a sentence. */
export function shown(value: unknown): string {
  return value === undefined || value === null
    ? "nothing"
    : safeText(typeof value === "string" ? value : JSON.stringify(value));
}

export function yaml(value: unknown): string {
  return stringify(value, { lineWidth: 120 });
}

export function yamlDocuments(values: readonly unknown[]): string {
  return values.map(yaml).join("---\n");
}

const styles = { good: "green", warn: "yellow", bad: "red", soft: "dim" } as const;

export function toned(world: CliWorld, tone: Tone, text: string): string {
  return world.colours ? styleText(styles[tone], text, { validateStream: false }) : text;
}

export function statusTone(status: string): Tone {
  return status === "True" ? "good" : status === "False" ? "bad" : "warn";
}
