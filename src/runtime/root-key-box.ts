import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { SecretBox } from "../ports/secret-box.ts";

const version = "v1";
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM under one key. The binding is authenticated with the text, and is not kept in it. */
export class RootKeyBox implements SecretBox {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length !== 32) throw new Error(`A root key has 32 bytes; this one has ${key.length}`);
    this.#key = key;
  }

  async seal(text: string, binding: string): Promise<string> {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(binding));
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${sealed.toString("base64url")}`;
  }

  async open(sealed: string, binding: string): Promise<string> {
    const bytes = Buffer.from(sealed.slice(version.length + 1), "base64url");
    if (!sealed.startsWith(`${version}.`) || bytes.length < nonceBytes + tagBytes)
      throw new Error(`This is no secret that was sealed here (${binding})`);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(binding))
      .setAuthTag(bytes.subarray(-tagBytes));
    try {
      const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch {
      throw new Error(
        `A secret cannot be opened (${binding}): it was sealed with another root key or for something else`,
      );
    }
  }
}
