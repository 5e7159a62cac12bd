import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { startPowerDns } from "../support/powerdns.ts";
import { startProduct, until } from "../support/product.ts";
import { startCollector } from "../support/span-collector.ts";
import { requireReal } from "./requirement.ts";
import { zoneManifests } from "../support/zone-manifests.ts";

test("a collector is told of the cycles of a real scheduler, with their calls as children", {
  timeout: 180_000,
}, async (t) => {
  const program = requireReal(t, "PowerDNS");
  if (program === undefined) return;
  await using undo = new AsyncDisposableStack();
  const dns = undo.use(await startPowerDns(program));
  await dns.createZone("traced.test.");
  const collector = undo.use(await startCollector());
  const folder = undo.use(temporaryFolder()).path;
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const product = startProduct({ dataDirectory: join(folder, "data"), port: await freePort(), environment });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  const account = ["--provider", "powerdns", "--set", `url=${dns.apiUrl}`, "--credential", `file:${dns.keyFile}`];
  await product.must("account", "add", "lab", ...account);
  const file = join(folder, "zone.yaml");
  writeFileSync(file, zoneManifests("traced", "192.0.2.10"));
  await product.must("apply", "-f", file, "--yes");
  await product.must("wait", "dnszone/traced", "--timeout", "60s");
  const isCall = (name: string) => name === "GET" || name === "PATCH" || name === "POST";
  // Spans are sent in batches, a few seconds apart.
  await until(
    "a cycle that wrote, with its call",
    async () => collector.spans,
    (spans) =>
      spans.some(({ name }) => name === "PATCH") &&
      spans
        .filter(({ name }) => name === "PATCH")
        .every((call) => spans.some(({ spanId }) => spanId === call.parentSpanId)),
  );
  const cycles = new Map(
    collector.spans.filter(({ name }) => name === "cycle DnsZone").map((span) => [span.spanId, span]),
  );
  const writes = collector.spans.filter(({ name }) => name === "PATCH");
  for (const call of writes) assert.equal(cycles.get(call.parentSpanId ?? "")?.traceId, call.traceId);
  const strays = collector.spans.filter(({ name, parentSpanId }) => isCall(name) && parentSpanId === undefined);
  assert.deepEqual(strays, [], "no call of a provider is outside of a cycle");
  assert.doesNotMatch(JSON.stringify(collector.spans), /traced\.test|www/);
});
