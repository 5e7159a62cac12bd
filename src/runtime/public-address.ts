import { BlockList, isIPv4 } from "node:net";

const reservedV4 = new BlockList();
for (const range of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]) {
  addRange(reservedV4, range);
}
/** Only what is allotted for global use; within it, what leads back to IPv4 or is documentation is not. */
const globalV6 = new BlockList();
addRange(globalV6, "2000::/3");
const reservedV6 = new BlockList();
for (const range of ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]) addRange(reservedV6, range);

/** Whether anybody on the internet may be meant by an address: not this machine, not its network, not its provider's metadata. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !reservedV4.check(address, "ipv4");
  return globalV6.check(address, "ipv6") && !reservedV6.check(address, "ipv6");
}

/** Ranges such as `127.0.0.0/8` or `fd00::/8`. Throws on anything else. */
export function addressRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return (address) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function addRange(list: BlockList, range: string): void {
  const [address = "", bits = ""] = range.split("/");
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  list.addSubnet(address, Number(bits), family);
}
