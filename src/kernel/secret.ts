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

  /** Text of somebody who was given the value and may repeat it, such as a provider's error, without it. */
  hideIn(text: string): string {
    const value = this.#value ?? "";
    if (value === "") return text;
    const spelled = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), ...encodings(value)];
    return spelled.reduce((left, form) => left.replaceAll(form, "[secret]"), text);
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

function encodings(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  return (["base64", "base64url", "hex"] as const).map((encoding) => bytes.toString(encoding));
}
