import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Registry } from "@prometheus-io/client";
import { parse } from "yaml";
import { registerPlatformMetrics } from "../../../src/compose/platform-metrics.ts";
import { prometheusMetrics } from "../../../src/scheduler/prometheus-metrics.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary?: string; readonly description?: string };
}

const { groups } = parse(read("deploy/alerts/setpoint.rules.yml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Every metric there is, from the code that makes them. */
async function knownMetrics(): Promise<ReadonlySet<string>> {
  const [api, scheduler] = [new Registry(), new Registry()];
  const summary = async () => {
    throw new Error("nothing is read here");
  };
  registerPlatformMetrics(api, { reads: { summary }, governance: { waiting: summary } }, new ManualClock());
  prometheusMetrics(scheduler, ["DnsZone"]);
  const text = `${await api.metrics()}\n${await scheduler.metrics()}`;
  return new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));
}

test("every metric that an alert names exists", async () => {
  const known = await knownMetrics();
  const named = rules.flatMap(({ expr }) => expr.match(/setpoint_\w+/g) ?? []);
  assert.ok(named.length >= rules.length);
  assert.deepEqual(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  );
});

test("every alert says what is wrong and what to do, and is explained", () => {
  const document = read("docs/alerts.md");
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity, /^(info|warning|critical)$/, alert);
    assert.ok((annotations.summary ?? "") !== "" && (annotations.description ?? "") !== "", alert);
    assert.ok(document.includes(`\`${alert}\``), `docs/alerts.md does not explain ${alert}`);
  }
});

test("pending deletes, held changes, stalled loops and stale observations are covered by tests of the rules themselves", () => {
  const tested = read("deploy/alerts/setpoint.test.yml");
  for (const name of ["PendingDeletes", "HeldChangeWaits", "LoopsStalled", "StaleObservations"])
    assert.ok(tested.includes(`alertname: Setpoint${name}`), name);
});
