import type { JsonObject } from "../../ports/json.ts";
import { isoSecond } from "../../runtime/iso-second.ts";
import type { ReadTable } from "../table.ts";
import { consumersOf } from "./balancing.ts";
import type { Call } from "./call.ts";
import { cpuArchitecture } from "./catalogue.ts";
import type { Contract } from "./contract.ts";
import type { Facts } from "./filters.ts";
import { kindOf } from "./kinds.ts";
import { isOut } from "./regions.ts";
import type { Element } from "./rows.ts";

/** What the API takes and never tells. */
const unspoken = new Set(["imagePassword", "sshKeys", "userData", "bootVolume", "bootCdrom"]);

/** Where an element is, behind the base path. */
export function hrefOf({ elements }: Pick<Contract, "elements">, element: Element): string {
  const parent = element.parent === undefined ? undefined : elements.get(element.parent);
  const before = parent === undefined ? "" : hrefOf({ elements }, parent);
  return `${before}/${kindOf(element.type).segment}/${element.shownId}`;
}

/** An element to a depth: below 0 where it is, at 0 what it is, above what is inside it as well. */
export function elementBody(call: Call, view: ReadTable<Element>, element: Element, depth: number): unknown {
  const href = `${call.base}${hrefOf(call.contract, element)}`;
  const reference = { id: element.shownId, type: element.type, href };
  if (depth < 0) return reference;
  return {
    ...reference,
    metadata: metadataOf(call, element),
    properties: propertiesBody(call, view, element),
    ...(depth > 0 && canHold(element) ? { entities: entitiesOf(call, view, element, depth - 1) } : {}),
  };
}

function metadataOf({ contract }: Call, element: Element): JsonObject {
  const by = `${contract.name}@example.test`;
  return {
    etag: `${element.id.replaceAll(/[^0-9a-f]/g, "").slice(0, 24)}${element.version}`,
    createdDate: isoSecond(element.createdMs),
    createdBy: by,
    createdByUserId: contract.name,
    lastModifiedDate: isoSecond(element.modifiedMs),
    lastModifiedBy: by,
    lastModifiedByUserId: contract.name,
    state: element.state,
  };
}

/** What a list of elements can be filtered and sorted by: what it tells of each. */
export function factsOf(call: Call, view: ReadTable<Element>, element: Element): Facts {
  return { ...metadataOf(call, element), ...(propertiesBody(call, view, element) as JsonObject) };
}

function canHold({ type }: Element): boolean {
  return kindOf(type).children.length > 0 || type === "lan";
}

function propertiesBody(call: Call, view: ReadTable<Element>, element: Element): unknown {
  const told = Object.fromEntries(Object.entries(element.properties).filter(([key]) => !unspoken.has(key)));
  if (element.type === "datacenter") return { ...told, version: element.version, features: ["SSD"], cpuArchitecture };
  if (element.type === "server") {
    const wanted = element.properties["bootVolume"] as { readonly id: string } | undefined;
    const attached = view.where("attachedTo", element.id);
    const boot = attached.find(({ shownId }) => shownId === wanted?.id) ?? attached[0];
    const state = isOut(call, view.get(element.datacenter ?? "")) ? { vmState: "NOSTATE" } : {};
    return { ...told, ...state, ...(boot === undefined ? {} : { bootVolume: elementBody(call, view, boot, -1) }) };
  }
  if (element.type === "ipblock") return { ...told, ipConsumers: consumersOf(call.contract, element) };
  if (element.type === "volume" && element.attachedTo !== undefined) return { ...told, bootServer: element.attachedTo };
  return told;
}

function entitiesOf(call: Call, view: ReadTable<Element>, element: Element, depth: number): unknown {
  const href = `${call.base}${hrefOf(call.contract, element)}`;
  const of = (segment: string, rows: readonly Element[]) => [
    segment,
    collectionBody(call, view, { id: `${element.shownId}/${segment}`, href: `${href}/${segment}`, rows, depth }),
  ];
  const inside = kindOf(element.type).children.map((type) =>
    of(kindOf(type).segment, view.where("inside", `${element.id} ${type}`)),
  );
  const attached = element.type === "server" ? [of("volumes", view.where("attachedTo", element.id))] : [];
  const members = element.type === "lan" ? [of("nics", view.where("lan", element.id))] : [];
  return Object.fromEntries([...attached, ...members, ...inside]) as unknown;
}

/** A collection to a depth: at 0 where its elements are, above what they are. */
export function collectionBody(
  call: Call,
  view: ReadTable<Element>,
  of: { readonly id: string; readonly href: string; readonly rows: readonly Element[]; readonly depth: number },
): Record<string, unknown> {
  const items = of.rows.map((row) => elementBody(call, view, row, of.depth - 1));
  return { id: of.id, type: "collection", href: of.href, items };
}
