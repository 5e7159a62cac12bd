import { parseIpv4, parseIpv6 } from "../dns-record/ip-address.ts";

export interface Cidr {
  /** In its one form: the first address of the block, IPv6 as RFC 5952 writes it. */
  readonly text: string;
  readonly family: "ipv4" | "ipv6";
  readonly first: bigint;
  readonly bits: number;
}

export type ParsedCidr = { readonly ok: true; readonly cidr: Cidr } | { readonly ok: false; readonly message: string };

/** A block of addresses. One whose address is not its first is refused: it is a typing mistake, or means something else. */
export function parseCidr(text: string): ParsedCidr {
  const [address = "", length, ...rest] = text.split("/");
  const refuse = (why: string): ParsedCidr => ({ ok: false, message: `"${text}" ${why}` });
  if (length === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length))
    return refuse("is not a block of addresses: write it with its length, such as 10.0.0.0/16 or 2001:db8::/32");
  const four = parseIpv4(address);
  const six = four.ok ? four : parseIpv6(address);
  if (!six.ok) return refuse("is not a block of IPv4 or IPv6 addresses");
  const family = four.ok ? "ipv4" : "ipv6";
  const width = four.ok ? 32 : 128;
  const bits = Number(length);
  if (bits > width) return refuse(`is longer than an address: at most /${width}`);
  const number = four.ok ? ipv4Number(six.value) : ipv6Number(six.value);
  const first = (number >> BigInt(width - bits)) << BigInt(width - bits);
  if (first !== number) return refuse(`does not begin where a /${bits} can begin`);
  return { ok: true, cidr: { text: `${six.value}/${bits}`, family, first, bits } };
}

/** Whether every address of the second block is in the first one. */
export function covers(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || outer.bits > inner.bits) return false;
  const width = BigInt((outer.family === "ipv4" ? 32 : 128) - outer.bits);
  return outer.first >> width === inner.first >> width;
}

/** A block in its one form; what is none stays as it is. */
export function foldCidr(text: string): string {
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.cidr.text : text;
}

function ipv4Number(text: string): bigint {
  return text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Number(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const groups = (part: string | undefined) => (part === undefined || part === "" ? [] : part.split(":"));
  const [left, right] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}
