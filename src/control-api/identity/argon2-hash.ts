import { argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

export interface Argon2Cost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

const tagBytes = 32;
const compute = promisify(argon2);

/** argon2id in the usual text form, which carries its parameters. The work is done outside the event loop. */
export async function argon2Text(password: string, salt: Uint8Array, cost: Argon2Cost): Promise<string> {
  const tag = await argon2Tag(password, salt, cost, tagBytes);
  return argon2Form(salt, tag, cost);
}

export function argon2Form(salt: Uint8Array, tag: Uint8Array, { memoryKiB, passes, lanes }: Argon2Cost): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(tag)}`;
}

export interface ParsedHash {
  readonly cost: Argon2Cost;
  readonly salt: Uint8Array;
  readonly tag: Uint8Array;
}

export function parseArgon2(text: string): ParsedHash {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(text);
  if (parts === null) throw new Error("A stored password hash is not one that Setpoint made");
  const [, memoryKiB, passes, lanes, salt = "", tag = ""] = parts;
  return {
    cost: { memoryKiB: Number(memoryKiB), passes: Number(passes), lanes: Number(lanes) },
    salt: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

export async function matchesArgon2(password: string, { cost, salt, tag }: ParsedHash): Promise<boolean> {
  return timingSafeEqual(await argon2Tag(password, salt, cost, tag.length), tag);
}

async function argon2Tag(password: string, salt: Uint8Array, cost: Argon2Cost, tagLength: number): Promise<Buffer> {
  return await compute("argon2id", {
    // One form for what looks the same, whichever keyboard it was typed on.
    message: password.normalize("NFKC"),
    nonce: salt,
    memory: cost.memoryKiB,
    passes: cost.passes,
    parallelism: cost.lanes,
    tagLength,
  });
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}
