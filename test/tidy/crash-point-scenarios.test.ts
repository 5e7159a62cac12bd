import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../../src/kinds/registry.ts";
import { memoryBackend } from "../../examples/backends.ts";
import { publishedKeyValueSet } from "../../examples/publishing.ts";
import { pipelinesWithoutScenario } from "../crash-points/pipelines/index.ts";
import { withoutScenario } from "../crash-points/scenarios/index.ts";

test("every registered kind with a loop has a crash-point scenario", () => {
  const missing = withoutScenario(kinds);
  assert.deepEqual(
    missing,
    [],
    `add test/crash-points/scenarios/<kind>.ts, and list it in index.ts, for: ${missing.join(", ")}`,
  );
});

test("every pipeline of a registered kind, and of the example, has a crash-point scenario", () => {
  const example = publishedKeyValueSet(memoryBackend(new Map()));
  const missing = pipelinesWithoutScenario([...kinds.values(), example]);
  const words = `add scenarios to test/crash-points/pipelines for: ${missing.join(", ")}`;
  assert.deepEqual(missing, [], words);
});

test("a pipeline without a scenario is named", () => {
  const all = [...kinds.values()].flatMap(({ pipelines = [] }) => pipelines.map(({ name }) => name));
  assert.ok(all.includes("dns-zone.create"));
  assert.deepEqual(pipelinesWithoutScenario(kinds.values(), []), [...new Set(all)]);
});

test("a kind without a scenario is named, and one without a loop needs none", () => {
  const looping = [...kinds.values()].filter((kind) => kind.loop !== undefined).map((kind) => kind.kind);
  assert.ok(looping.length > 0 && looping.length < kinds.size);
  assert.deepEqual(withoutScenario(kinds, []), looping);
});
