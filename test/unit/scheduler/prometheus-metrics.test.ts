import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "@prometheus-io/client";
import { prometheusMetrics } from "../../../src/scheduler/prometheus-metrics.ts";
import { Scene, settle } from "./scene.ts";

test("every series is there at zero before the first event, with base units and the usual endings", async () => {
  const registry = new Registry();
  prometheusMetrics(registry, ["Thing"]);
  const text = await registry.metrics();
  assert.match(text, /^setpoint_cycles_total\{kind="Thing",result="converged"\} 0$/m);
  assert.match(text, /^setpoint_cycles_lost_total\{kind="Thing",cause="hung"\} 0$/m);
  assert.match(text, /^setpoint_cycle_duration_seconds_count\{kind="Thing"\} 0$/m);
  assert.match(text, /^setpoint_cycle_diff_items_count\{kind="Thing",action="delete"\} 0$/m);
  assert.match(text, /^setpoint_guard_trips_total\{guard="delete-budget",answer="hold"\} 0$/m);
  assert.match(text, /^setpoint_leases_lost_total\{cause="taken"\} 0$/m);
  assert.match(text, /^setpoint_account_calls_blocked_total 0$/m);
  assert.match(text, /^setpoint_oldest_unseen_seconds 0$/m);
  for (const [, type, name] of text
    .matchAll(/^# TYPE (?<name>\S+) (?<type>\S+)$/gm)
    .map((match) => ["", match.groups?.["type"], match.groups?.["name"]])) {
    assert.match(name ?? "", /^setpoint_/);
    assert.equal(type === "counter", name?.endsWith("_total"), name);
  }
});

test("a scheduler's work shows in its metrics, and metrics that throw do not disturb it", async () => {
  const registry = new Registry();
  const scene = new Scene();
  for (const id of [1, 2, 3]) scene.store.add({ id, shard: id, organizationId: `org-${id}`, due: true });
  const verdict = { guard: "delete-budget", answer: "hold", reason: "", numbers: {}, keys: [] } as const;
  scene.behaviours.set(1, (engine, claim) =>
    settle(engine, claim, {
      result: "held",
      held: 4,
      written: 2,
      sizes: { create: 2, update: 0, replace: 0, delete: 4 },
      verdicts: [verdict],
      idle: false,
    }),
  );
  scene.behaviours.set(3, "throws");
  const metrics = prometheusMetrics(registry, ["Thing"]);
  scene.start("a", { metrics });
  await scene.clock.advance(10_500);
  const text = await registry.metrics();
  assert.match(text, /^setpoint_cycles_total\{kind="Thing",result="held"\} 1$/m);
  assert.match(text, /^setpoint_cycles_total\{kind="Thing",result="converged"\} 1$/m);
  assert.match(text, /^setpoint_cycles_lost_total\{kind="Thing",cause="thrown"\} [2-5]$/m);
  assert.match(text, /^setpoint_guard_trips_total\{guard="delete-budget",answer="hold"\} 1$/m);
  assert.match(text, /^setpoint_writes_total\{kind="Thing"\} 2$/m);
  assert.match(text, /^setpoint_cycle_diff_items_sum\{kind="Thing",action="delete"\} 4$/m);
  assert.match(text, /^setpoint_convergence_seconds_count\{kind="Thing"\} 1$/m);
  assert.match(text, /^setpoint_queue_wait_seconds_count\{priority="person"\} 2$/m);
  assert.match(text, /^setpoint_shards_held 64$/m);
  assert.match(text, /^setpoint_subjects 3$/m);

  const broken = new Scene();
  for (const id of [1, 2]) broken.store.add({ id, shard: id, due: true });
  broken.start("a", {
    metrics: {
      ...metrics,
      cycleEnded: () => assert.fail("the metrics are broken"),
      gauges: () => assert.fail("the metrics are broken"),
    },
  });
  await broken.clock.advance(12_000);
  assert.deepEqual(broken.ids(), [1, 2]);
  assert.ok(broken.events("scheduler.metrics_failed").length >= 3);
});
