import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { withCycleSpans } from "../../src/compose/tracing.ts";
import type { Log } from "../../src/ports/log.ts";
import { createHttpClient } from "../../src/runtime/http-client.ts";
import { createOtlpTracer } from "../../src/runtime/otlp-tracer.ts";
import { tracedHttp } from "../../src/runtime/traced-http.ts";
import { noMetrics } from "../../src/scheduler/metrics.ts";
import { startTestApi } from "../support/api.ts";

interface SentSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

const warnings: string[] = [];
const log: Log = { debug() {}, info() {}, warn: (name) => void warnings.push(name), error() {} };

/** A collector as OTLP over HTTP has it. */
async function startCollector(status = 200) {
  const spans: SentSpan[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (request.url === "/v1/traces") {
        type Sent = { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
        const { resourceSpans } = JSON.parse(body) as Sent;
        spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      }
      response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

test("requests, cycles and calls are sent as spans, without what tenants wrote", async () => {
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
  await tracedHttp(http, tracer).request({ method: "GET", url: `${endpoint}/secret-path`, timeoutMs: 1_000 });
  const metrics = withCycleSpans(noMetrics, tracer);
  const report = { subjectId: 1, kind: "DnsZone", result: "changed", written: 2, held: 0, verdicts: [] } as const;
  const rest = {
    sizes: { create: 2, update: 0, replace: 0, delete: 0 },
    dueAgain: false,
    nextInMs: undefined,
    message: "",
  };
  const sample = { kind: "DnsZone", trigger: "person", waitedSeconds: 0, durationSeconds: 0.5 } as const;
  metrics.cycleEnded({ ...sample, report: { ...report, ...rest, idle: false } });
  metrics.cycleEnded({ ...sample, report: { ...report, ...rest, idle: true } });
  await tracer.flush();
  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  const requests = named("GET /v1/organizations/:organization/pauses");
  assert.equal(requests.length, 2);
  assert.equal(requests[0]?.traceId, trace);
  assert.equal(requests[0]?.parentSpanId, "b7ad6b7169203331");
  const status = (span: SentSpan | undefined) =>
    span?.attributes.find(({ key }) => key === "http.response.status_code")?.value["intValue"];
  assert.deepEqual(requests.map(status), ["200", "404"]);
  assert.equal(named("GET").length, 1);
  assert.equal(named("cycle DnsZone").length, 1, "idle cycles are not told one by one");
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
