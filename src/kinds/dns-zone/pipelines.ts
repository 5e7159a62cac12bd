import { z } from "zod";
import { pipelinesOf, type Story } from "../../kernel/pipeline.ts";
import type { DnsRecordSet, DnsZoneReader, DnsZoneWriter } from "../../ports/dns.ts";
import { normalName } from "../dns-record/domain-name.ts";
import type { DnsZoneSpec } from "./schema.ts";
import { isZoneMarker } from "./zone-marker.ts";

const { effect, waitFor, converge, definePipeline } = pipelinesOf<DnsZoneSpec, DnsZoneReader, DnsZoneWriter>();

const zoneShape = z.strictObject({ zone: z.string(), nameservers: z.array(z.string()) });
const factsShape = z.object({ nameservers: z.array(z.string()), signed: z.boolean(), recordSets: z.number() });

/** The zone itself. What is there already becomes ours only where the spec says so. */
const zone = effect({
  name: "zone",
  change: "create",
  takesItems: true,
  input: zoneShape,
  output: factsShape,
  given: zoneOf,
  key: (story) => `zone ${zoneOf(story).zone}`,
  adopts: ({ subject }) => subject.spec.adopt === true,
  look: async (context, { zone: name }) => {
    const facts = await context.reader.facts(name, context.signal);
    return facts === "absent"
      ? "absent"
      : { externalId: `zone ${name}`, output: { ...facts, nameservers: [...facts.nameservers] } };
  },
  call: async (context, { zone: name, nameservers }) => {
    await context.writer.createZone(name, nameservers, context.signal);
    return { externalId: `zone ${name}`, output: { nameservers, signed: false, recordSets: 0 } };
  },
  compensate: async (context) => context.writer.deleteZone(zoneOf(context).zone, context.signal),
});

/** A zone that was adopted may have other name servers than the spec says. */
const nameservers = effect({
  name: "nameservers",
  change: "update",
  input: zoneShape,
  output: z.object({ nameservers: z.array(z.string()) }),
  given: (story) => (story.output(zone) === undefined ? undefined : zoneOf(story)),
  key: (story) => `name servers of ${zoneOf(story).zone}`,
  look: async (context, given) => {
    const facts = await context.reader.facts(given.zone, context.signal);
    const same = facts !== "absent" && facts.nameservers.join(" ") === given.nameservers.join(" ");
    return same ? { externalId: `${given.zone} NS`, output: { nameservers: given.nameservers } } : "absent";
  },
  call: async (context, given) => {
    const recordSet = { name: given.zone, type: "NS", ttlSeconds: 3_600, values: given.nameservers };
    await context.writer.change(given.zone, [{ action: "replace", recordSet }], context.signal);
    return { externalId: `${given.zone} NS`, output: { nameservers: given.nameservers } };
  },
});

const dnssec = effect({
  name: "dnssec",
  change: "update",
  when: ({ subject }) => subject.spec.dnssec === true,
  safeToSkip: true,
  input: z.strictObject({ zone: z.string() }),
  output: z.object({ signed: z.boolean() }),
  given: (story) => (story.output(zone) === undefined ? undefined : { zone: zoneOf(story).zone }),
  key: (story) => `signing of ${zoneOf(story).zone}`,
  look: async (context, { zone: name }) => {
    const facts = await context.reader.facts(name, context.signal);
    return facts !== "absent" && facts.signed ? { externalId: `${name} DNSSEC`, output: { signed: true } } : "absent";
  },
  call: async (context, { zone: name }) => {
    await context.writer.signZone(name, context.signal);
    return { externalId: `${name} DNSSEC`, output: { signed: true } };
  },
});

/** Whether the world is sent to our name servers. Only whoever has the parent zone can change that. */
const delegated = waitFor({
  name: "delegation",
  safeToSkip: true,
  everySeconds: 10,
  atMostSeconds: 86_400,
  until: async (context) => {
    const wanted = zoneOf(context);
    const found = await context.reader.delegation(wanted.zone, context.signal);
    if (wanted.nameservers.every((name) => found.includes(name))) return true;
    const seen = found.length === 0 ? "nobody" : found.join(", ");
    return `${wanted.zone} is delegated to ${seen}, and should be to ${wanted.nameservers.join(", ")}: set the NS records in its parent zone`;
  },
});

const active = waitFor({
  name: "active",
  everySeconds: 5,
  atMostSeconds: 600,
  until: async (context) => {
    const facts = await context.reader.facts(zoneOf(context).zone, context.signal);
    if (facts === "absent") return "the zone is not there";
    return context.subject.spec.dnssec !== true || facts.signed || "the zone is not signed yet";
  },
});

export const dnsZoneCreate = definePipeline({
  name: "dns-zone.create",
  version: 1,
  summary: "makes the zone or adopts it, with its records, and waits until the world is sent to it",
  startsWith: (spec) => spec.makesZone === true,
  steps: [zone, nameservers, converge({ name: "records" }), dnssec, delegated, active],
});

const drained = waitFor({
  name: "drained",
  safeToSkip: true,
  everySeconds: 10,
  atMostSeconds: 86_400,
  until: async (context) => {
    const ours = zoneOf(context);
    const found = await context.reader.delegation(ours.zone, context.signal);
    const left = found.filter((name) => ours.nameservers.includes(name));
    return (
      left.length === 0 ||
      `${ours.zone} is still delegated to ${left.join(", ")}: take the NS records out of its parent zone`
    );
  },
});

const removal = effect({
  name: "zone",
  change: "delete",
  takesItems: true,
  input: zoneShape,
  output: z.unknown(),
  given: zoneOf,
  key: (story) => `zone ${zoneOf(story).zone}`,
  look: async (context, { zone: name }) => {
    const sets = await context.reader.zone(name, context.signal);
    if (sets === undefined) return "absent";
    // What every zone has, and our own mark in it, is nothing that somebody would miss.
    const isPart = (set: DnsRecordSet) =>
      set.type === "SOA" || (set.type === "NS" && set.name === name) || isZoneMarker(name, set);
    return {
      externalId: `zone ${name}`,
      output: undefined,
      contains: sets.filter((set) => !isPart(set)).length,
    };
  },
  call: async (context, { zone: name }) => {
    await context.writer.deleteZone(name, context.signal);
    return { externalId: `zone ${name}`, output: undefined };
  },
});

export const dnsZoneDelete = definePipeline({
  name: "dns-zone.delete",
  version: 1,
  summary: "waits until the world is no longer sent to the zone, then deletes it with its records",
  ends: true,
  startsWith: (spec) => spec.makesZone === true,
  steps: [drained, removal],
});

function zoneOf({ subject: { spec } }: Story<DnsZoneSpec>): z.output<typeof zoneShape> {
  return { zone: normalName(spec.zone), nameservers: (spec.nameservers ?? []).map(normalName).sort() };
}
