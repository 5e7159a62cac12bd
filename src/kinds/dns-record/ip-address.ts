import type { Parsed } from "./domain-name.ts";

const byte = /^(0|[1-9]\d{0,2})$/;
const group = /^[0-9a-f]{1,4}$/i;

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

export function parseIpv4(text: string): Parsed<string> {
  return !ipv4.test(text)
    ? {
        ok: false,
        message: `"${text}" is not an IPv4 address: four numbers from 0 to 255 with dots between them (RFC 1035 3.4.1)`,
      }
    : { ok: true, value: text };
}

/** An IPv6 address in the one form of RFC 5952. Zones (`%eth0`) mean nothing in DNS and are refused. */
export function parseIpv6(text: string): Parsed<string> {
  const groups = groupsOf(text);
  return groups === undefined
    ? {
        ok: false,
        message: `"${text}" is not an IPv6 address: groups of hexadecimal digits with colons between them (RFC 4291 2.2)`,
      }
    : { ok: true, value: compressed(groups) };
}

function bytesOf(text: string): readonly number[] | undefined {
  const parts = text.split(".");
  const valid = parts.length === 4 && parts.every((part) => byte.test(part) && Number(part) <= 255);
  return valid ? parts.map(Number) : undefined;
}

function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  const [head = "", tail] = halves;
  if (halves.length > 2) return undefined;
  const left = words(head, tail === undefined);
  const right = tail === undefined ? [] : words(tail, true);
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...left, ...Array.from({ length: missing }, () => 0), ...right];
}

/** The groups of one side of `::`. Only the last one of the whole address may be written as four bytes. */
function words(part: string, mayEndInBytes: boolean): readonly number[] | undefined {
  if (part === "") return [];
  const texts = part.split(":");
  const bytes = mayEndInBytes ? bytesOf(texts.at(-1) ?? "") : undefined;
  const plain = bytes === undefined ? texts : texts.slice(0, -1);
  if (!plain.every((text) => group.test(text))) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes ?? [];
  const ending = bytes === undefined ? [] : [a * 256 + b, c * 256 + d];
  return [...plain.map((text) => Number.parseInt(text, 16)), ...ending];
}

/** Lower case, no leading zeros, the longest run of two or more zero groups (the first of equals) as `::`. */
function compressed(groups: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]) => part.map((word) => word.toString(16)).join(":");
  if (best.start < 0) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}
