import { z } from "zod";
import type { JsonObject } from "../../ports/json.ts";
import { publicIpv4 } from "../addresses.ts";
import { balancerFacts, requireBalancing } from "./balancing.ts";
import { type Call, newId } from "./call.ts";
import { images } from "./catalogue.ts";
import { invalid, notAvailable, overLimit } from "./errors.ts";
import { type Kind, kindOf } from "./kinds.ts";
import { requireRegion } from "./regions.ts";
import { type Element, type ElementType, numberOf, textOf } from "./rows.ts";

/** What a body says about an element: its properties, and what is to be inside it. */
export interface Wanted {
  readonly properties: JsonObject;
  readonly inside: readonly { readonly kind: Kind; readonly isAttached: boolean; readonly wanted: Wanted }[];
}

const bodySchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  entities: z.record(z.string(), z.looseObject({ items: z.array(z.unknown()).optional() }).optional()).optional(),
});

/** Reads the body of an element, and of those inside it, before the first one is made. */
export function wantedOf(kind: Kind, body: unknown, where = ""): Wanted {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) throw invalid(`${where}properties`, "Field is required");
  const properties = checked(kind.properties, parsed.data.properties, `${where}properties.`);
  const inside = Object.entries(parsed.data.entities ?? {}).flatMap(([segment, list]) => {
    const isAttached = kind.type === "server" && segment === "volumes";
    const child = isAttached
      ? kindOf("volume")
      : kind.children.map((type) => kindOf(type)).find((each) => each.segment === segment);
    if (child === undefined) return [];
    return (list?.items ?? []).map((item, at) => ({
      kind: child,
      isAttached,
      wanted: wantedOf(child, item, `${where}entities.${segment}.items[${at}].`),
    }));
  });
  return { properties, inside };
}

export function checked(schema: z.ZodType, properties: unknown, where: string): JsonObject {
  const parsed = schema.safeParse(properties);
  if (parsed.success) return JSON.parse(JSON.stringify(parsed.data)) as JsonObject;
  const [issue] = parsed.error.issues;
  throw invalid(`${where}${issue?.path.map(String).join(".") ?? ""}`, issue?.message ?? "is invalid");
}

/**
 * Makes an element and what is inside it, busy until the request is over. The first one is the element itself. What is refused
 * half-way leaves nothing behind.
 */
export function makeElements(call: Call, kind: Kind, wanted: Wanted, parent: Element | undefined): readonly Element[] {
  const made: Element[] = [];
  try {
    return makeInside({ ...call, made }, kind, wanted, parent);
  } catch (thrown) {
    for (const { id } of made.toReversed()) call.contract.elements.remove(id);
    throw thrown;
  }
}

/** A call with everything that it has made so far. */
interface Making extends Call {
  readonly made: Element[];
}

function put({ contract, made }: Making, element: Element): Element {
  made.push(element);
  return contract.elements.put(element);
}

function makeInside(call: Making, kind: Kind, wanted: Wanted, parent: Element | undefined): readonly Element[] {
  requireRoom(call, kind, wanted.properties);
  const datacenter = parent === undefined ? undefined : (parent.datacenter ?? parent.id);
  requireCapacity(call, kind, datacenter, wanted.properties);
  requireBalancing(call, kind, wanted.properties, { parent, datacenter });
  const shownId = kind.type === "lan" ? nextLan(call, datacenter ?? "") : newId(call);
  const element: Element = {
    id: kind.type === "lan" ? `${datacenter ?? ""}:${shownId}` : shownId,
    shownId,
    type: kind.type,
    parent: parent?.id,
    datacenter,
    state: "BUSY",
    createdMs: call.nowMs,
    modifiedMs: call.nowMs,
    version: 1,
    properties: { ...wanted.properties, ...derived(call, kind.type, wanted.properties, datacenter) },
    labels: {},
    attachedTo: undefined,
  };
  put(call, element);
  const inner = wanted.inside.flatMap(({ kind: child, isAttached, wanted: inside }) => {
    if (!isAttached) return makeInside(call, child, inside, element);
    const [volume, ...rest] = makeInside(call, child, inside, call.contract.elements.get(datacenter ?? ""));
    return volume === undefined ? rest : [call.contract.elements.put({ ...volume, attachedTo: element.id }), ...rest];
  });
  return [element, ...inner];
}

function requireRoom(call: Call, { type }: Kind, properties: JsonObject): void {
  const { limits, elements } = call.contract;
  const total = (of: ElementType, field: string) =>
    elements.where("type", of).reduce((sum, element) => sum + numberOf(element.properties, field), 0);
  if (type === "server") {
    const [cores, ram] = [numberOf(properties, "cores"), numberOf(properties, "ram")];
    if (cores > limits.coresPerServer) throw overLimit("coresPerServer");
    if (ram > limits.ramPerServer) throw overLimit("ramPerServer");
    if (cores + total("server", "cores") > limits.coresPerContract) throw overLimit("coresPerContract");
    if (ram + total("server", "ram") > limits.ramPerContract) throw overLimit("ramPerContract");
  }
  if (type === "networkloadbalancer" && elements.where("type", type).length >= limits.nlbLimitTotal) {
    throw overLimit("nlbLimitTotal");
  }
  if (type === "ipblock" && numberOf(properties, "size") + total("ipblock", "size") > limits.reservableIps) {
    throw overLimit("reservableIps");
  }
}

/** Whoever is inside a data center was stopped at the data center, if its region is out. Servers have no type here but their CPU's. */
function requireCapacity(call: Call, { type }: Kind, datacenter: string | undefined, properties: JsonObject): void {
  if (datacenter === undefined) requireRegion(call, textOf(properties, "location"));
  if (type !== "server") return;
  const location = textOf(call.contract.elements.get(datacenter ?? "")?.properties ?? {}, "location");
  const family = textOf(properties, "cpuFamily");
  const struck = call.faults.strike(
    "no-capacity",
    (fault) =>
      (fault.location === undefined || fault.location === location) &&
      (fault.type === undefined || fault.type === family),
  );
  if (struck !== undefined) throw notAvailable(location);
}

function nextLan(call: Call, datacenter: string): string {
  const numbers = call.contract.elements.where("inside", `${datacenter} lan`).map(({ shownId }) => Number(shownId));
  return String(Math.max(0, ...numbers) + 1);
}

/** What the provider adds to what was asked for. */
function derived(call: Making, type: ElementType, wanted: JsonObject, datacenter: string | undefined): JsonObject {
  if (type === "server") return { vmState: "RUNNING" };
  if (type === "volume") return volumeFacts(call, wanted, datacenter);
  if (type === "nic") return nicFacts(call, wanted, datacenter);
  if (type === "ipblock") {
    return {
      ips: Array.from({ length: numberOf(wanted, "size") }, () => publicIpv4(call.nextAddress())),
    };
  }
  return type === "networkloadbalancer" ? balancerFacts(call, wanted, datacenter) : {};
}

function volumeFacts(call: Call, wanted: JsonObject, datacenter: string | undefined): JsonObject {
  const location = call.contract.elements.get(datacenter ?? "")?.properties["location"];
  const image = images.find(
    (each) =>
      each.location === location &&
      (each.id === wanted["image"] || each.aliases.includes(textOf(wanted, "imageAlias"))),
  );
  const isNamed = wanted["image"] !== undefined || wanted["imageAlias"] !== undefined;
  if (isNamed && image === undefined) throw invalid("properties.image", "Image does not exist in this location");
  if (image === undefined && wanted["licenceType"] === undefined) {
    throw invalid("properties.licenceType", "Field is required where no image is given");
  }
  return { licenceType: wanted["licenceType"] ?? "LINUX", ...(image === undefined ? {} : { image: image.id }) };
}

/** A LAN that does not exist is made with the first network card that is put into it. */
function nicFacts(call: Making, wanted: JsonObject, datacenter = ""): JsonObject {
  const { elements } = call.contract;
  const lanId = `${datacenter}:${textOf(wanted, "lan")}`;
  const lan = elements.get(lanId) ?? implicitLan(call, datacenter, textOf(wanted, "lan"));
  const members = elements.where("lan", lanId).length;
  const ip = lan.properties["public"] === true ? publicIpv4(call.nextAddress()) : freeInside(call, lan);
  const given = wanted["ips"];
  return {
    mac: `02:01:${Array.from({ length: 4 }, () => call.random.text(2, "0123456789abcdef")).join(":")}`,
    ips: Array.isArray(given) && given.length > 0 ? given : [ip],
    deviceNumber: members + 1,
    pciSlot: members + 5,
  };
}

/** The first address of a private LAN that no card in it has. */
function freeInside({ contract }: Call, { id, shownId }: Element): string {
  const taken = new Set(contract.elements.where("lan", id).flatMap(({ properties }) => properties["ips"] ?? []));
  const at = (place: number) => `10.7.${(Number(shownId) + Math.floor(place / 240)) % 256}.${10 + (place % 240)}`;
  let place = 0;
  while (taken.has(at(place))) place += 1;
  return at(place);
}

function implicitLan(call: Making, datacenter: string, shownId: string): Element {
  return put(call, {
    id: `${datacenter}:${shownId}`,
    shownId,
    type: "lan",
    parent: datacenter,
    datacenter,
    state: "AVAILABLE",
    createdMs: call.nowMs,
    modifiedMs: call.nowMs,
    version: 1,
    properties: { public: false },
    labels: {},
    attachedTo: undefined,
  });
}
