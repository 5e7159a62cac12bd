import { readFileSync } from "node:fs";

/** One line of the table: what each column is answered with. */
export interface Line {
  readonly method: string;
  readonly path: string;
  readonly cells: ReadonlyMap<string, string>;
}

const file = new URL("../../access-matrix.tsv", import.meta.url);

export function readTable(): readonly Line[] {
  const [head = "", ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  const [, , ...columns] = head.split("\t");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [method = "", path = "", ...cells] = line.split("\t");
      if (cells.length !== columns.length)
        throw new Error(`access-matrix.tsv: ${method} ${path} has ${cells.length} cells, not ${columns.length}`);
      return { method, path, cells: new Map(columns.map((column, index) => [column, cells[index] ?? ""])) };
    });
}

export function writeTable(lines: readonly Line[]): string {
  const columns = [...(lines[0]?.cells.keys() ?? [])];
  const rows = lines.map(({ method, path, cells }) => [
    method,
    path,
    ...columns.map((column) => cells.get(column) ?? ""),
  ]);
  return `${[["method", "path", ...columns], ...rows].map((row) => row.join("\t")).join("\n")}\n`;
}
