import assert from "node:assert/strict";
import { test } from "node:test";
import { groupBounds, groupDeclarations } from "../../../src/compose/demo/group-declarations.ts";
import { Traffic } from "../../../src/compose/demo/traffic.ts";
import { scalingGroupSchema } from "../../../src/kinds/scaling-group/schema.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const [byLoad] = groupDeclarations().map(({ body }) => scalingGroupSchema.parse((body as { spec: unknown }).spec));
const { upAbove = 0, downBelow = 0 } = byLoad?.metrics.cpuPercent ?? {};

test("the usual visitors leave the smallest group in peace, and let any larger one shrink to it", () => {
  const traffic = new Traffic(new VirtualClock());
  const usual = traffic.cpuOfEach(groupBounds.min);
  assert.ok(usual < upAbove && usual > downBelow, `${usual}`);
  for (let size = groupBounds.min + 1; size <= groupBounds.max; size++)
    assert.ok(traffic.cpuOfEach(size) < downBelow, `${size} servers are at ${traffic.cpuOfEach(size)} %`);
});

test("a spike makes the group grow as far as it may, is shared by whoever is there, and ends by itself", () => {
  const clock = new VirtualClock();
  const traffic = new Traffic(clock);
  traffic.spikeUntilMs = clock.monotonicMs() + 1;
  for (let size = groupBounds.min; size <= groupBounds.max; size++) assert.ok(traffic.cpuOfEach(size) > upAbove);
  assert.ok(traffic.cpuOfEach(2 * groupBounds.max) < upAbove, "only its bound keeps it from growing on");
  assert.equal(traffic.cpuOfEach(1), 100, "nobody works more than all the time");
  traffic.spikeUntilMs = clock.monotonicMs();
  assert.ok(traffic.cpuOfEach(groupBounds.min) < upAbove);
});
