import { readName } from "./names.ts";
import { WireError } from "./wire-error.ts";

/** Reads a message from its start to its end, and never past it. */
export class Cursor {
  readonly bytes: Buffer;
  readonly #names = new Map<number, string>();
  at: number;
  #end: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.at = 0;
    this.#end = bytes.length;
  }

  get left(): number {
    return this.#end - this.at;
  }

  number(size: 1 | 2 | 4 | 6): number {
    this.#need(size);
    const value = this.bytes.readUIntBE(this.at, size);
    this.at += size;
    return value;
  }

  take(length: number): Buffer {
    this.#need(length);
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }

  rest(): Buffer {
    return this.take(this.left);
  }

  name(): string {
    const { name, next } = readName(this.bytes, this.at, this.#names);
    if (next > this.#end) throw new WireError("a name ends behind its record");
    this.at = next;
    return name;
  }

  /** Reads a part of known length; nothing of it may be left over, and nothing beyond it is touched. */
  within<Value>(length: number, read: () => Value): Value {
    this.#need(length);
    const outer = this.#end;
    this.#end = this.at + length;
    const value = read();
    if (this.at !== this.#end) throw new WireError("a record has bytes that belong to nothing");
    this.#end = outer;
    return value;
  }

  #need(length: number): void {
    if (length > this.left) throw new WireError("the message ends in the middle of a record");
  }
}
