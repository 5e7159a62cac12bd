import type { Desired, InputResource, Subject } from "../../kernel/loop.ts";
import { canonical } from "../../kernel/hash.ts";
import type { Json } from "../../ports/json.ts";
import type { PublishedSource } from "../../ports/records.ts";
import type { DnsRecordSpec } from "../dns-record/schema.ts";
import type { RecordSet } from "./record-set.ts";
import type { DnsZoneSpec } from "./schema.ts";

type Records = readonly InputResource<DnsRecordSpec>[];

interface Known {
  readonly zone: string;
  readonly records: Records;
  readonly desired: Desired<RecordSet>;
}

/**
 * What was last worked out for each zone. Records seldom change, and comparing tens of thousands of them with those of the last
 * look is much less than parsing their names and values anew.
 */
export class DesiredMemory {
  readonly #zones = new Map<string, Known>();
  readonly #mostRecords: number;

  constructor({ mostRecords = 500_000 } = {}) {
    this.#mostRecords = mostRecords;
  }

  of(
    from: {
      readonly zone: Subject<DnsZoneSpec>;
      readonly records: Records;
      readonly published: readonly PublishedSource[];
    },
    workOut: () => Desired<RecordSet>,
  ): Desired<RecordSet> {
    const { zone: subject, records, published } = from;
    const zone = canonical([subject.name, subject.scope, subject.spec, published as unknown as Json]);
    const known = this.#zones.get(subject.uid);
    if (known?.zone === zone && sameRecords(known.records, records)) return known.desired;
    const desired = workOut();
    this.#zones.delete(subject.uid);
    this.#zones.set(subject.uid, { zone, records, desired });
    let kept = 0;
    for (const one of this.#zones.values()) kept += one.records.length;
    // The one that was worked out the longest ago goes first.
    for (const [uid, one] of this.#zones) {
      if (kept <= this.#mostRecords) break;
      kept -= one.records.length;
      this.#zones.delete(uid);
    }
    return desired;
  }
}

/** By everything that what is wanted is made of, and not by their generations alone: a restored database counts them anew. */
function sameRecords(left: Records, right: Records): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    const [one, other] = [left[index], right[index]];
    if (one === undefined || other === undefined || !sameRecord(one, other)) return false;
  }
  return true;
}

function sameRecord(left: Records[number], right: Records[number]): boolean {
  const [one, other] = [left.spec, right.spec];
  return (
    left.uid === right.uid &&
    left.generation === right.generation &&
    left.name === right.name &&
    left.scope === right.scope &&
    one.name === other.name &&
    one.type === other.type &&
    one.ttlSeconds === other.ttlSeconds &&
    sameSources(one.valuesFrom, other.valuesFrom) &&
    one.values.length === other.values.length &&
    one.values.every((value, index) => value === other.values[index])
  );
}

function sameSources(left: DnsRecordSpec["valuesFrom"], right: DnsRecordSpec["valuesFrom"]): boolean {
  if (left === undefined || right === undefined) return left === right;
  return canonical(left) === canonical(right);
}
