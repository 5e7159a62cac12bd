import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import type { EngineKey, EngineOpener, EngineSealer } from "../ports/engine-seal.ts";

const version = "x1";
const rawBytes = 32;
const tagBytes = 16;
/** DER of an X25519 key in front of its 32 bytes. */
const privatePrefix = Buffer.from("302e020100300506032b656e04220420", "hex");
const publicPrefix = Buffer.from("302a300506032b656e032100", "hex");
/** The key of one message seals that message alone, so its nonce may be fixed. */
const nonce = Buffer.alloc(12);

/** X25519 with a key pair per message, HKDF-SHA256, AES-256-GCM. */
export const engineSealer: EngineSealer = Object.freeze({
  seal: (key: EngineKey, text: string, binding: string) => {
    const receiver = publicKeyOf(key.publicKey);
    const sender = generateKeyPairSync("x25519");
    const ephemeral = rawOf(sender.publicKey);
    const secret = diffieHellman({ privateKey: sender.privateKey, publicKey: receiver });
    const cipher = createCipheriv("aes-256-gcm", messageKey(secret, ephemeral, key.publicKey), nonce);
    cipher.setAAD(Buffer.from(binding));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return [version, key.id, ephemeral, sealed.toString("base64url")].join(".");
  },
});

/** The private keys of 32 bytes each: the first one is current, the others open what was sealed before. */
export function createEngineOpener(privateKeys: readonly Uint8Array[]): EngineOpener {
  const known = privateKeys.map((raw) => {
    if (raw.length !== rawBytes) throw new Error(`An engine key has ${rawBytes} bytes; this one has ${raw.length}`);
    const privateKey = createPrivateKey({ key: Buffer.concat([privatePrefix, raw]), format: "der", type: "pkcs8" });
    const publicKey = rawOf(createPublicKey(privateKey));
    return { privateKey, key: { id: engineKeyId(publicKey), publicKey } };
  });
  const [current] = known;
  if (current === undefined) throw new Error("There must be an engine key");
  return Object.freeze({
    key: current.key,
    earlierIds: known.slice(1).map(({ key }) => key.id),
    isCurrent: (sealed: string) => sealed.startsWith(`${version}.${current.key.id}.`),
    open: (sealed: string, binding: string) => {
      const [form, id = "", ephemeral = "", payload = ""] = sealed.split(".");
      const bytes = Buffer.from(payload, "base64url");
      if (form !== version || bytes.length < tagBytes) throw new Error("This was not sealed to an engine");
      const owner = known.find(({ key }) => key.id === id);
      if (owner === undefined)
        throw new Error(`This was sealed to the engine key ${id}, which this scheduler does not have`);
      const secret = diffieHellman({ privateKey: owner.privateKey, publicKey: publicKeyOf(ephemeral) });
      return decrypted(messageKey(secret, ephemeral, owner.key.publicKey), bytes, binding);
    },
  });
}

function decrypted(key: Buffer, bytes: Buffer, binding: string): string {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce)
    .setAAD(Buffer.from(binding))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString("utf8");
  } catch {
    throw new Error("This was changed, or sealed for something else");
  }
}

function messageKey(secret: Buffer, ephemeral: string, publicKey: string): Buffer {
  const salt = `${ephemeral}.${publicKey}`;
  return Buffer.from(hkdfSync("sha256", secret, salt, "setpoint engine seal", rawBytes));
}

function engineKeyId(publicKey: string): string {
  return createHash("sha256").update("setpoint engine key\0").update(publicKey).digest("hex").slice(0, 12);
}

function publicKeyOf(raw: string): KeyObject {
  const bytes = Buffer.from(raw, "base64url");
  if (bytes.length !== rawBytes) throw new Error("This is no public key of an engine");
  return createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: "der", type: "spki" });
}

function rawOf(publicKey: KeyObject): string {
  return publicKey.export({ format: "der", type: "spki" }).subarray(-rawBytes).toString("base64url");
}
