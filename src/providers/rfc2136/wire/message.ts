import { Cursor } from "./cursor.ts";
import { nameBytes } from "./names.ts";
import { classes, typeName, typeNumber } from "./numbers.ts";
import { dataBytes, readData } from "./record-data.ts";
import { sixteenBits } from "./service-parameters.ts";
import { WireError } from "./wire-error.ts";

export interface WireRecord {
  readonly name: string;
  readonly type: string;
  readonly class: number;
  readonly ttlSeconds: number;
  readonly value: string;
}

/** What says whether a message can be believed. */
export interface MessageHead {
  readonly id: number;
  readonly isAnswer: boolean;
  readonly code: number;
  readonly signature: Signature | undefined;
}

export interface WireMessage extends MessageHead {
  readonly operation: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answers: readonly WireRecord[];
  readonly authorities: readonly WireRecord[];
  readonly additional: readonly WireRecord[];
}

/** The signature at the end of a message (RFC 8945 4.2), with what is needed to check it. */
export interface Signature {
  readonly keyName: string;
  readonly algorithm: string;
  readonly timeSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
  /** Where the signature's record begins. */
  readonly start: number;
}

export function readMessage(bytes: Buffer): WireMessage {
  const cursor = new Cursor(bytes);
  const id = cursor.number(2);
  const flags = cursor.number(2);
  const counts = [cursor.number(2), cursor.number(2), cursor.number(2), cursor.number(2)] as const;
  for (let index = 0; index < counts[0]; index++) {
    cursor.name();
    cursor.take(4);
  }
  let signature: Signature | undefined;
  const section = (count: number): readonly WireRecord[] => {
    const records: WireRecord[] = [];
    for (let index = 0; index < count; index++) {
      if (signature !== undefined) throw new WireError("something follows the signature");
      const read = readRecord(cursor);
      if ("mac" in read) signature = read;
      else records.push(read);
    }
    return records;
  };
  const message = {
    id,
    isAnswer: (flags & 0x8000) !== 0,
    operation: (flags >> 11) & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    code: flags & 0xf,
    answers: section(counts[1]),
    authorities: section(counts[2]),
    additional: section(counts[3]),
  };
  if (cursor.left > 0) throw new WireError("the message has bytes that belong to nothing");
  return { ...message, signature };
}

export function readRecord(cursor: Cursor): WireRecord | Signature {
  const start = cursor.at;
  const name = cursor.name();
  const number = cursor.number(2);
  const type = typeName(number);
  const recordClass = cursor.number(2);
  const ttlSeconds = cursor.number(4);
  const length = cursor.number(2);
  if (type === "TSIG") return cursor.within(length, () => readSignature(cursor, name, start));
  // Of a class that means "none" or "any" there is nothing to read.
  const value = length === 0 && recordClass !== classes.internet ? "" : readData(type, cursor, length);
  return { name, type, class: recordClass, ttlSeconds, value };
}

function readSignature(cursor: Cursor, keyName: string, start: number): Signature {
  return {
    keyName,
    start,
    algorithm: cursor.name(),
    timeSeconds: cursor.number(6),
    fudgeSeconds: cursor.number(2),
    mac: Buffer.from(cursor.take(cursor.number(2))),
    originalId: cursor.number(2),
    error: cursor.number(2),
    other: Buffer.from(cursor.take(cursor.number(2))),
  };
}

export interface MessageParts {
  readonly id: number;
  readonly operation: number;
  readonly question: { readonly name: string; readonly type: string };
  /** Whoever is asked is to find the answer elsewhere. */
  readonly recursive?: boolean;
  /** Answers of a question, prerequisites of an update. */
  readonly first?: readonly WireRecord[];
  /** Authorities of a question, changes of an update. */
  readonly second?: readonly WireRecord[];
}

export function messageBytes({ id, operation, question, recursive, first = [], second = [] }: MessageParts): Buffer {
  return Buffer.concat([
    sixteenBits(id),
    sixteenBits((operation << 11) | (recursive === true ? 0x0100 : 0)),
    ...[1, first.length, second.length, 0].map(sixteenBits),
    nameBytes(question.name),
    sixteenBits(numberOf(question.type)),
    sixteenBits(classes.internet),
    ...first.map(recordBytes),
    ...second.map(recordBytes),
  ]);
}

export function recordBytes(record: WireRecord): Buffer {
  const data = record.value === "" ? Buffer.alloc(0) : dataBytes(record.type, record.value);
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(record.ttlSeconds);
  const head = [sixteenBits(numberOf(record.type)), sixteenBits(record.class), ttl, sixteenBits(data.length)];
  return Buffer.concat([nameBytes(record.name), ...head, data]);
}

function numberOf(type: string): number {
  const number = typeNumber(type);
  if (number === undefined) throw new WireError(`"${type}" is no type of record`);
  return number;
}
