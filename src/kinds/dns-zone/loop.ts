import { RetryableError } from "../../kernel/errors.ts";
import {
  type Desired,
  defineLoop,
  type ItemName,
  type LookContext,
  type Observation,
  type Seen,
  type Subject,
  type WriteContext,
} from "../../kernel/loop.ts";
import type { DnsChange, DnsReader, DnsRecordSet, DnsWriter } from "../../ports/dns.ts";
import { normalName } from "../dns-record/domain-name.ts";
import { recordTypes } from "../dns-record/record-value.ts";
import type { DnsRecordSpec } from "../dns-record/schema.ts";
import { DesiredMemory } from "./desired-memory.ts";
import { desiredRecordSets } from "./desired.ts";
import { registeredOwners, registryEntry } from "./external-dns.ts";
import { inspectPropagation } from "./propagation.ts";
import { foldSeen, type RecordSet, recordSetKey, sameRecordSet, stableRecordSet } from "./record-set.ts";
import type { DnsZoneSpec } from "./schema.ts";
import { foreignOwner, isZoneMarker, markerChange, markerRemoval } from "./zone-marker.ts";

type Zone = Subject<DnsZoneSpec>;

const wantedOf = new DesiredMemory();

export const dnsZoneLoop = defineLoop<DnsZoneSpec, RecordSet, DnsReader, DnsWriter>({
  kind: "DnsZone",
  everySeconds: 300,
  inputs: ["DnsRecord"],
  // A whole zone can be imported from what was last seen of it.
  storesItems: 10_000,
  // Record sets are small and go in one call; a zone that is moved here should not take hours.
  limits: { changesPerCycle: 1_000 },
  claimsAll: ({ spec }) => spec.ownership === "zone",
  desired: (ctx, zone) => {
    const records = ctx.inputs<DnsRecordSpec>("DnsRecord");
    const { published } = ctx;
    return wantedOf.of({ zone, records, published }, () =>
      withRegistry(zone, desiredRecordSets(placeOf(zone), records, published)),
    );
  },
  observe: observeZone,
  inspect: inspectPropagation,
  read: readRecordSet,
  same: sameRecordSet,
  stable: stableRecordSet,
  blockedBy: aliasInTheWay,
  create: async (ctx, zone, wanted) => {
    await write(ctx, zone, [replacing(wanted.item, undefined)]);
    return { externalId: wanted.key };
  },
  update: async (ctx, zone, wanted, seen) => write(ctx, zone, [replacing(wanted.item, seen.item)]),
  remove: async (ctx, zone, seen) => write(ctx, zone, [deleting(seen.item)]),
  together: nameOfKey,
  appliesAt: (reader) => reader.capabilities.changesTogether,
  apply: async (ctx, zone, changes) =>
    write(
      ctx,
      zone,
      changes.map((change) =>
        change.action === "delete"
          ? deleting(change.seen.item)
          : replacing(change.wanted.item, change.action === "create" ? undefined : change.seen.item),
      ),
    ),
});

/** A CNAME and what takes its place have one name; an entry of the registry goes with the record set it speaks of. */
export function nameOfKey(key: string): string {
  const [name = "", type = ""] = key.split(" ");
  const [, of, rest] = type === "TXT" ? (/^([a-z0-9]+)-(.+)$/.exec(name) ?? []) : [];
  return of !== undefined && rest !== undefined && isRecordType(of.toUpperCase()) ? rest : name;
}

function isRecordType(type: string): boolean {
  return (recordTypes as readonly string[]).includes(type);
}

/** A CNAME stands alone at its name, so that whichever of the two is there must go first (RFC 1034 3.6.2). */
function aliasInTheWay(wanted: RecordSet, there: ReadonlyMap<string, RecordSet>): string | undefined {
  const others = wanted.type === "CNAME" ? recordTypes.filter((type) => type !== "CNAME") : (["CNAME"] as const);
  return others.map((type) => recordSetKey({ name: wanted.name, type })).find((key) => there.has(key));
}

/** Every change puts our mark into the zone, so that whoever looks next knows whose it is; the last one takes it out. */
async function write(ctx: WriteContext<DnsWriter>, zone: Zone, changes: readonly DnsChange[]): Promise<void> {
  const name = zoneName(zone);
  // Where each change is a call for itself, nothing of ours stands in the zone without the mark, from the first to the last.
  const all = ctx.last ? [...changes, markerRemoval(name)] : [markerChange(name, zone, ctx.marker), ...changes];
  await ctx.writer.change(name, all, ctx.signal);
}

/** Where the spec asks for it, each record set has an entry in external-dns's registry, kept like any other record set. */
function withRegistry({ spec, name }: Zone, desired: Desired<RecordSet>): Desired<RecordSet> {
  if (spec.ownership !== "registry" || !desired.known) return desired;
  const declared = new Set(desired.items.map(({ key }) => key));
  const entries = desired.items.flatMap(({ item, sources }) => {
    const entry = registryEntry(item, spec.registryOwner, name);
    const key = recordSetKey(entry);
    return declared.has(key) ? [] : [{ key, item: entry, ...(sources === undefined ? {} : { sources }) }];
  });
  const stale = desired.stale?.flatMap((entry) => {
    const [of = "", type = ""] = entry.key.split(" ");
    return [entry, { key: recordSetKey({ name: `${type.toLowerCase()}-${of}`, type: "TXT" }), reason: entry.reason }];
  });
  return { ...desired, items: [...desired.items, ...entries], ...(stale === undefined ? {} : { stale }) };
}

async function observeZone(ctx: LookContext<DnsReader>, subject: Zone): Promise<Observation<RecordSet>> {
  let foreign: string | undefined;
  const looked = await ctx.look(async (signal) => {
    const seen = await ctx.reader.zone(zoneName(subject), signal, { fresh: ctx.fresh });
    if (seen === undefined) throw zoneMissing(subject);
    const folded = foldZone(seen, ctx.reader.capabilities.leastTtlSeconds);
    checkNameServers(subject, folded);
    foreign = foreignOwner(zoneName(subject), folded, subject, ctx.marker);
    return itemsOf(subject, folded);
  });
  return foreign === undefined ? looked : { ...looked, foreign };
}

/** A list that was handed out before is not worked out again: nothing in it has changed. */
const folds = new WeakMap<readonly DnsRecordSet[], readonly RecordSet[]>();

function foldZone(seen: readonly DnsRecordSet[], leastTtlSeconds: number): readonly RecordSet[] {
  const known = folds.get(seen);
  if (known !== undefined) return known;
  const folded = seen.map((recordSet) => foldSeen(recordSet, leastTtlSeconds));
  folds.set(seen, folded);
  return folded;
}

const itemLists = new WeakMap<readonly RecordSet[], Map<string, readonly Seen<RecordSet>[]>>();

function itemsOf(subject: Zone, folded: readonly RecordSet[]): readonly Seen<RecordSet>[] {
  const { ownership, registryOwner } = subject.spec;
  const zone = zoneName(subject);
  const ours = ownership === "registry" ? registryOwner : undefined;
  const known = itemLists.get(folded) ?? new Map<string, readonly Seen<RecordSet>[]>();
  itemLists.set(folded, known);
  const about = `${zone} ${ours ?? ""}`;
  const items = known.get(about) ?? workOutItems(zone, ours, folded);
  known.set(about, items);
  return items;
}

function workOutItems(
  zone: string,
  ours: string | undefined,
  folded: readonly RecordSet[],
): readonly Seen<RecordSet>[] {
  const owners = registeredOwners(folded, ours);
  const items = folded.filter((recordSet) => !belongsToServer(zone, recordSet));
  return items.map((recordSet) => seenItem(recordSet, owners)).sort(byKey);
}

function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}

async function readRecordSet(
  ctx: LookContext<DnsReader>,
  subject: Zone,
  item: ItemName,
): Promise<Seen<RecordSet> | "absent"> {
  const zone = zoneName(subject);
  const [name = "", type = ""] = item.key.split(" ");
  const seen = await ctx.reader.recordSet({ zone, name, type }, ctx.signal);
  if (seen === "no-zone") throw zoneMissing(subject);
  return seen === "absent" ? "absent" : seenItem(foldSeen(seen, ctx.reader.capabilities.leastTtlSeconds), new Map());
}

/** Name and type are all the identity a record set has, so the key is the external id too. */
function seenItem(item: RecordSet, owners: ReadonlyMap<string, string>): Seen<RecordSet> {
  const key = recordSetKey(item);
  const owner = owners.get(key);
  const { lockedBy } = item;
  const seen = { key, externalId: key, item, ...(lockedBy === undefined ? {} : { lockedBy }) };
  return owner === undefined ? seen : { ...seen, marker: { foreign: owner } };
}

/** What a server makes itself when it signs a zone; taking part in it could only break it. */
const signing = new Set(["RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "ZONEMD", "TYPE65534"]);

/** The SOA, the NS records of the zone itself, signatures and our own mark: never an item, so never in a plan. */
function belongsToServer(zone: string, recordSet: RecordSet): boolean {
  const { type, name } = recordSet;
  return type === "SOA" || (type === "NS" && name === zone) || signing.has(type) || isZoneMarker(zone, recordSet);
}

function checkNameServers(subject: Zone, seen: readonly RecordSet[]): void {
  if (subject.spec.nameservers === undefined) return;
  const zone = zoneName(subject);
  const expected = subject.spec.nameservers.map((name) => normalName(name)).sort();
  const actual = seen.find((recordSet) => recordSet.type === "NS" && recordSet.name === zone)?.values ?? [];
  if (expected.join(" ") === actual.join(" ")) return;
  throw notReady(
    `The zone ${zone} on account '${subject.spec.account}' is served by ${actual.join(", ") || "no name servers"}, and its spec expects ${expected.join(", ")}: this may be another zone of the same name. Correct the server or spec.nameservers`,
  );
}

function zoneMissing(subject: Zone): RetryableError {
  return notReady(
    `The zone ${zoneName(subject)} does not exist on the server of account '${subject.spec.account}': create it there, or delete this DnsZone with --orphan if it is gone for good`,
  );
}

function notReady(message: string): RetryableError {
  return new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false });
}

function placeOf(subject: Zone) {
  return { zone: zoneName(subject), scope: subject.scope, delegations: subject.spec.delegations ?? [] };
}

function zoneName(subject: Zone): string {
  return normalName(subject.spec.zone);
}

function replacing(item: RecordSet, seen: RecordSet | undefined): DnsChange {
  return {
    action: "replace",
    seen: seen === undefined ? "absent" : asServed(seen),
    recordSet: { name: item.name, type: item.type, ttlSeconds: item.ttlSeconds, values: item.values },
  };
}

function deleting(item: RecordSet): DnsChange {
  return { action: "delete", name: item.name, type: item.type, seen: asServed(item) };
}

function asServed(item: RecordSet): readonly string[] {
  return item.serverValues ?? item.values;
}
