import { RetryableError } from "../../kernel/errors.ts";
import { defineLoop, type ItemName, type LookContext, type Seen, type Subject } from "../../kernel/loop.ts";
import type { DnsChange, DnsReader, DnsWriter } from "../../ports/dns.ts";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import type { DnsRecordSpec } from "../dns-record/schema.ts";
import { desiredRecordSets } from "./desired.ts";
import { foldSeen, type RecordSet, recordSetKey, sameRecordSet } from "./record-set.ts";
import type { DnsZoneSpec } from "./schema.ts";

export const dnsZoneLoop = defineLoop<DnsZoneSpec, RecordSet, DnsReader, DnsWriter>({
  kind: "DnsZone",
  everySeconds: 300,
  inputs: ["DnsRecord"],
  desired: (ctx, zone) => desiredRecordSets(zoneName(zone), ctx.inputs<DnsRecordSpec>("DnsRecord")),
  observe: (ctx, zone) => ctx.look(() => lookAtZone(ctx, zone)),
  read: readRecordSet,
  same: sameRecordSet,
  create: async (ctx, zone, wanted) => {
    await ctx.writer.change(zoneName(zone), [replacing(wanted.item)], ctx.signal);
    return { externalId: wanted.key };
  },
  update: async (ctx, zone, wanted) => ctx.writer.change(zoneName(zone), [replacing(wanted.item)], ctx.signal),
  remove: async (ctx, zone, seen) => ctx.writer.change(zoneName(zone), [deleting(seen.item)], ctx.signal),
  apply: async (ctx, zone, changes) => {
    const calls = changes.map((change) =>
      change.action === "delete" ? deleting(change.seen.item) : replacing(change.wanted.item),
    );
    await ctx.writer.change(zoneName(zone), calls, ctx.signal);
  },
});

async function lookAtZone(
  ctx: LookContext<DnsReader>,
  subject: Subject<DnsZoneSpec>,
): Promise<readonly Seen<RecordSet>[]> {
  const zone = zoneName(subject);
  const seen = await ctx.reader.zone(zone, ctx.signal);
  if (seen === undefined) throw zoneMissing(subject);
  const folded = seen.map((recordSet) => foldSeen(recordSet, ctx.reader.capabilities.leastTtlSeconds));
  checkNameServers(subject, folded);
  return folded.filter((recordSet) => !belongsToServer(zone, recordSet)).map((recordSet) => seenItem(recordSet));
}

async function readRecordSet(
  ctx: LookContext<DnsReader>,
  subject: Subject<DnsZoneSpec>,
  item: ItemName,
): Promise<Seen<RecordSet> | "absent"> {
  const zone = zoneName(subject);
  const [name = "", type = ""] = item.key.split(" ");
  const seen = await ctx.reader.recordSet({ zone, name, type }, ctx.signal);
  if (seen === "no-zone") throw zoneMissing(subject);
  return seen === "absent" ? "absent" : seenItem(foldSeen(seen, ctx.reader.capabilities.leastTtlSeconds));
}

/** Name and type are all the identity a record set has, so the key is the external id too. */
function seenItem(item: RecordSet): Seen<RecordSet> {
  return { key: recordSetKey(item), externalId: recordSetKey(item), item };
}

/** The SOA and the NS records of the zone itself are the server's: never an item, so never in a plan. */
function belongsToServer(zone: string, recordSet: RecordSet): boolean {
  return recordSet.type === "SOA" || (recordSet.type === "NS" && recordSet.name === zone);
}

function checkNameServers(subject: Subject<DnsZoneSpec>, seen: readonly RecordSet[]): void {
  if (subject.spec.nameservers === undefined) return;
  const zone = zoneName(subject);
  const expected = subject.spec.nameservers.map((name) => normalName(name)).sort();
  const actual = seen.find((recordSet) => recordSet.type === "NS" && recordSet.name === zone)?.values ?? [];
  if (expected.join(" ") === actual.join(" ")) return;
  throw notReady(
    `The zone ${zone} on account '${subject.spec.account}' is served by ${actual.join(", ") || "no name servers"}, and its spec expects ${expected.join(", ")}: this may be another zone of the same name. Correct the server or spec.nameservers`,
  );
}

function zoneMissing(subject: Subject<DnsZoneSpec>): RetryableError {
  return notReady(
    `The zone ${zoneName(subject)} does not exist on the server of account '${subject.spec.account}': create it there, or delete this DnsZone with --orphan if it is gone for good`,
  );
}

function notReady(message: string): RetryableError {
  return new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false });
}

function zoneName(subject: Subject<DnsZoneSpec>): string {
  return normalName(subject.spec.zone);
}

function normalName(name: string): string {
  const parsed = parseAbsoluteName(name);
  return parsed.ok ? parsed.value : name;
}

function replacing(item: RecordSet): DnsChange {
  return {
    action: "replace",
    recordSet: { name: item.name, type: item.type, ttlSeconds: item.ttlSeconds, values: item.values },
  };
}

function deleting(item: RecordSet): DnsChange {
  return { action: "delete", name: item.name, type: item.type };
}
