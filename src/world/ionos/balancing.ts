import type { JsonObject } from "../../ports/json.ts";
import type { Call } from "./call.ts";
import type { Contract } from "./contract.ts";
import { invalid } from "./errors.ts";
import type { Kind } from "./kinds.ts";
import { type Element, textOf } from "./rows.ts";

/** Where a load balancer or a rule of one is, or is to be. */
interface Place {
  /** Of what is there already. */
  readonly id?: string;
  readonly parent: Element | string | undefined;
  readonly datacenter: string | undefined;
}

/** What a network load balancer and its rules stand on must be there: LANs, reserved addresses, a port that nobody listens to. */
export function requireBalancing(call: Call, { type }: Kind, properties: JsonObject, place: Place): void {
  if (type === "networkloadbalancer") requireLans(call, properties, place);
  if (type === "forwarding-rule") requireListener(call, properties, place);
}

function requireLans({ contract }: Call, properties: JsonObject, place: Place): void {
  const { elements } = contract;
  const lanOf = (field: string) => {
    const lan = elements.get(`${place.datacenter ?? ""}:${textOf(properties, field)}`);
    if (lan?.type !== "lan") throw invalid(`properties.${field}`, "LAN does not exist in this data center");
    return lan;
  };
  const listener = lanOf("listenerLan");
  if (lanOf("targetLan").properties["public"] === true)
    throw invalid("properties.targetLan", "The target LAN must be a private one");
  if (listener.properties["public"] !== true) return;
  const location = elements.get(place.datacenter ?? "")?.properties["location"];
  const blocks = elements.where("type", "ipblock").filter((block) => block.properties["location"] === location);
  const reserved = new Set(blocks.flatMap((block) => addressesOf(block.properties)));
  const ips = addressesOf(properties);
  if (ips.length === 0) throw invalid("properties.ips", "A public load balancer needs a reserved IP address");
  const other = ips.find((ip) => !reserved.has(ip));
  if (other !== undefined) throw invalid("properties.ips", `${other} is not reserved in this location`);
  const taken = ips.find((ip) => usersOf(contract, ip).some(({ id }) => id !== place.id));
  if (taken !== undefined) throw invalid("properties.ips", `${taken} is in use already`);
}

function requireListener({ contract }: Call, properties: JsonObject, { id, parent }: Place): void {
  const balancer = typeof parent === "string" ? contract.elements.get(parent) : parent;
  const [ip, port] = [textOf(properties, "listenerIp"), textOf(properties, "listenerPort")];
  if (!addressesOf(balancer?.properties ?? {}).includes(ip))
    throw invalid("properties.listenerIp", `${ip} is not an address of the load balancer`);
  const others = contract.elements.where("inside", `${balancer?.id ?? ""} forwarding-rule`);
  const same = ({ properties: rule }: Element) =>
    textOf(rule, "listenerIp") === ip && textOf(rule, "listenerPort") === port;
  if (others.some((rule) => rule.id !== id && same(rule)))
    throw invalid("properties.listenerPort", `Another rule listens to ${ip}:${port}`);
}

function addressesOf(properties: JsonObject): readonly string[] {
  const ips = properties["ips"];
  return Array.isArray(ips) ? ips.map(String) : [];
}

/** Load balancers and network cards that have this address. */
function usersOf({ elements }: Contract, ip: string): readonly Element[] {
  return (["networkloadbalancer", "nic"] as const)
    .flatMap((type) => elements.where("type", type))
    .filter(({ properties }) => addressesOf(properties).includes(ip));
}

/** Who uses which address of a block. */
export function consumersOf(contract: Contract, block: Element): readonly JsonObject[] {
  return addressesOf(block.properties).flatMap((ip) =>
    usersOf(contract, ip).map(({ id, type, parent, datacenter = "" }) => ({
      ip,
      ...(type === "nic" ? { nicId: id, serverId: parent ?? "" } : {}),
      datacenterId: datacenter,
      datacenterName: textOf(contract.elements.get(datacenter)?.properties, "name"),
    })),
  );
}

export function balancersIn({ elements }: Contract, lan: Element): number {
  const isIn = ({ datacenter, properties }: Element) =>
    ["listenerLan", "targetLan"].some((field) => `${datacenter ?? ""}:${textOf(properties, field)}` === lan.id);
  return elements.where("type", "networkloadbalancer").filter(isIn).length;
}

/** An address in the target LAN is given where none was asked for. */
export function balancerFacts({ contract }: Call, wanted: JsonObject, datacenter = ""): JsonObject {
  const given = wanted["lbPrivateIps"];
  if (Array.isArray(given) && given.length > 0) return {};
  const lan = textOf(wanted, "targetLan");
  const before = contract.elements.where("inside", `${datacenter} networkloadbalancer`).length;
  return { lbPrivateIps: [`10.7.${Number(lan) % 256}.${2 + (before % 8)}/24`] };
}
