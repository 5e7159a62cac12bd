import { join } from "node:path";
import { readKeys } from "./key-file.ts";

export function rootKeyFileOf(dataDirectory: string): string {
  return join(dataDirectory, "root.key");
}

interface Where {
  readonly rootKey: string | undefined;
  readonly dataDirectory: string;
}

/** The first one seals; those behind it open what was sealed before a rotation. */
export function rootKeys(config: Where): readonly Uint8Array[] {
  return readKeys({
    what: "root key",
    file: rootKeyFileOf(config.dataDirectory),
    variable: "SETPOINT_ROOT_KEY",
    given: config.rootKey,
    without: "without it the secrets in the database cannot be opened",
  });
}
