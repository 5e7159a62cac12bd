import type { DnsCapabilities, DnsChange, DnsReader, DnsRecordSet, DnsWriter } from "../../src/ports/dns.ts";
import type { Provider } from "../../src/ports/provider.ts";
import { powerDnsCapabilities } from "../../src/providers/powerdns/capabilities.ts";

/** A DNS server in memory: what a test wants to see and to spoil is open. */
export class MemoryDns {
  readonly sets = new Map<string, DnsRecordSet>();
  /** Sizes of the batches that were written, in order. */
  readonly batches: number[] = [];
  capabilities: DnsCapabilities = powerDnsCapabilities;
  reads = 0;

  constructor(zone: string) {
    this.put(zone, "SOA", ["ns1.example.test. hostmaster.example.test. 1 2 3 4 5"]);
    this.put(zone, "NS", ["ns1.example.test."]);
  }

  put(name: string, type: string, values: readonly string[], ttlSeconds = 300): void {
    this.sets.set(`${name} ${type}`, { name, type, ttlSeconds, values, disabledValues: [] });
  }

  provider(): Provider<DnsReader, DnsWriter> {
    const reader: DnsReader = {
      capabilities: this.capabilities,
      zone: () => {
        this.reads++;
        return Promise.resolve([...this.sets.values()]);
      },
      recordSet: ({ name, type }) => Promise.resolve(this.sets.get(`${name} ${type}`) ?? "absent"),
    };
    const writer: DnsWriter = { change: (_zone, changes) => Promise.resolve(this.#write(changes)) };
    const identity = () => Promise.resolve({ fingerprint: "memory" });
    const world = { identity, collections: {}, reader, writer };
    return { name: "memory", settleMs: 0, callTimeoutMs: 10_000, open: () => world };
  }

  #write(changes: readonly DnsChange[]): void {
    this.batches.push(changes.length);
    for (const change of changes) {
      if (change.action === "delete") this.sets.delete(`${change.name} ${change.type}`);
      else this.put(change.recordSet.name, change.recordSet.type, change.recordSet.values, change.recordSet.ttlSeconds);
    }
  }
}
