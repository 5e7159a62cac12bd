import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newToken } from "../runtime/new-token.ts";
import { StartError } from "./start-error.ts";

export function tokenFileOf(dataDirectory: string): string {
  return join(dataDirectory, "operator.token");
}

/** The operator's token: made at the first start, readable by its owner alone. */
export function ensureToken(dataDirectory: string): string {
  const file = tokenFileOf(dataDirectory);
  try {
    mkdirSync(dataDirectory, { recursive: true });
    // The flag makes the winner of two starts write, and the loser read what the winner wrote.
    writeFileSync(file, `${newToken()}\n`, { mode: 0o600, flag: "wx" });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(dataDirectory, thrown);
  }
  return readToken(dataDirectory);
}

export function readToken(dataDirectory: string): string {
  const file = tokenFileOf(dataDirectory);
  try {
    chmodSync(file, 0o600);
    const token = readFileSync(file, "utf8").trim();
    if (token.length >= 24) return token;
  } catch (thrown) {
    throw unusable(dataDirectory, thrown);
  }
  throw new StartError(`${file} holds no token. Remove it: the next start makes a new one.`);
}

function unusable(dataDirectory: string, thrown: unknown): StartError {
  const reason = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
  return new StartError(
    `The data directory ${dataDirectory} cannot be used (${reason}). Make it writable for this user, or set SETPOINT_DATA to another one.`,
  );
}
