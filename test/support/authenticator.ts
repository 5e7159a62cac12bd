import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A security key in software: ES256, kept on the key, verified by its owner. */
export class SoftwareAuthenticator {
  readonly id = randomBytes(16);
  readonly #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  userHandle: string | undefined;
  counter = 0;

  constructor() {
    this.#keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  }

  /** What `navigator.credentials.create` answers. */
  register(options: Readonly<Record<string, unknown>>, origin: string): object {
    const { challenge, rp, user } = options as { challenge: string; rp: { id: string }; user: { id: string } };
    this.userHandle = user.id;
    const authData = Buffer.concat([
      this.#head(rp.id, 0x45),
      Buffer.alloc(16),
      Buffer.from([0, this.id.length]),
      this.id,
      this.#coseKey(),
    ]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text("fmt"),
      text("none"),
      text("attStmt"),
      Buffer.from([0xa0]),
      text("authData"),
      bytes(authData),
    ]);
    return this.#credential({
      clientDataJSON: clientData("webauthn.create", challenge, origin),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** What `navigator.credentials.get` answers. */
  answer(options: Readonly<Record<string, unknown>>, origin: string, flags = 0x05): object {
    const { challenge, rpId } = options as { challenge: string; rpId: string };
    const clientDataJSON = clientData("webauthn.get", challenge, origin);
    const authData = this.#head(rpId, flags);
    const digest = createHash("sha256").update(Buffer.from(clientDataJSON, "base64url")).digest();
    const signature = sign("sha256", Buffer.concat([authData, digest]), this.#keys.privateKey);
    return this.#credential({
      clientDataJSON,
      authenticatorData: authData.toString("base64url"),
      signature: signature.toString("base64url"),
      ...(this.userHandle === undefined ? {} : { userHandle: this.userHandle }),
    });
  }

  #credential(response: object): object {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #head(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([flags]), counter]);
  }

  /** COSE: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}. */
  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const coordinate = (value: string) => bytes(Buffer.from(value, "base64url"));
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      coordinate(x),
      Buffer.from([0x22]),
      coordinate(y),
    ]);
  }
}

function clientData(type: string, challenge: string, origin: string): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString("base64url");
}

/** CBOR text and byte strings of less than 64 KiB. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}
function bytes(value: Buffer): Buffer {
  const head = value.length < 256 ? [0x58, value.length] : [0x59, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from(head), value]);
}
