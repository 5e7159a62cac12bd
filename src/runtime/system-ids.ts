import { randomBytes } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/**
 * UUIDs of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits that count within a millisecond, 62 random bits.
 * Ids of one process sort in the order they were made, also when the clock steps back: then the last time is kept.
 */
export function createSystemIds(): Ids {
  const random = randomSource();
  let lastMs = 0;
  let counter = 0;
  return Object.freeze({
    next: () => {
      const nowMs = Date.now();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        // The counter starts in the lower half, so that thousands of ids fit into one millisecond.
        counter = random(2).readUInt16BE() & 0x7ff;
      } else if (++counter > 0xfff) {
        lastMs++;
        counter = 0;
      }
      return formatUuid(lastMs, counter, random(8));
    },
  });
}

/** Random bytes from a stock that is filled now and then: asking the system for a few at a time costs more than all else. */
function randomSource(): (length: number) => Buffer {
  let stock = Buffer.alloc(0);
  return (length) => {
    if (stock.length < length) stock = randomBytes(4_096);
    const taken = stock.subarray(0, length);
    stock = stock.subarray(length);
    return taken;
  };
}

function formatUuid(ms: number, counter: number, random: Buffer): string {
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0);
  const time = ms.toString(16).padStart(12, "0");
  const tail = random.toString("hex");
  const third = `7${counter.toString(16).padStart(3, "0")}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${third}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
