import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { RotatingBox } from "../ports/secret-box.ts";

const version = "v1";
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under the first of its keys. The binding is authenticated with the text, and is not kept in it; the id of the
 * key is, so that the others open what was sealed before a rotation.
 */
export class RootKeyBox implements RotatingBox {
  readonly keyId: string;
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  constructor(keys: Uint8Array | readonly Uint8Array[]) {
    const all = keys instanceof Uint8Array ? [keys] : keys;
    for (const key of all)
      if (key.length !== 32) throw new Error(`A root key has 32 bytes; this one has ${key.length}`);
    const [current] = all;
    if (current === undefined) throw new Error("There must be a root key");
    this.keyId = rootKeyIdOf(current);
    this.#keys = new Map(all.map((key) => [rootKeyIdOf(key), key]));
  }

  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${version}.${this.keyId}.`);
  }

  async seal(text: string, binding: string): Promise<string> {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#key(this.keyId, binding), nonce).setAAD(Buffer.from(binding));
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${this.keyId}.${sealed.toString("base64url")}`;
  }

  async open(sealed: string, binding: string): Promise<string> {
    const [form, keyId = "", payload = ""] = sealed.split(".");
    const bytes = Buffer.from(payload, "base64url");
    if (form !== version || bytes.length < nonceBytes + tagBytes)
      throw new Error(`This is no secret that was sealed here (${binding})`);
    const decipher = createDecipheriv("aes-256-gcm", this.#key(keyId, binding), bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(binding))
      .setAuthTag(bytes.subarray(-tagBytes));
    try {
      const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch {
      throw new Error(`A secret cannot be opened (${binding}): it was changed, or sealed for something else`);
    }
  }

  #key(id: string, binding: string): Uint8Array {
    const key = this.#keys.get(id);
    if (key !== undefined) return key;
    throw new Error(
      `A secret cannot be opened (${binding}): it was sealed with the root key ${id}, and this process has ${[...this.#keys.keys()].join(", ")}. Put the missing one behind the others in root.key or SETPOINT_ROOT_KEY`,
    );
  }
}

/** Says which key it is and nothing about it. */
export function rootKeyIdOf(key: Uint8Array): string {
  return createHash("sha256").update("setpoint root key\0").update(key).digest("hex").slice(0, 12);
}
