import type { InputResource, LookContext, Subject } from "../../src/kernel/loop.ts";
import { observationDigest } from "../../src/kernel/settle.ts";
import { makePlan, type Plan } from "../../src/kernel/plan.ts";
import { dnsRecordSchema, type DnsRecordSpec } from "../../src/kinds/dns-record/schema.ts";
import { dnsZoneLoop } from "../../src/kinds/dns-zone/loop.ts";
import { type DnsZoneSpec, dnsZoneSchema } from "../../src/kinds/dns-zone/schema.ts";
import type { DnsReader } from "../../src/ports/dns.ts";
import type { OwnedItem } from "../../src/ports/records.ts";
import type { FirstSet } from "../../test/support/dns-outside.ts";

const marker = { installationId: "bench", resourceUid: "zone" };
const subject: Subject<DnsZoneSpec> = {
  uid: "zone",
  name: "example",
  scope: "organization/bench",
  organizationId: "bench",
  generation: 1,
  spec: dnsZoneSchema.parse({ account: "lab", zone: "example.test" }),
};

/** One pass of the zone's loop without the database: what is wanted, what is there, the plan, and the digest of what was seen. */
export class ZonePass {
  readonly #reader: DnsReader;
  readonly #inputs: (readonly InputResource<DnsRecordSpec>[])[];
  readonly #owned: readonly OwnedItem[];

  constructor(reader: DnsReader, sets: readonly FirstSet[]) {
    this.#reader = reader;
    const inputs: readonly InputResource<DnsRecordSpec>[] = sets.map(({ host, type, ttlSeconds, value }, index) => ({
      uid: `record-${String(index).padStart(6, "0")}`,
      kind: "DnsRecord",
      name: host,
      scope: subject.scope,
      generation: 1,
      labels: {},
      author: { name: "bench", type: "person" },
      declaredAtMs: 0,
      spec: dnsRecordSchema.parse({ zone: "example", name: host, type, ttlSeconds, values: [value] }),
    }));
    this.#inputs = [inputs, structuredClone(inputs)];
    // In the order of keys, as the memory of a subject keeps them.
    const owned = sets.map(
      ({ host, type }, index): OwnedItem => ({
        key: `${host}.example.test. ${type}`,
        state: "owned",
        externalId: `${host}.example.test. ${type}`,
        sources: [`record-${String(index).padStart(6, "0")}`],
        wantedHash: "",
        intendedAtMs: 0,
        writtenAtMs: 0,
      }),
    );
    this.#owned = owned.sort((left, right) => (left.key < right.key ? -1 : 1));
  }

  async run(fresh: boolean): Promise<Plan> {
    // As the store loads them: the same records, and never the same objects as the last time.
    this.#inputs.reverse();
    const [inputs = []] = this.#inputs;
    const desired = await dnsZoneLoop.desired(
      {
        inputs: () => inputs as never,
        lastGood: () => undefined,
        lastKeys: () => [],
        published: [],
        parts: () => [],
        measured: { known: false, reason: "a zone is not measured" },
        stopped: new Set(),
        nowMs: 1,
        lastWriteAtMs: undefined,
      },
      subject,
    );
    if (!desired.known) throw new Error(`What is wanted is not known: ${desired.reason}`);
    const seen = await dnsZoneLoop.observe(this.#context(fresh), subject);
    observationDigest(seen.completeness, seen.items, this.#owned);
    return makePlan({
      loop: dnsZoneLoop,
      marker,
      wanted: desired.items,
      seen: seen.items,
      owned: this.#owned,
      complete: true,
      observedFromMs: 1,
      nowMs: 1,
      settleMs: 0,
      answerMs: 0,
      leaving: undefined,
      tombstones: new Set(),
      released: new Set(),
      ownSource: { uid: subject.uid, generation: 1 },
      ignoring: (_wanted, differences) => ({ acted: differences, ignored: [] }),
    });
  }

  #context(fresh: boolean): LookContext<DnsReader> {
    const signal = AbortSignal.timeout(120_000);
    return {
      reader: this.#reader,
      signal,
      marker,
      fresh,
      noted: () => ({}),
      ownIds: new Set(),
      declared: () => ({ startedAtMonotonicMs: 1, resources: [] }),
      inventory: () => Promise.reject(new Error("a zone has no inventory")),
      look: async (read) => ({
        completeness: "complete",
        proof: "read whole in one call",
        startedAtMonotonicMs: 1,
        items: await read(signal),
      }),
      from: (inventory, items) => ({ ...inventory, items }),
    };
  }
}
