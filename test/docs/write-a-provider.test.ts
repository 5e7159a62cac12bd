import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { computeConformance } from "setpoint/testing";
import { blocksOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = readFileSync(join(root, "docs/write-a-provider.md"), "utf8");

test("what the page shows of a file is in that file", () => {
  const blocks = blocksOf(text);
  assert.ok(blocks.length > 0);
  for (const { about, text: shown } of blocks)
    assert.ok(readFileSync(join(root, about), "utf8").includes(shown), about);
});

test("the page lists every check of the conformance kit, and no other", () => {
  const section = text.split("## The conformance kit\n")[1] ?? "";
  const listed = Array.from(section.matchAll(/^\| (?!check|-)([^|`]+) \| [^|]+ \|$/gm), ([, name = ""]) => name);
  assert.deepEqual(
    listed,
    computeConformance.map(({ name }) => name),
  );
});
