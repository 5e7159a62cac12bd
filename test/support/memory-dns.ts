import { TerminalError } from "../../src/kernel/errors.ts";
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
    const writer: DnsWriter = { change: async (_zone, changes) => this.#write(changes) };
    const identity = () => Promise.resolve({ fingerprint: "memory" });
    const world = { identity, collections: {}, reader, writer };
    return { name: "memory", settleMs: 0, callTimeoutMs: 10_000, open: () => world };
  }

  /** Whole or not at all, and never a CNAME beside something else: as real servers do it. */
  #write(changes: readonly DnsChange[]): void {
    const before = new Map(this.sets);
    for (const change of changes) if (change.action === "delete") this.sets.delete(`${change.name} ${change.type}`);
    for (const change of changes) {
      if (change.action === "delete") continue;
      const { name, type, values, ttlSeconds } = change.recordSet;
      const beside = [...this.sets.values()].find(
        (set) => set.name === name && set.type !== type && (set.type === "CNAME" || type === "CNAME"),
      );
      if (beside === undefined && values.length > 0) this.put(name, type, values, ttlSeconds);
      else {
        this.sets.clear();
        for (const [key, set] of before) this.sets.set(key, set);
        throw new TerminalError("PROVIDER_REFUSED", `${name} ${type} is empty, or cannot stand beside ${beside?.type}`);
      }
    }
    this.batches.push(changes.length);
  }
}
