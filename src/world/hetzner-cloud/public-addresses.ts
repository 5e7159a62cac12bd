import { publicIpv4, publicIpv6 } from "../addresses.ts";
import type { Call } from "./call.ts";
import type { DnsPointer, PrimaryIp } from "./rows.ts";

/** The next public address that nobody in this project has. */
export function nextIp(call: Call, type: "ipv4" | "ipv6"): string {
  const { primaryIps, floatingIps, loadBalancers } = call.project;
  for (;;) {
    const number = call.nextAddress();
    const ip = type === "ipv4" ? publicIpv4(number) : publicIpv6(number);
    if ([primaryIps, floatingIps, loadBalancers].every((table) => table.where("ip", ip).length === 0)) return ip;
  }
}

/** The name that an address has before anybody gives it one; networks of IPv6 have none. */
export function usualPointers(type: "ipv4" | "ipv6", ip: string): DnsPointer[] {
  if (type === "ipv6") return [];
  return [{ ip, name: usualName(ip) }];
}

export function usualName(ip: string): string {
  return `static.${ip.split(".").toReversed().join(".")}.clients.your-server.de`;
}

/** The pointers of an address after one was set, or put back to what it was by undefined. */
export function withPointer(
  pointers: readonly DnsPointer[],
  ip: string,
  name: string | undefined,
): readonly DnsPointer[] {
  const others = pointers.filter((pointer) => pointer.ip !== ip);
  if (name !== undefined) return [...others, { ip, name }];
  return ip.includes(":") ? others : [...others, { ip, name: usualName(ip) }];
}

/** Whether an address belongs to what somebody holds: the address itself, or one in the network of IPv6. */
export function covers(held: string, ip: string): boolean {
  return held.includes("/") ? ip.startsWith(held.slice(0, held.indexOf("::") + 1)) : held === ip;
}

export function newPrimaryIp(
  call: Call,
  wanted: Pick<PrimaryIp, "type" | "name" | "datacenter" | "server" | "autoDelete" | "labels">,
): PrimaryIp {
  const ip = nextIp(call, wanted.type);
  return call.project.primaryIps.put({
    ...wanted,
    id: call.nextId(),
    createdMs: call.nowMs,
    ip,
    pointers: usualPointers(wanted.type, ip),
    protection: { delete: false },
  });
}
