import { addressText, ipv4Bytes, ipv6Bytes } from "./addresses.ts";
import type { Cursor } from "./cursor.ts";
import { quoted, unquoted } from "./text-strings.ts";
import { WireError } from "./wire-error.ts";

/** The parameters of SVCB and HTTPS (RFC 9460 14.3). */
const names = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"];

export function readParameters(cursor: Cursor): string {
  const parameters: string[] = [];
  while (cursor.left > 0) {
    const number = cursor.number(2);
    const value = cursor.take(cursor.number(2));
    const name = names[number] ?? `key${number}`;
    const text = parameterText(number, value);
    parameters.push(text === undefined ? name : `${name}=${text}`);
  }
  return parameters.join(" ");
}

function parameterText(number: number, value: Buffer): string | undefined {
  switch (number) {
    case 0:
      return slices(value, 2)
        .map((part) => names[part.readUInt16BE()] ?? `key${part.readUInt16BE()}`)
        .join(",");
    case 1:
      return protocols(value);
    case 2:
      return undefined;
    case 3:
      return String(value.readUInt16BE());
    case 4:
      return slices(value, 4).map(addressText).join(",");
    case 5:
      return value.toString("base64");
    case 6:
      return slices(value, 16).map(addressText).join(",");
    default:
      return value.length === 0 ? undefined : quoted(value);
  }
}

function slices(value: Buffer, size: number): readonly Buffer[] {
  if (value.length % size !== 0) throw new WireError("a service parameter has a length that is not allowed");
  return Array.from({ length: value.length / size }, (_, index) => value.subarray(index * size, (index + 1) * size));
}

/** Commas and backslashes inside a protocol's name are escaped twice: once for the list, once for the string. */
function protocols(value: Buffer): string {
  const ids: string[] = [];
  for (let at = 0; at < value.length; ) {
    const length = value[at] ?? 0;
    ids.push(value.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const text = ids.map((id) => id.replaceAll(/[\\,]/g, String.raw`\$&`)).join(",");
  return /^[!#-[\]-~]*$/.test(text) ? text : quoted(Buffer.from(text, "latin1"));
}

export function parameterBytes(parameters: readonly string[]): Buffer {
  const found = parameters.map((parameter) => {
    const [, name = "", text] = /^([^=]+)(?:=([\s\S]*))?$/.exec(parameter) ?? [];
    const named = names.indexOf(name);
    const number = named >= 0 ? named : Number(/^key(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    if (!(number < 65_536)) throw new WireError(`"${parameter}" is no service parameter`);
    return { number, value: valueBytes(number, text ?? "") };
  });
  found.sort((left, right) => left.number - right.number);
  return Buffer.concat(found.flatMap(({ number, value }) => [sixteenBits(number), sixteenBits(value.length), value]));
}

function valueBytes(number: number, text: string): Buffer {
  const list = unquoted(text).toString("latin1").split(",");
  switch (number) {
    case 0:
      return Buffer.concat(
        list.map((name) => sixteenBits(Math.max(names.indexOf(name), Number(/^key(\d+)$/.exec(name)?.[1] ?? 0)))),
      );
    case 1:
      return Buffer.concat(list.map((id) => Buffer.concat([Buffer.of(id.length), Buffer.from(id, "latin1")])));
    case 2:
      return Buffer.alloc(0);
    case 3:
      return sixteenBits(Number(text));
    case 4:
      return Buffer.concat(list.map(ipv4Bytes));
    case 5:
      return Buffer.from(text, "base64");
    case 6:
      return Buffer.concat(list.map(ipv6Bytes));
    default:
      return unquoted(text);
  }
}

export function sixteenBits(value: number): Buffer {
  return Buffer.of((value >> 8) & 0xff, value & 0xff);
}
