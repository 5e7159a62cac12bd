import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { selectTests, suiteOf } from "../../../scripts/suites.mjs";

test("every test file belongs to one command", () => {
  assert.equal(suiteOf("test/unit/kernel/diff.test.ts"), "fast");
  assert.equal(suiteOf("test/a-new-folder/a.test.ts"), "fast");
  assert.equal(suiteOf("test/full/sim/seeds.test.ts"), "full");
  assert.equal(suiteOf("test/real/powerdns.test.ts"), "real");
  assert.equal(suiteOf("test/support/world.ts"), undefined);
  assert.equal(suiteOf("src/kernel/diff.test.ts"), undefined);
});

test("without names a command runs its whole suite, and nothing of another", () => {
  const { files } = selectTests("fast", []);
  assert.ok(files.includes(fileURLToPath(import.meta.url)));
  assert.ok(files.every((path) => !/\/test\/(full|real)\//.test(path)));
});

test("named files and folders run alone, with the flags of node:test", () => {
  const here = fileURLToPath(import.meta.url);
  const named = selectTests("fast", ["--test-name-pattern=x", here]);
  assert.deepEqual(named, { flags: ["--test-name-pattern=x"], files: [here] });
  assert.ok(selectTests("fast", [fileURLToPath(new URL(".", import.meta.url))]).files.includes(here));
});
