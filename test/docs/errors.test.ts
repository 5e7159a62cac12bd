import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

/** Section of the page, file and name of the union that it lists. */
const sections = [
  { title: "Failures of looks and writes", file: "src/kernel/errors.ts", union: "ErrorCode" },
  { title: "The database", file: "src/store/errors.ts", union: "StoreErrorCode" },
  { title: "The embedded PostgreSQL", file: "src/store/embedded/errors.ts", union: "EmbeddedServerErrorCode" },
];

for (const { title, file, union } of sections) {
  test(`docs/errors.md lists every ${union} and nothing else`, () => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    const text = new RegExp(`export type ${union} =([^;]+);`).exec(source)?.[1] ?? "";
    const codes = new Set(Array.from(text.matchAll(/"([A-Z_]+)"/g), ([, code]) => code));
    assert.ok(codes.size > 5, `${file} has the union`);
    assert.deepEqual(listed(title), codes);
  });
}

test("docs/errors.md lists every code of the API with the status it is answered with", () => {
  const source = readFileSync(new URL("../../src/control-api/problem.ts", import.meta.url), "utf8");
  const table = /const statusOf[^{]+\{([^}]+)\}/.exec(source)?.[1] ?? "";
  const statuses = Array.from(table.matchAll(/([A-Z_]+): (\d+)/g), ([, code, status]) => `${code} ${status}`);
  const rows = Array.from(
    section("Answers of the Control API").matchAll(/^\| `([A-Z_]+)` \| (\d+)/gm),
    ([, code, status]) => `${code} ${status}`,
  );
  assert.deepEqual(new Set(rows), new Set(statuses));
});

function section(title: string): string {
  const start = page.indexOf(`## ${title}`);
  const end = page.indexOf("\n## ", start + 3);
  return page.slice(start, end === -1 ? undefined : end);
}

function listed(title: string): ReadonlySet<string | undefined> {
  return new Set(Array.from(section(title).matchAll(/^\| `([A-Z_]+)`/gm), ([, code]) => code));
}
