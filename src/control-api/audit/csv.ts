/** One line of CSV (RFC 4180). Every cell is quoted, and none is a formula when a spreadsheet opens the file. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

function cell(value: string | number | undefined): string {
  const text = value === undefined ? "" : String(value);
  // A spreadsheet runs what begins like this, also behind blanks and in full width.
  const isFormula = typeof value === "string" && /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]|^[\t\r\n]/.test(text);
  return `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"`;
}
