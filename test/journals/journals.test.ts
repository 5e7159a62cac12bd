import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../src/kernel/kind.ts";
import type { Pipeline, Step } from "../../src/kernel/pipeline.ts";
import { kinds } from "../../src/kinds/registry.ts";
import { type Recording, recordings } from "./recording.ts";
import { advice, misfitOf } from "./replay.ts";

test("operations that earlier releases began are gone on with by the present code", () => {
  const all = recordings();
  assert.ok(all.length > 0, "there is something to replay");
  for (const { file, recording } of all) {
    const misfit = misfitOf(recording, kinds);
    assert.ok(misfit === undefined, `${file}: ${advice(recording, misfit ?? "")}`);
  }
});

/** The kinds as somebody would have left them who changed one pipeline in place. */
function misfitAfter(change: (pipeline: Pipeline) => Pipeline, of = recording("dns-zone.create", "succeeded")) {
  const zone = kinds.get("DnsZone");
  assert.ok(zone);
  const pipelines = (zone.pipelines ?? []).map((pipeline) =>
    pipeline.name === of.pipeline ? change(pipeline) : pipeline,
  );
  const changed: Kind = { ...zone, pipelines };
  const misfit = misfitOf(of, new Map([...kinds, ["DnsZone", changed]]));
  return misfit === undefined ? undefined : advice(of, misfit);
}

function recording(pipeline: string, state: Recording["state"]): Recording {
  const found = recordings().find((one) => one.recording.pipeline === pipeline && one.recording.state === state);
  assert.ok(found, `${pipeline} ${state} is recorded`);
  return found.recording;
}

const withSteps = (change: (steps: readonly Step[]) => readonly Step[]) => (pipeline: Pipeline) => ({
  ...pipeline,
  steps: change(pipeline.steps),
});

test("a pipeline that was changed in place is found, with what to do instead", () => {
  assert.equal(
    misfitAfter((pipeline) => pipeline),
    undefined,
  );
  const swapped = misfitAfter(withSteps(([zone, names, ...rest]) => [names, zone, ...rest] as Step[]));
  assert.match(swapped ?? "", /went on with 'zone', and the present code does with 'nameservers'/);
  assert.match(swapped ?? "", /Leave version 1 as it was and add version 2 beside it/);
  assert.match(misfitAfter(withSteps((steps) => steps.slice(1))) ?? "", /step 'zone' is gone/);
  assert.match(misfitAfter((pipeline) => ({ ...pipeline, version: 2 })) ?? "", /version 1 of dns-zone.create is gone/);
  const reshaped = (steps: readonly Step[]) => steps.map((step) => ({ ...step, version: 2 }));
  assert.match(misfitAfter(withSteps(reshaped)) ?? "", /has the shapes of version 2, and version 1 is recorded/);
});

test("what a cancelled operation takes back is part of what must stay as it was", () => {
  const kept = (steps: readonly Step[]) => steps.map((step) => ({ ...step, compensate: undefined }) as unknown as Step);
  const misfit = misfitAfter(withSteps(kept), recording("dns-zone.create", "cancelled"));
  assert.match(misfit ?? "", /it went on with 'admit', and the present code does with 'end'/);
});
