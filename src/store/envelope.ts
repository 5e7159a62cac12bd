import { createCipheriv, createDecipheriv } from "node:crypto";
import type { SecretRandom } from "../ports/secret-random.ts";

const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

/** AES-256-GCM. Whatever a text is bound to must be named again to open it. */
export function sealWith(key: Uint8Array, text: Uint8Array, binding: string, random: SecretRandom): string {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(binding));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

export function openWith(key: Uint8Array, sealed: string, binding: string): Buffer {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < nonceBytes + tagBytes) throw unopened(binding);
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes))
    .setAAD(Buffer.from(binding))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw unopened(binding);
  }
}

function unopened(binding: string): Error {
  return new Error(`A secret cannot be opened (${binding}): it was changed, or moved from somewhere else`);
}
