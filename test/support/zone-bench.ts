import { dnsRecordKind } from "../../src/kinds/dns-record/kind.ts";
import { dnsZoneKind } from "../../src/kinds/dns-zone/kind.ts";
import type { JsonObject } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { Mode } from "../../src/ports/records.ts";
import { Bench } from "../kit/index.ts";

/** The production loop of a zone on any provider, a real server too: time stands still while that answers. */
export async function startZoneBench(provider: Provider, settings: JsonObject = {}) {
  const bench = await Bench.start({
    kinds: [dnsZoneKind, dnsRecordKind],
    providers: [provider],
    accounts: [{ name: "lab", provider: provider.name, settings }],
  });
  return Object.assign(bench, {
    zone: (spec: JsonObject = {}, mode: Mode = "enforce") =>
      bench.declare("DnsZone/example", { account: "lab", zone: "example.test", ...spec }, { mode }),
    record: (name: string, spec: JsonObject) =>
      bench.declare(`DnsRecord/${name}`, { zone: "example", name, type: "A", values: ["192.0.2.1"], ...spec }),
    [Symbol.asyncDispose]: () => bench.stop(),
  });
}
