import { dnsRecordKind } from "../../src/kinds/dns-record/kind.ts";
import { dnsZoneKind } from "../../src/kinds/dns-zone/kind.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { DnsWriter } from "../../src/ports/dns.ts";
import type { JsonObject } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { Mode } from "../../src/ports/records.ts";
import { Bench, type VirtualTime } from "../kit/index.ts";

/** The production loop of a zone on any provider, a real server too: time stands still while that answers. */
export async function startZoneBench(
  provider: Provider,
  settings: JsonObject = {},
  afterWrite = () => Promise.resolve(),
  follow: (clock: Clock) => void = () => {},
) {
  const time: { flight: VirtualTime["flight"] } = { flight: (call) => call };
  const bench = await Bench.start({
    kinds: [dnsZoneKind, dnsRecordKind],
    providers: [accessible(provider, afterWrite, (call) => time.flight(call))],
    accounts: [{ name: "lab", provider: provider.name, settings, callsPerSecond: 1_000 }],
  });
  time.flight = (call) => bench.time.flight(call);
  follow(bench.time.clock());
  return Object.assign(bench, {
    zone: (spec: JsonObject = {}, mode: Mode = "enforce") =>
      bench.declare("DnsZone/example", { account: "lab", zone: "example.test", ...spec }, { mode }),
    record: (name: string, spec: JsonObject) =>
      bench.declare(`DnsRecord/${name}`, { zone: "example", name, type: "A", values: ["192.0.2.1"], ...spec }),
    [Symbol.asyncDispose]: () => bench.stop(),
  });
}

/**
 * The bench knows no credentials, and a provider of a real server asks for one. Somebody may react to each of our writes. What
 * the engine itself asks of a provider takes real time too, for which virtual time must wait.
 */
function accessible(
  provider: Provider,
  afterWrite: () => Promise<void>,
  flight: <Value>(call: Promise<Value>) => Promise<Value>,
): Provider {
  return {
    ...provider,
    open: (account) => {
      const world = provider.open({ ...account, credentialRef: "env:SECRET" });
      const writer = world.writer as DnsWriter;
      const change: DnsWriter["change"] = async (...given) => {
        await writer.change(...given);
        await afterWrite();
      };
      return { ...world, identity: (signal) => flight(world.identity(signal)), writer: { ...writer, change } };
    },
  };
}
