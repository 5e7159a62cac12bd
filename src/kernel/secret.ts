import { createHash } from "node:crypto";

/**
 * A value that is compared by hash and never printed. JSON, logs and errors show a short prefix of its hash, from which
 * the value cannot be found as long as it has real entropy; the value itself leaves only through `reveal`, at a write.
 */
export class Secret {
  readonly hash: string;
  readonly #value: string | undefined;

  constructor(value: string) {
    this.#value = value;
    this.hash = createHash("sha256").update("setpoint-secret\0").update(value).digest("hex");
  }

  reveal(): string {
    if (this.#value === undefined) throw new Error("This secret is no longer available: declare it again");
    return this.#value;
  }

  toJSON(): { readonly $secret: string } {
    return { $secret: this.hash.slice(0, 16) };
  }

  toString(): string {
    return "[secret]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[secret]";
  }
}
