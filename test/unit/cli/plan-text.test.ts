import assert from "node:assert/strict";
import { test } from "node:test";
import { outsideTexts } from "../../../src/cli/commands/plan.ts";
import type { CliWorld } from "../../../src/cli/world.ts";
import type { DryRunDocument } from "../../../src/control-api/schemas/dry-run.ts";

const world = { colours: false } as unknown as CliWorld;

/** The plan of one record of a zone: it is that of the whole zone. */
function planOf(creates: number): DryRunDocument {
  const item = (action: string, key: string) => ({ action, key, passes: true, differences: [] });
  const items = Array.from({ length: creates }, (_, index) => item("create", `host-${index}.example.test. A`));
  const subject = {
    kind: "DnsZone",
    name: "example",
    sizes: { create: creates, update: 0, replace: 0, delete: 1 },
    items: [...items, item("delete", "old.example.test. A")],
    held: [],
  };
  return { subjects: [subject] } as unknown as DryRunDocument;
}

const lines = (texts: readonly string[]) => texts.join("").trimEnd().split("\n");

test("a large plan says how much it is and lists its first items, what cannot be undone before the rest", () => {
  const text = lines(outsideTexts(world, [planOf(5_000)]));
  assert.equal(text.length, 22);
  assert.match(text[0] ?? "", /1 to delete, 0 to replace, 0 to change, 5000 to create/);
  assert.match(text[1] ?? "", /delete old\.example\.test\. A/);
  assert.match(text.at(-1) ?? "", /… and 4981 more \(setpoint plan -f FILE -o wide lists all\)/);
});

test("the plans of many records of one zone do not list the zone again and again", () => {
  const text = lines(outsideTexts(world, [planOf(30), planOf(30), planOf(30)]));
  assert.equal(text.filter((line) => /^ {4}(create|delete) /.test(line)).length, 20);
  assert.equal(text.filter((line) => line.includes("to create")).length, 3);
  assert.equal(text.filter((line) => line.includes("… and 31 more")).length, 2);
});

test("all of it is listed where that is asked for, and a small plan is listed whole", () => {
  assert.equal(lines(outsideTexts(world, [planOf(5_000)], Number.POSITIVE_INFINITY)).length, 5_002);
  assert.equal(lines(outsideTexts(world, [planOf(5)])).length, 7);
});
