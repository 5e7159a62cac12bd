import { BackupError } from "./backup-error.ts";

/** Takes exactly as many bytes as are asked for from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #pending: Buffer = Buffer.alloc(0);
  #over = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      if (this.#pending.length === 0 && !(await this.#more()))
        throw new BackupError("The backup ends too early: it is not complete");
      const part = this.#pending.subarray(0, missing);
      this.#pending = this.#pending.subarray(part.length);
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** Text up to the end of its line, which is taken too. */
  async line(atMostBytes: number): Promise<string> {
    const parts: Buffer[] = [];
    for (let length = 0; length <= atMostBytes; ) {
      if (this.#pending.length === 0 && !(await this.#more())) break;
      const end = this.#pending.indexOf(0x0a);
      const part = end === -1 ? this.#pending : this.#pending.subarray(0, end);
      parts.push(part);
      length += part.length;
      this.#pending = this.#pending.subarray(end === -1 ? part.length : part.length + 1);
      if (end !== -1) return Buffer.concat(parts).toString("utf8");
    }
    throw new BackupError("This is not a backup of Setpoint, or it is damaged at its very beginning");
  }

  async ended(): Promise<boolean> {
    return this.#pending.length === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    while (!this.#over && this.#pending.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) this.#over = true;
      else this.#pending = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    return !this.#over;
  }
}
