import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { StartError } from "./start-error.ts";

const keyBytes = 32;

/** Where keys of one kind come from: a file of the data directory, or an environment variable in its stead. */
export interface KeySource {
  /** As in messages: `root key`. */
  readonly what: string;
  readonly file: string;
  readonly variable: string;
  /** The variable's value, checked: keys as base64, separated by commas. */
  readonly given: string | undefined;
  /** What the loss of the key means. */
  readonly without: string;
}

/**
 * Keys of 32 bytes: given, or read from a file that the first start makes and only its owner can read. The first one is
 * current; those behind it are kept from before a rotation.
 */
export function readKeys(source: KeySource): readonly Uint8Array[] {
  const { file, given } = source;
  if (given !== undefined) return given.split(",").map((key) => Buffer.from(key, "base64"));
  try {
    mkdirSync(dirname(file), { recursive: true });
    const made = Buffer.from(systemSecretRandom.bytes(keyBytes)).toString("base64");
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: "wx" });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(source, thrown);
  }
  return readLines(source);
}

function readLines(source: KeySource): readonly Uint8Array[] {
  const { file, what, without } = source;
  let keys: readonly Buffer[];
  try {
    chmodSync(file, 0o600);
    const lines = readFileSync(file, "utf8").split("\n");
    keys = lines.filter((line) => line.trim() !== "").map((line) => Buffer.from(line.trim(), "base64"));
  } catch (thrown) {
    throw unusable(source, thrown);
  }
  if (keys.length > 0 && keys.every((key) => key.length === keyBytes)) return keys;
  throw new StartError(
    `${file} holds no ${what} (32 bytes as base64 in each line). Put the right one back: ${without}.`,
  );
}

function unusable({ what, file, variable }: KeySource, thrown: unknown): StartError {
  const reason = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
  return new StartError(
    `The ${what} ${file} cannot be used (${reason}). Make it readable for this user, or set ${variable}.`,
  );
}
