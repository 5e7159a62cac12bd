import { dnsRecordKind } from "../../../src/kinds/dns-record/kind.ts";
import { dnsZoneKind } from "../../../src/kinds/dns-zone/kind.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import type { DnsReader, DnsRecordSet, DnsWriter } from "../../../src/ports/dns.ts";
import type { Json } from "../../../src/ports/json.ts";
import type { Provider, ProviderAccount } from "../../../src/ports/provider.ts";
import { powerDnsCapabilities } from "../../../src/providers/powerdns/capabilities.ts";
import { accountId, declaration, deletion, type PointCall, type Scenario, type ScenarioOutside } from "../scenario.ts";

const settleMs = 2_000;

/** One zone on a DNS server whose reads may lag as far as the provider says they may. */
class ZoneOutside implements ScenarioOutside {
  readonly #nowMs: () => number;
  #versions: { readonly atMs: number; readonly sets: ReadonlyMap<string, DnsRecordSet> }[];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    const soa = {
      name: "example.com.",
      type: "SOA",
      ttlSeconds: 3_600,
      values: ["a. b. 1 2 3 4 5"],
      disabledValues: [],
    };
    this.#versions = [{ atMs: 0, sets: new Map([["example.com. SOA", soa]]) }];
  }

  canonical(): Json {
    return [...this.#sets(false).values()].map(({ name, type, ttlSeconds, values }) => ({
      name,
      type,
      ttlSeconds,
      values,
    }));
  }

  connect(call: PointCall): ReturnType<ScenarioOutside["connect"]> {
    const provider: Provider<DnsReader, DnsWriter> = {
      name: "outside",
      settleMs,
      callTimeoutMs: 3_000,
      open: () => this.#open(call),
    };
    const kinds = new Map([dnsZoneKind, dnsRecordKind].map((kind) => [kind.kind, kind as Kind]));
    return { kinds, providers: new Map([["outside", provider as Provider]]) };
  }

  #open(call: PointCall): ProviderAccount<DnsReader, DnsWriter> {
    return {
      identity: () => call("identity", () => ({ fingerprint: "server-1" })),
      collections: {},
      reader: {
        capabilities: powerDnsCapabilities,
        zone: () => call("zone", (stale) => [...this.#sets(stale).values()], { reads: true }),
        recordSet: ({ name, type }) => call("record set", () => this.#sets(false).get(`${name} ${type}`) ?? "absent"),
      },
      writer: {
        change: (_zone, changes) =>
          call("change", () => {
            const sets = new Map(this.#sets(false));
            for (const change of changes) {
              if (change.action === "delete") sets.delete(`${change.name} ${change.type}`);
              else
                sets.set(`${change.recordSet.name} ${change.recordSet.type}`, {
                  ...change.recordSet,
                  disabledValues: [],
                });
            }
            this.#versions.push({ atMs: this.#nowMs(), sets });
          }),
      },
    };
  }

  #sets(stale: boolean): ReadonlyMap<string, DnsRecordSet> {
    const atMs = this.#nowMs() - (stale ? settleMs : 0);
    const shown = this.#versions.findLast((version) => version.atMs <= atMs) ?? this.#versions[0];
    return new Map([...(shown?.sets ?? [])].sort(([left], [right]) => (left < right ? -1 : 1)));
  }
}

const zone = (name: string) =>
  declaration("DnsZone", name, { account: accountId, zone: "example.com" }, { accounts: [accountId] });

function record(resource: string, name: string, value: string) {
  const spec = { zone: "site", name, type: "A", ttlSeconds: 300, values: [value] };
  return declaration("DnsRecord", resource, spec, { links: [{ kind: "DnsZone", name: "site" }] });
}

export const dnsZoneScenario: Scenario = {
  kind: "DnsZone",
  outside: (nowMs) => new ZoneOutside(nowMs),
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(zone("site")) },
    { atSeconds: 2, act: (intents) => intents.declare(record("www", "www", "192.0.2.1")) },
    { atSeconds: 3, act: (intents) => intents.declare(record("mail", "mail", "192.0.2.2")) },
    { atSeconds: 4, act: (intents) => intents.declare(record("old", "old", "192.0.2.3")) },
    { atSeconds: 5, act: (intents) => intents.declare(record("more", "www", "192.0.2.4")) },
    // An update, and a name that moves: its old record set goes by inference, its new one is made.
    { atSeconds: 30, act: (intents) => intents.declare(record("mail", "mail", "192.0.2.20")) },
    { atSeconds: 31, act: (intents) => intents.declare(record("old", "new", "192.0.2.3")) },
    // One value less is an update; the last one less is a delete.
    { atSeconds: 70, act: (intents) => intents.requestDeletion(deletion("more", 1)) },
    { atSeconds: 90, act: (intents) => intents.requestDeletion(deletion("mail", 1)) },
  ],
  endsAtSeconds: 170,
};
