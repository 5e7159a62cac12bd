import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { StartError } from "./start-error.ts";

const keyBytes = 32;

export function rootKeyFileOf(dataDirectory: string): string {
  return join(dataDirectory, "root.key");
}

/** The key all secrets in the database are sealed with: given, or made at the first start and readable by its owner alone. */
export function rootKey(config: { readonly rootKey: string | undefined; readonly dataDirectory: string }): Uint8Array {
  if (config.rootKey !== undefined) return Buffer.from(config.rootKey, "base64");
  const file = rootKeyFileOf(config.dataDirectory);
  try {
    mkdirSync(config.dataDirectory, { recursive: true });
    const made = Buffer.from(systemSecretRandom.bytes(keyBytes)).toString("base64");
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: "wx" });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(file, thrown);
  }
  return read(file);
}

function read(file: string): Uint8Array {
  let key: Buffer;
  try {
    chmodSync(file, 0o600);
    key = Buffer.from(readFileSync(file, "utf8").trim(), "base64");
  } catch (thrown) {
    throw unusable(file, thrown);
  }
  if (key.length === keyBytes) return key;
  throw new StartError(
    `${file} holds no root key (32 bytes as base64). Put the right one back: without it the secrets in the database cannot be opened.`,
  );
}

function unusable(file: string, thrown: unknown): StartError {
  const reason = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
  return new StartError(
    `The root key ${file} cannot be used (${reason}). Make it readable for this user, or set SETPOINT_ROOT_KEY.`,
  );
}
