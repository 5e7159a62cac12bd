/** A range of IPv4 addresses, by number. */
export interface Range {
  readonly first: number;
  readonly last: number;
  readonly bits: number;
}

export function numberOfIp(ip: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(ip)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

export function ipOfNumber(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** `10.0.0.0/16`; undefined where it is none, or where the address is not the first of its range. */
export function rangeOf(text: string): Range | undefined {
  const [ip = "", length = ""] = text.split("/");
  const first = numberOfIp(ip);
  const bits = Number(length);
  if (first === undefined || !/^\d{1,2}$/.test(length) || bits > 32) return undefined;
  const size = 2 ** (32 - bits);
  return first % size === 0 ? { first, last: first + size - 1, bits } : undefined;
}

export function contains(outer: Range, inner: Range): boolean {
  return inner.first >= outer.first && inner.last <= outer.last;
}

export function overlaps(left: Range, right: Range): boolean {
  return left.first <= right.last && right.first <= left.last;
}

export function textOfRange({ first, bits }: Range): string {
  return `${ipOfNumber(first)}/${bits}`;
}

/** RFC 1918, which private networks must be taken from. */
const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].flatMap((text) => rangeOf(text) ?? []);

export function isPrivate(range: Range): boolean {
  return privateRanges.some((outer) => contains(outer, range));
}

/** The range for benchmarks of RFC 2544: nobody outside answers there. */
const publicFirst = 198 * 2 ** 24 + 18 * 2 ** 16;
const publicSize = 2 ** 17;

export function publicIpv4(number: number): string {
  return ipOfNumber(publicFirst + (number % publicSize));
}

/** Out of the documentation prefix of RFC 3849. */
export function publicIpv6(number: number): string {
  const high = Math.floor(number / 65_536) % 65_536;
  return `2001:db8:${(high + 1).toString(16)}:${(number % 65_536).toString(16)}::/64`;
}
