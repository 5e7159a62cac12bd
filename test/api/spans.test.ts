import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { CycleSpans } from "../../src/compose/cycle-spans.ts";
import type { Claim, CycleReport, Engine } from "../../src/kernel/claim.ts";
import type { Http } from "../../src/ports/http.ts";
import type { Log } from "../../src/ports/log.ts";
import { createHttpClient } from "../../src/runtime/http-client.ts";
import { createOtlpTracer } from "../../src/runtime/otlp-tracer.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { tracedHttp } from "../../src/runtime/traced-http.ts";
import type { RunCycle } from "../../src/scheduler/options.ts";
import { startTestApi } from "../support/api.ts";
import { type SentSpan, startCollector } from "../support/span-collector.ts";
import { report as reportOf } from "../unit/scheduler/fake-store.ts";

const warnings: string[] = [];
const log: Log = { debug() {}, info() {}, warn: (name) => void warnings.push(name), error() {} };

test("requests are sent as spans, without what tenants wrote", async () => {
  await using collector = await startCollector();
  await using http = createHttpClient();
  const { endpoint } = collector;
  await using tracer = createOtlpTracer({ endpoint, service: "setpoint-api", version: "0", http, log });
  await using api = await startTestApi({ tracer });
  const trace = "0af7651916cd43dd8448eb211c80319c";
  await api.send("GET", "/v1/organizations/default/pauses", undefined, {
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
  });
  await api.send("GET", "/v1/organizations/secret-name/pauses");
  await tracer.flush();
  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  const requests = named("GET /v1/organizations/:organization/pauses");
  assert.equal(requests.length, 2);
  assert.equal(requests[0]?.traceId, trace);
  assert.equal(requests[0]?.parentSpanId, "b7ad6b7169203331");
  const status = (span: SentSpan | undefined) =>
    span?.attributes.find(({ key }) => key === "http.response.status_code")?.value["intValue"];
  assert.deepEqual(requests.map(status), ["200", "404"]);
  assert.doesNotMatch(JSON.stringify(collector.spans), /secret/);
});

/** A cycle that calls so often, each time after it has waited for something else, as cycles do. */
function cycleOf(http: Http, url: string, calls: number, report: Partial<CycleReport>): RunCycle {
  return async (_engine, { subjectId }) => {
    for (let index = 0; index < calls; index++) {
      await setImmediate();
      await http.request({ method: "GET", url: `${url}/secret-path`, timeoutMs: 1_000 });
    }
    return reportOf(subjectId, "converged", { kind: "DnsZone", ...report });
  };
}

/** All that a cycle's span is made of. */
const engine = { clock: systemClock } as unknown as Engine;
const claim = (subjectId: number) => ({ subjectId, trigger: "person" }) as unknown as Claim;

test("calls are children of the cycle that makes them, however many run at once", async () => {
  await using collector = await startCollector();
  await using client = createHttpClient();
  const { endpoint } = collector;
  await using tracer = createOtlpTracer({ endpoint, service: "setpoint-scheduler", version: "0", http: client, log });
  const cycles = new CycleSpans(tracer);
  const http = tracedHttp(client, tracer, () => cycles.current());
  const run = (subjectId: number, calls: number, report: Partial<CycleReport>) =>
    cycles.around(cycleOf(http, endpoint, calls, report))(engine, claim(subjectId));
  await Promise.all([
    run(1, 3, { idle: false, result: "changed", written: 2 }),
    run(2, 2, { idle: false, result: "failed" }),
    run(3, 1, {}),
    run(4, 0, {}),
    run(5, 0, { idle: false, result: "held", held: 1 }),
  ]);
  await http.request({ method: "GET", url: endpoint, timeoutMs: 1_000 });
  await assert.rejects(
    cycles.around(async () => {
      await http.request({ method: "GET", url: endpoint, timeoutMs: 1_000 });
      throw new Error("lost");
    })(engine, claim(6)),
    /lost/,
  );
  await tracer.flush();
  const told = collector.spans.filter(({ name }) => name.startsWith("cycle"));
  const calls = collector.spans.filter(({ name }) => name === "GET");
  const valueOf = (span: SentSpan, wanted: string) =>
    Object.values(span.attributes.find(({ key }) => key === wanted)?.value ?? {})[0];
  const shown = told.map((span) => {
    const children = calls.filter(
      ({ parentSpanId, traceId }) => parentSpanId === span.spanId && traceId === span.traceId,
    );
    return [span.name, valueOf(span, "setpoint.result"), span.status.code, children.length];
  });
  assert.deepEqual(
    shown.toSorted((left, right) => String(left).localeCompare(String(right))),
    [
      ["cycle DnsZone", "changed", undefined, 3],
      ["cycle DnsZone", "converged", undefined, 1],
      ["cycle DnsZone", "failed", 2, 2],
      ["cycle DnsZone", "held", undefined, 0],
      ["cycle", undefined, 2, 1],
    ],
    "what found nothing to do and called nobody is not told",
  );
  assert.equal(new Set(told.map(({ traceId }) => traceId)).size, told.length, "each has a trace of its own");
  assert.equal(calls.filter(({ parentSpanId }) => parentSpanId === undefined).length, 1, "outside of any cycle");
  assert.doesNotMatch(JSON.stringify(collector.spans), /secret/);
});

test("a collector that is away costs a warning and no request", async () => {
  await using collector = await startCollector(503);
  await using http = createHttpClient();
  const { endpoint } = collector;
  await using tracer = createOtlpTracer({ endpoint, service: "setpoint-api", version: "0", http, log });
  for (let index = 0; index < 5_000; index++) tracer.start("many", { kind: "internal" }).end();
  await tracer.flush();
  assert.ok(warnings.includes("trace.not-sent"));
  assert.ok(collector.spans.length <= 4_096, "what is beyond the queue is not kept");
});
