import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf } from "./blocks.ts";

const root = join(import.meta.dirname, "../..");
const document = readFileSync(join(root, "docs/write-a-kind.md"), "utf8");
const blocks = blocksOf(document);
const named = Map.groupBy(blocks, ({ language, about }) => `${language} ${about}`.trim());

/** When a periodic look falls is the scheduler's business; what happens is the tutorial's. */
function withoutTimes(text: string): string {
  return text.replace(/^\d\d:\d\d:\d\d /gm, "").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

test("every block is a part of a file, a command, or what a command prints", () => {
  assert.equal(document.match(/^```/gm)?.length, blocks.length * 2, "a fence names its language");
  const known = /^(ts [\w./-]+\.ts|sh|text .+)$/;
  for (const name of named.keys()) assert.match(name, known, "a block nobody runs is a block nobody checks");
});

for (const [name, parts] of named) {
  if (!name.startsWith("ts ")) continue;
  const path = name.slice("ts ".length);
  test(`the blocks of ${path} are the whole file`, () => {
    assert.equal(`${parts.map(({ text }) => text).join("\n\n")}\n`, readFileSync(join(root, path), "utf8"));
  });
}

for (const { text: command } of named.get("sh") ?? []) {
  test(`${command} prints what the tutorial shows`, () => {
    const shown = named.get(`text ${command}`) ?? [];
    assert.notEqual(shown.length, 0, "the tutorial shows what the command prints");
    const printed = execFileSync("sh", ["-c", command], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    });
    assert.equal(withoutTimes(printed), withoutTimes(`${shown.map(({ text }) => text).join("\n")}\n`));
  });
}

test("the kind is at most 60 lines", () => {
  const lines = readFileSync(join(root, "examples/key-value-set.ts"), "utf8").trimEnd().split("\n");
  assert.ok(lines.length <= 60, `it has ${lines.length}`);
});
