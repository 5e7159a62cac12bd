import type { Marker } from "../../kernel/loop.ts";
import type { DnsChange } from "../../ports/dns.ts";
import { markerNameOf } from "../dns-record/record-name.ts";
import { presentationToText, textToPresentation } from "../dns-record/text-value.ts";
import type { RecordSet } from "./record-set.ts";

/**
 * One TXT record per zone says whose it is, so that two installations, or two DnsZones, do not take turns. It is written
 * together with the first change, is in no plan, and goes with the resource.
 */
const shape = /^heritage=setpoint,setpoint\/installation=([^,]+),setpoint\/zone=([^,]+)$/;
const ttlSeconds = 300;

/** By scope and name, so that a zone which is declared again under its name is the same one. */
interface ZoneSubject {
  readonly scope: string;
  readonly name: string;
}

export function markerChange(zone: string, subject: ZoneSubject, marker: Marker): DnsChange {
  const text = `heritage=setpoint,setpoint/installation=${marker.installationId},setpoint/zone=${nameOf(subject)}`;
  const recordSet = { name: markerNameOf(zone), type: "TXT", ttlSeconds, values: [textToPresentation(text)] };
  return { action: "replace", recordSet };
}

/** With the last record sets of a zone that leaves. A zone that carries somebody else's mark is never written to. */
export function markerRemoval(zone: string): DnsChange {
  return { action: "delete", name: markerNameOf(zone), type: "TXT" };
}

export function isZoneMarker(zone: string, { name, type }: RecordSet): boolean {
  return type === "TXT" && name === markerNameOf(zone);
}

/** Who else marked the zone; undefined where nobody did, or we did. */
export function foreignOwner(
  zone: string,
  seen: readonly RecordSet[],
  subject: ZoneSubject,
  marker: Marker,
): string | undefined {
  const found = seen.find((recordSet) => isZoneMarker(zone, recordSet));
  for (const value of found?.values ?? []) {
    const match = shape.exec(presentationToText(value) ?? "");
    const [, installation = "", owner = ""] = match ?? [];
    if (match === null || (installation === marker.installationId && owner === nameOf(subject))) continue;
    const whose = installation === marker.installationId ? "this installation" : `installation ${installation}`;
    return `DnsZone ${owner} of ${whose}, says the TXT record ${markerNameOf(zone)} (delete that record if the other one is gone)`;
  }
  return undefined;
}

function nameOf({ scope, name }: ZoneSubject): string {
  return `${scope}/${name}`.replaceAll(",", "_");
}
