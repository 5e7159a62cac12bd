import { WireError } from "./wire-error.ts";

export function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw new WireError("an address has neither 4 nor 16 bytes");
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2) groups.push(bytes.readUInt16BE(at).toString(16));
  return compressed(groups);
}

/** The longest run of two or more zero groups, the first of equals, becomes `::` (RFC 5952 4.2). */
function compressed(groups: readonly string[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}

export function ipv4Bytes(text: string): Buffer {
  const parts = text.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255)))
    throw new WireError(`"${text}" is no IPv4 address`);
  return Buffer.from(parts);
}

/** Of an address in the form of RFC 5952, where only groups and one `::` are written. */
export function ipv6Bytes(text: string): Buffer {
  const [head = "", tail] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const missing = 8 - left.length - right.length;
  const all = tail === undefined ? left : [...left, ...Array.from({ length: Math.max(missing, 0) }, () => 0), ...right];
  if (all.length !== 8 || all.some((group) => !(group >= 0 && group <= 0xffff)))
    throw new WireError(`"${text}" is no IPv6 address`);
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
