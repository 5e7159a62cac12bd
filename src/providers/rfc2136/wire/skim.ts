import { Cursor } from "./cursor.ts";
import { type MessageHead, readRecord, type WireRecord } from "./message.ts";
import { WireError } from "./wire-error.ts";

/** A message of which only the outline was read: how many answers it has, where they end, and the SOA records among them. */
export interface SkimmedMessage extends MessageHead {
  readonly bytes: Buffer;
  readonly answers: number;
  readonly soas: readonly WireRecord[];
  /** Where everything ends but the signature. */
  readonly end: number;
}

const headLength = 12;
const soaType = 6;
const signatureType = 250;

/** Walks over the records without making anything of them: whether they are worth reading is known at the end of a transfer. */
export function skimMessage(bytes: Buffer): SkimmedMessage {
  const word = (at: number) => {
    if (at + 2 > bytes.length) throw new WireError("the message ends in the middle of a record");
    return bytes.readUInt16BE(at);
  };
  const flags = word(2);
  const [questions, answers, others] = [word(4), word(6), word(8) + word(10)];
  let at = headLength;
  for (let index = 0; index < questions; index++) at = behindName(bytes, at) + 4;
  const soas: WireRecord[] = [];
  let end = -1;
  let signature: MessageHead["signature"];
  for (let index = 0; index < answers + others; index++) {
    if (signature !== undefined) throw new WireError("something follows the signature");
    const start = at;
    const behind = behindName(bytes, at);
    const type = word(behind);
    at = behind + 10 + word(behind + 8);
    if (type !== soaType && type !== signatureType) continue;
    const record = recordAt(bytes, start);
    if ("mac" in record) [signature, end] = [record, start];
    else if (index < answers) soas.push(record);
  }
  if (at !== bytes.length) throw new WireError("the message does not end where its last record does");
  const head = { id: word(0), isAnswer: (flags & 0x8000) !== 0, code: flags & 0xf, signature };
  return { ...head, bytes, answers, soas, end: end < 0 ? bytes.length : end };
}

function recordAt(bytes: Buffer, start: number): ReturnType<typeof readRecord> {
  const cursor = new Cursor(bytes);
  cursor.at = start;
  return readRecord(cursor);
}

/** A name ends with an empty label or with a pointer. */
function behindName(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = bytes[at];
    if (length === undefined) throw new WireError("a name ends behind the message");
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
}
