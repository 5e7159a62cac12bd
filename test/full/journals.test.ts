import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../../src/kinds/registry.ts";
import { recordings } from "../journals/recording.ts";

test("every pipeline has a recorded journal that future releases must replay", () => {
  const recorded = new Set(recordings().map(({ recording }) => `${recording.pipeline} version ${recording.version}`));
  const missing = [...kinds.values()]
    .flatMap((kind) => kind.pipelines ?? [])
    .map(({ name, version }) => `${name} version ${version}`)
    .filter((pipeline) => !recorded.has(pipeline));
  assert.deepEqual(
    missing,
    [],
    "let each of them run once somewhere (npm start, or test:real), and then, with DATABASE_URL or SETPOINT_DATA: npm run journals",
  );
});
