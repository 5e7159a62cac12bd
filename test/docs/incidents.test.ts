import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { incidents } from "../incidents/incidents.ts";

const root = join(import.meta.dirname, "../..");
const document = readFileSync(join(root, "docs/incidents.md"), "utf8");
const scripts = readdirSync(join(root, "test/incidents"))
  .map((name) => ({ name, text: readFileSync(join(root, "test/incidents", name), "utf8") }))
  .filter(({ name, text }) => name !== "incidents.ts" && /^export const \w+: Incident = /m.test(text));

test("every script is in the table, and every one of its incidents is run", () => {
  const run = new Set(incidents.map(({ title }) => title));
  let found = 0;
  for (const { name, text } of scripts) {
    assert.ok(document.includes(`(../test/incidents/${name})`), `docs/incidents.md has no row for ${name}`);
    found += text.match(/^export const \w+: Incident = /gm)?.length ?? 0;
  }
  assert.equal(run.size, found, "an incident that is not in the list is not run, and two of one title are one");
});

test("every guard that a script proves is in the table", () => {
  for (const { guard, title } of incidents)
    assert.ok(document.includes(`| ${guard.replaceAll("-", " ")} |`), `${title}: the table does not name ${guard}`);
});
