import { RetryableError } from "../../../src/kernel/errors.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import { dnsRecordKind } from "../../../src/kinds/dns-record/kind.ts";
import { dnsZoneKind } from "../../../src/kinds/dns-zone/kind.ts";
import type { DnsChange, DnsRecordSet, DnsZoneReader, DnsZoneWriter } from "../../../src/ports/dns.ts";
import type { Provider, ProviderAccount } from "../../../src/ports/provider.ts";
import { powerDnsCapabilities } from "../../../src/providers/powerdns/capabilities.ts";
import type { Point } from "../../support/box-kind.ts";
import { labAccount, type OperationLab } from "../../support/operation-lab.ts";
import type { OperationScenario, OperationStage } from "../operations.ts";

interface Zone {
  signed: boolean;
  readonly sets: Map<string, DnsRecordSet>;
}

const apex = "example.com.";

/** A DNS server that can make zones, and the world that is sent to it or not. */
class ZoneServer implements OperationStage {
  readonly effects: string[] = [];
  delegated: readonly string[] = ["ns1.example.net."];
  readonly #zones = new Map<string, Zone>();

  canonical() {
    return [...this.#zones].map(([name, { signed, sets }]) => {
      const shown = [...sets.values()].map(({ name: owner, type, values }) =>
        [owner, type, values.join(" ")].join(" "),
      );
      return [name, signed, shown.sort()];
    });
  }

  /** Somebody else made it before. */
  put(zone: string): void {
    this.#zones.set(zone, { signed: false, sets: new Map() });
  }

  kinds(): readonly Kind[] {
    return [dnsZoneKind, dnsRecordKind];
  }

  providers(point: Point): readonly Provider[] {
    const account: ProviderAccount<DnsZoneReader, DnsZoneWriter> = {
      identity: () => point("identity", () => ({ fingerprint: "server-1" })),
      collections: {},
      reader: this.#reader(point),
      writer: this.#writer(point),
    };
    return [{ name: "outside", settleMs: 0, callTimeoutMs: 3_000, open: () => account }];
  }

  #reader(point: Point): DnsZoneReader {
    const setsOf = (zone: string) => [...(this.#zones.get(zone)?.sets.values() ?? [])];
    return {
      capabilities: powerDnsCapabilities,
      facts: (zone) =>
        point("facts", () => {
          const found = this.#zones.get(zone);
          if (found === undefined) return "absent";
          const nameservers = found.sets.get(`${zone} NS`)?.values ?? [];
          const recordSets = setsOf(zone).filter(({ type }) => type !== "NS").length;
          return { nameservers, signed: found.signed, recordSets };
        }),
      delegation: () => point("delegation", () => this.delegated),
      zone: (zone) => point("zone", () => (this.#zones.has(zone) ? setsOf(zone) : undefined)),
      recordSet: ({ zone, name, type }) =>
        point("record set", () => {
          const found = this.#zones.get(zone);
          return found === undefined ? "no-zone" : (found.sets.get(`${name} ${type}`) ?? "absent");
        }),
    };
  }

  #writer(point: Point): DnsZoneWriter {
    return {
      createZone: (zone, nameservers) =>
        point("create zone", () => {
          if (this.#zones.has(zone)) throw new RetryableError("ALREADY_EXISTS", `${zone} exists`, { ambiguous: false });
          this.put(zone);
          this.#set(zone, { name: zone, type: "NS", ttlSeconds: 3_600, values: nameservers, disabledValues: [] });
          this.effects.push(`create ${zone}`);
        }),
      deleteZone: (zone) =>
        point("delete zone", () => {
          if (this.#zones.delete(zone)) this.effects.push(`delete ${zone}`);
        }),
      signZone: (zone) =>
        point("sign zone", () => {
          const found = this.#zones.get(zone);
          if (found?.signed === false) this.effects.push(`sign ${zone}`);
          if (found !== undefined) found.signed = true;
        }),
      change: (zone, changes) => point("change", () => this.#change(zone, changes)),
    };
  }

  #change(zone: string, changes: readonly DnsChange[]): void {
    for (const change of changes) {
      if (change.action === "replace") {
        const { name, type, values } = change.recordSet;
        const before = this.#zones.get(zone)?.sets.get(`${name} ${type}`)?.values.join(" ");
        if (before !== values.join(" ")) this.effects.push(`replace ${name} ${type}`);
        this.#set(zone, { ...change.recordSet, disabledValues: [] });
      } else if (this.#zones.get(zone)?.sets.delete(`${change.name} ${change.type}`) === true)
        this.effects.push(`delete ${change.name} ${change.type}`);
    }
  }

  #set(zone: string, recordSet: DnsRecordSet): void {
    this.#zones.get(zone)?.sets.set(`${recordSet.name} ${recordSet.type}`, recordSet);
  }
}

async function declare(lab: OperationLab, rest: { readonly adopt?: boolean } = {}): Promise<void> {
  const zone = { account: labAccount, zone: "example.com", nameservers: ["ns1.example.net"], makesZone: true };
  await lab.declareAs("DnsZone", "site", { ...zone, dnssec: true, ...rest }, { accounts: [labAccount] });
  const record = { zone: "site", name: "www", type: "A", ttlSeconds: 300, values: ["192.0.2.1"] };
  await lab.declareAs("DnsRecord", "www", record, { links: [{ kind: "DnsZone", name: "site" }] });
}

/** The server of the run that is under way: scenarios are played one after the other. */
let server = new ZoneServer();
function newServer(): ZoneServer {
  server = new ZoneServer();
  return server;
}

async function create(lab: OperationLab): Promise<string> {
  return (await lab.start("dns-zone.create", "site")).id;
}

export const dnsZoneScenarios: readonly OperationScenario[] = [
  { name: "dns-zone.create", stage: newServer, prepare: declare, start: create },
  {
    name: "dns-zone.create, adopting",
    stage: newServer,
    prepare: async (lab) => {
      server.put(apex);
      await declare(lab, { adopt: true });
    },
    start: create,
  },
  {
    name: "dns-zone.create, cancelled",
    stage: newServer,
    prepare: async (lab) => {
      server.delegated = [];
      await declare(lab);
    },
    start: create,
    meanwhile: async (lab, id) => void (await lab.steer(id, { verb: "cancel" })),
  },
  {
    name: "dns-zone.delete",
    stage: newServer,
    prepare: async (lab) => {
      await declare(lab);
      await lab.finish(await create(lab));
      await lab.remove("site", 5);
    },
    start: async (lab) => {
      server.delegated = [];
      return (await lab.start("dns-zone.delete", "site")).id;
    },
  },
];
