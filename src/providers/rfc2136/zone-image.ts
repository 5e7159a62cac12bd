import type { DnsRecordSet } from "../../ports/dns.ts";
import { classes } from "./wire/numbers.ts";
import type { WireRecord } from "./wire/message.ts";
import { WireError } from "./wire/wire-error.ts";

interface Held {
  readonly name: string;
  readonly type: string;
  ttlSeconds: number;
  values: string[];
}

/** A zone as it is built up from the records of a transfer. */
export class ZoneImage {
  readonly #sets = new Map<string, Held>();
  readonly soa: WireRecord;
  readonly serial: number;
  /** Of the bytes it was read from, where it was one transfer of the whole zone. */
  digest: string | undefined;
  #records: readonly DnsRecordSet[] | undefined;

  constructor(soa: WireRecord) {
    this.soa = soa;
    this.serial = serialOf(soa);
  }

  get size(): number {
    return this.#sets.size;
  }

  /** The same zone with another SOA, to be changed without touching this one. */
  copy(soa: WireRecord): ZoneImage {
    const image = new ZoneImage(soa);
    for (const [key, held] of this.#sets) image.#sets.set(key, { ...held, values: [...held.values] });
    return image;
  }

  /** Whether it holds the very same records. */
  sameAs(other: ZoneImage): boolean {
    if (this === other) return true;
    if (this.serial !== other.serial || this.soa.value !== other.soa.value || this.size !== other.size) return false;
    for (const [key, { ttlSeconds, values }] of this.#sets) {
      const known = other.#sets.get(key);
      if (known?.ttlSeconds !== ttlSeconds || known.values.length !== values.length) return false;
      for (let index = 0; index < values.length; index++) if (known.values[index] !== values[index]) return false;
    }
    return true;
  }

  add(record: WireRecord): void {
    if (record.class !== classes.internet) throw new WireError("a record of the zone is of another class");
    const key = `${record.name} ${record.type}`;
    const held = this.#sets.get(key);
    if (held === undefined) {
      const { name, type, ttlSeconds, value } = record;
      this.#sets.set(key, { name, type, ttlSeconds, values: [value] });
      return;
    }
    held.ttlSeconds = Math.min(held.ttlSeconds, record.ttlSeconds);
    if (!held.values.includes(record.value)) held.values.push(record.value);
  }

  /** What a change takes away must have been there: else ours is not the zone that it starts from. */
  remove(record: WireRecord): void {
    const key = `${record.name} ${record.type}`;
    const held = this.#sets.get(key);
    if (held === undefined || !held.values.includes(record.value))
      throw new WireError(`a change takes away ${key} ${record.value}, which was not there`);
    held.values = held.values.filter((value) => value !== record.value);
    if (held.values.length === 0) this.#sets.delete(key);
    // The rest comes again with its new TTL if that changed; without this the old one would stay the smallest.
    else if (held.ttlSeconds !== record.ttlSeconds) held.ttlSeconds = record.ttlSeconds;
  }

  /** The same list for as long as nothing was added, so that whoever worked it out once need not do it again. */
  recordSets(): readonly DnsRecordSet[] {
    this.#records ??= [
      {
        name: this.soa.name,
        type: "SOA",
        ttlSeconds: this.soa.ttlSeconds,
        values: [this.soa.value],
        disabledValues: [],
      },
      ...this.#sets.values().map((held) => ({ ...held, disabledValues: [] })),
    ];
    return this.#records;
  }
}

export function serialOf(soa: WireRecord): number {
  return Number(soa.value.split(" ")[2]);
}
