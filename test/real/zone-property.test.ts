import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { declarationOfRecordSet } from "../../src/kinds/dns-zone/declaration-of.ts";
import { foldSeen } from "../../src/kinds/dns-zone/record-set.ts";
import { zoneFileSchema } from "../../src/kinds/dns-zone/zone-file-schema.ts";
import type { JsonObject } from "../../src/ports/json.ts";
import type { DnsReader } from "../../src/ports/dns.ts";
import { type DnsOutside, type FirstSet, outsides, startOutside } from "../support/dns-outside.ts";
import { zoneText } from "../support/name-server.ts";
import { startZoneBench } from "../support/zone-bench.ts";
import { becomes, widen } from "../support/zone-property.ts";
import { requireReal } from "./requirement.ts";

const zone = "example.test.";

/** The zone by a second account of the same provider, so that nothing of what the loop kept is looked at. */
function readerOf({ provider, settings }: DnsOutside): () => ReturnType<DnsReader["zone"]> {
  const account = { id: "other", organizationId: "o", name: "other", provider: provider.name, settings };
  const opened = provider.open({
    ...account,
    credentialRef: "env:SECRET",
    fingerprint: undefined,
    claimedIncarnation: undefined,
  });
  const { reader } = opened as { reader: DnsReader };
  return () => reader.zone(zone, AbortSignal.timeout(20_000), { fresh: true });
}

const many: readonly FirstSet[] = Array.from({ length: 5_000 }, (_, index) => ({
  host: `host-${index}`,
  ttlSeconds: 300 + (index % 7),
  type: index % 10 === 0 ? "TXT" : "A",
  value: index % 10 === 0 ? `"text ${index}" "cut"` : `192.0.2.${index % 250}`,
}));

for (const [name, seeds] of [
  ["PowerDNS", 40],
  ["BIND", 20],
  ["Knot", 20],
] as const) {
  describe(name, () => {
    test(`any zone becomes any other: ${seeds} seeds`, async (t) => {
      if (requireReal(t, name) === undefined) return;
      await using outside = await startOutside(name, findProgram(outsides[name]) ?? "");
      await using bench = await startZoneBench(outside.provider, outside.settings);
      const read = readerOf(outside);
      await widen(bench);
      await bench.zone();
      const declared = new Map<string, JsonObject>();
      const world = async () => ((await read()) ?? []).filter(({ name: host }) => host !== `ns1.${zone}`);
      for (let seed = 0; seed < seeds; seed++) await becomes(bench, declared, seed, world);
    });

    test("5,000 record sets are imported, live and from a file, and nothing differs", async (t) => {
      if (requireReal(t, name) === undefined) return;
      await using outside = await startOutside(name, findProgram(outsides[name]) ?? "", many);
      await using bench = await startZoneBench(outside.provider, outside.settings);
      const seen = (await readerOf(outside)()) ?? [];
      const live = seen.flatMap((set) => {
        const made = declarationOfRecordSet({ name: "example", zone }, foldSeen(set));
        return made.ok && set.name.startsWith("host-") ? [made] : [];
      });
      assert.equal(live.length, many.length);
      const lines = many.map(({ host, ttlSeconds, type, value }) => `${host} ${ttlSeconds} IN ${type} ${value}`);
      const text = zoneText(zone, lines);
      const file = zoneFileSchema.parse({ text, zone, zoneResource: "example" });
      assert.deepEqual(file.problems, []);
      const fromFile = new Map(file.records.map((record) => [record.name, JSON.stringify(record.spec)]));
      for (const made of live) assert.equal(fromFile.get(made.name), JSON.stringify(made.spec), "live and file agree");
      await bench.zone({}, "observe");
      for (const made of live) await bench.declare(`DnsRecord/${made.name}`, made.spec);
      await bench.pass({ minutes: 6 });
      const [status] = bench.statuses("DnsZone/example");
      assert.equal(status?.differences, 0);
      const report = bench.process.reports.at(-1);
      assert.equal(report?.sizes.create, 0);
      assert.equal(report.sizes.delete, 0);
    });
  });
}
