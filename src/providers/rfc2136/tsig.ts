import { createHmac, timingSafeEqual } from "node:crypto";
import type { Signature } from "./wire/message.ts";
import { nameBytes } from "./wire/names.ts";
import { classes, typeNumber } from "./wire/numbers.ts";
import { sixteenBits } from "./wire/service-parameters.ts";

/** Signatures of messages with a shared key (RFC 8945). */

export const tsigAlgorithms = ["hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;
export type TsigAlgorithm = (typeof tsigAlgorithms)[number];

export interface TsigKey {
  /** Absolute, lower case. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Buffer;
}

const fudgeSeconds = 300;
/** RFC 8945 5.3.1: so many messages of an answer may go by without a signature. */
const mostUnsigned = 99;

export interface Signed {
  readonly message: Buffer;
  readonly mac: Buffer;
}

export function signMessage(message: Buffer, key: TsigKey, nowSeconds: number): Signed {
  const stamp = { timeSeconds: nowSeconds, fudgeSeconds, error: 0, other: Buffer.alloc(0) };
  const mac = macOf(key, [message, variables(key, stamp)]);
  const data = Buffer.concat([
    nameBytes(`${key.algorithm}.`),
    timers(stamp),
    sixteenBits(mac.length),
    mac,
    message.subarray(0, 2),
    sixteenBits(0),
    sixteenBits(0),
  ]);
  const head = [
    sixteenBits(typeNumber("TSIG") ?? 0),
    sixteenBits(classes.any),
    Buffer.alloc(4),
    sixteenBits(data.length),
  ];
  const signed = Buffer.concat([message, nameBytes(key.name), ...head, data]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return { message: signed, mac };
}

export type Checked = "signed" | "unsigned" | { readonly problem: string };

/** Checks the messages of one answer, in their order; each signature covers the one before it. */
export class AnswerCheck {
  readonly #key: TsigKey;
  readonly #nowSeconds: () => number;
  #priorMac: Buffer;
  #isFirst = true;
  #pending: Buffer[] = [];

  constructor(key: TsigKey, requestMac: Buffer, nowSeconds: () => number) {
    this.#key = key;
    this.#priorMac = requestMac;
    this.#nowSeconds = nowSeconds;
  }

  check(message: Buffer, signature: Signature | undefined): Checked {
    if (signature === undefined) {
      this.#pending.push(message);
      if (this.#isFirst) return { problem: "its answer is not signed" };
      return this.#pending.length > mostUnsigned
        ? { problem: "too many messages in a row are not signed" }
        : "unsigned";
    }
    const problem = this.#problemOf(message, signature);
    this.#isFirst = false;
    return problem === undefined ? "signed" : { problem };
  }

  #problemOf(message: Buffer, signature: Signature): string | undefined {
    const key = this.#key;
    if (signature.keyName !== key.name) return `its answer is signed with another key, ${signature.keyName}`;
    if (signature.algorithm !== `${key.algorithm}.`) return `its answer is signed by ${signature.algorithm}`;
    const stamp = this.#isFirst ? variables(key, signature) : timers(signature);
    const signed = [
      sixteenBits(this.#priorMac.length),
      this.#priorMac,
      ...this.#pending,
      ...unsigned(message, signature),
      stamp,
    ];
    const expected = macOf(key, signed);
    // Shortened signatures are allowed by the RFC and made by nobody we know.
    if (signature.mac.length !== expected.length || !timingSafeEqual(expected, signature.mac))
      return "the signature of its answer is wrong: do both sides have the same secret?";
    if (Math.abs(this.#nowSeconds() - signature.timeSeconds) > signature.fudgeSeconds)
      return `its clock is ${this.#nowSeconds() - signature.timeSeconds} s behind ours`;
    this.#priorMac = signature.mac;
    this.#pending = [];
    return undefined;
  }
}

const headLength = 12;

/** The message as it was before it was signed. */
function unsigned(message: Buffer, signature: Signature): readonly Buffer[] {
  const head = Buffer.from(message.subarray(0, headLength));
  head.writeUInt16BE(signature.originalId, 0);
  head.writeUInt16BE(head.readUInt16BE(10) - 1, 10);
  return [head, message.subarray(headLength, signature.start)];
}

type Stamp = Pick<Signature, "timeSeconds" | "fudgeSeconds" | "error" | "other">;

function variables(key: TsigKey, stamp: Stamp): Buffer {
  return Buffer.concat([
    nameBytes(key.name),
    sixteenBits(classes.any),
    Buffer.alloc(4),
    nameBytes(`${key.algorithm}.`),
    timers(stamp),
    sixteenBits(stamp.error),
    sixteenBits(stamp.other.length),
    stamp.other,
  ]);
}

function timers({ timeSeconds, fudgeSeconds: fudge }: Pick<Stamp, "timeSeconds" | "fudgeSeconds">): Buffer {
  const time = Buffer.alloc(6);
  time.writeUIntBE(timeSeconds, 0, 6);
  return Buffer.concat([time, sixteenBits(fudge)]);
}

function macOf(key: TsigKey, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(key.algorithm.slice("hmac-".length), key.secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}
