import { addressText, ipv4Bytes, ipv6Bytes } from "./addresses.ts";
import type { Cursor } from "./cursor.ts";
import { nameBytes } from "./names.ts";
import { parameterBytes, readParameters, sixteenBits } from "./service-parameters.ts";
import { quoted, readStrings, stringBytes, unquoted, words } from "./text-strings.ts";
import { WireError } from "./wire-error.ts";

/** The data of a record between bytes and presentation format. What has no form of its own is written as in RFC 3597. */

type Reader = (cursor: Cursor) => string;
type Writer = (value: string) => Buffer;

const oneName: Reader = (cursor) => cursor.name();
const numbersAndName =
  (count: number): Reader =>
  (cursor) =>
    [...Array.from({ length: count }, () => cursor.number(2)), cursor.name()].join(" ");

const readers: Readonly<Record<string, Reader>> = {
  A: (cursor) => addressText(cursor.take(4)),
  AAAA: (cursor) => addressText(cursor.take(16)),
  CAA: (cursor) => `${cursor.number(1)} ${cursor.take(cursor.number(1)).toString("latin1")} ${quoted(cursor.rest())}`,
  CNAME: oneName,
  DNAME: oneName,
  HTTPS: readServiceBinding,
  MX: numbersAndName(1),
  NS: oneName,
  PTR: oneName,
  SOA: (cursor) => [cursor.name(), cursor.name(), ...Array.from({ length: 5 }, () => cursor.number(4))].join(" "),
  SPF: readStrings,
  SRV: numbersAndName(3),
  SVCB: readServiceBinding,
  TLSA: (cursor) => `${cursor.number(1)} ${cursor.number(1)} ${cursor.number(1)} ${cursor.rest().toString("hex")}`,
  TXT: readStrings,
};

const writers: Readonly<Record<string, Writer>> = {
  A: ipv4Bytes,
  AAAA: ipv6Bytes,
  CAA: caaBytes,
  CNAME: nameBytes,
  DNAME: nameBytes,
  HTTPS: serviceBindingBytes,
  MX: numbersAndNameBytes,
  NS: nameBytes,
  PTR: nameBytes,
  SOA: soaBytes,
  SPF: stringBytes,
  SRV: numbersAndNameBytes,
  SVCB: serviceBindingBytes,
  TLSA: tlsaBytes,
  TXT: stringBytes,
};

export function readData(type: string, cursor: Cursor, length: number): string {
  const read = readers[type];
  return cursor.within(length, () => (read === undefined ? unknownText(cursor.rest()) : read(cursor)));
}

export function dataBytes(type: string, value: string): Buffer {
  const unknown = /^\\#\s+(\d+)\s*([0-9a-fA-F\s]*)$/.exec(value);
  if (unknown !== null) return Buffer.from((unknown[2] ?? "").replaceAll(/\s/g, ""), "hex");
  const write = writers[type];
  if (write === undefined) throw new WireError(`a ${type} record cannot be written here`);
  return write(value);
}

function unknownText(bytes: Buffer): string {
  return bytes.length === 0 ? String.raw`\# 0` : `\\# ${bytes.length} ${bytes.toString("hex")}`;
}

function readServiceBinding(cursor: Cursor): string {
  const head = `${cursor.number(2)} ${cursor.name()}`;
  const parameters = readParameters(cursor);
  return parameters === "" ? head : `${head} ${parameters}`;
}

function numbersAndNameBytes(value: string): Buffer {
  const parts = value.split(" ");
  const numbers = parts.slice(0, -1).map((number) => sixteenBits(Number(number)));
  return Buffer.concat([...numbers, nameBytes(parts.at(-1) ?? "")]);
}

function serviceBindingBytes(value: string): Buffer {
  const [priority = "", target = "", ...parameters] = words(value);
  return Buffer.concat([sixteenBits(Number(priority)), nameBytes(target), parameterBytes(parameters)]);
}

function soaBytes(value: string): Buffer {
  const [primary = "", contact = "", ...numbers] = value.split(" ");
  const all = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) all.writeUInt32BE(Number(number), index * 4);
  return Buffer.concat([nameBytes(primary), nameBytes(contact), all]);
}

function caaBytes(value: string): Buffer {
  const [flags = "", tag = "", text = ""] = words(value);
  return Buffer.concat([Buffer.of(Number(flags), tag.length), Buffer.from(tag, "latin1"), unquoted(text)]);
}

function tlsaBytes(value: string): Buffer {
  const [usage, selector, matching, ...data] = words(value);
  return Buffer.concat([
    Buffer.of(Number(usage), Number(selector), Number(matching)),
    Buffer.from(data.join(""), "hex"),
  ]);
}
