import { contains, ipOfNumber, numberOfIp, rangeOf } from "../addresses.ts";
import type { Call } from "./call.ts";
import { refused } from "./errors.ts";
import type { Network } from "./rows.ts";

/** An address for a machine in a network: the one it asks for, or the first that is free in its zone. */
export function assignAddress(
  call: Call,
  network: Network,
  wanted: { readonly zone: string; readonly ip?: string | undefined; readonly ipRange?: string | undefined },
): string {
  const subnets = network.subnets.filter(
    (subnet) =>
      subnet.networkZone === wanted.zone &&
      subnet.type !== "vswitch" &&
      (wanted.ipRange === undefined || subnet.ipRange === wanted.ipRange),
  );
  if (wanted.ip !== undefined) {
    const number = numberOfIp(wanted.ip);
    const inside = subnets.some(({ ipRange }) => {
      const range = rangeOf(ipRange);
      return number !== undefined && range !== undefined && contains(range, { first: number, last: number, bits: 32 });
    });
    if (inside && isFree(call, network, wanted.ip)) return wanted.ip;
    throw refused("ip_not_available", "IP is not available");
  }
  for (const { ipRange } of subnets) {
    const ip = firstFree(call, network, ipRange);
    if (ip !== undefined) return ip;
  }
  throw refused("no_subnet_available", "no subnet or IP available");
}

/** The first address of a network is its gateway's, and so is one that every machine routes through. */
export function isFree(call: Call, network: Network, ip: string): boolean {
  const key = `${network.id} ${ip}`;
  return (
    ip !== gatewayOf(network.ipRange) &&
    ip !== "172.31.1.1" &&
    call.project.servers.where("privateIp", key).length === 0 &&
    call.project.loadBalancers.where("privateIp", key).length === 0
  );
}

export function gatewayOf(ipRange: string): string {
  return ipOfNumber((rangeOf(ipRange)?.first ?? 0) + 1);
}

/** Begins behind as many addresses as there are machines, where the next free one usually is. */
function firstFree(call: Call, network: Network, ipRange: string): string | undefined {
  const range = rangeOf(ipRange);
  if (range === undefined) return undefined;
  const first = range.first + 2;
  const room = range.last - first;
  if (room <= 0) return undefined;
  const members = call.project.servers.where("network", network.id).length;
  for (let step = 0; step < room; step += 1) {
    const ip = ipOfNumber(first + ((members + step) % room));
    if (isFree(call, network, ip)) return ip;
  }
  return undefined;
}
