import { chownSync, readFileSync } from "node:fs";
import { EmbeddedServerError, USE_EXTERNAL_SERVER } from "./errors.ts";

/**
 * The operating system user that PostgreSQL runs as. PostgreSQL refuses to run as root, so root hands it to another
 * user; anybody else runs it as themselves, and `switchTo` is undefined.
 */
export interface RunUser {
  readonly uid: number;
  readonly gid: number;
  readonly switchTo: { readonly uid: number; readonly gid: number } | undefined;
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

export function currentUser(): RunUser {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0, switchTo: undefined };
}

/** The user of an existing data directory, when root starts the server on it. */
export function switchedUser(uid: number, gid: number): RunUser {
  return { uid, gid, switchTo: { uid, gid } };
}

/** `nobody` owns no files and has no shell: the one unprivileged user that every Linux and macOS machine has. */
export function nobody(passwdFile = "/etc/passwd"): RunUser {
  const entry = readFileSync(passwdFile, "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === "nobody");
  const uid = Number(entry?.[2]);
  const gid = Number(entry?.[3]);
  if (!Number.isInteger(uid) || !Number.isInteger(gid)) {
    throw new EmbeddedServerError(
      "RUN_USER_UNAVAILABLE",
      "PostgreSQL does not run as root, and this machine has no user `nobody` to run it as. Start Setpoint as an " +
        `ordinary user, add the user \`nobody\` to ${passwdFile}, ${USE_EXTERNAL_SERVER}.`,
    );
  }
  return switchedUser(uid, gid);
}

/** Hands a file that root has just made to the user who needs it. Does nothing for an ordinary user. */
export function giveTo(path: string, user: { readonly uid: number; readonly gid: number }): void {
  // macOS numbers `nobody` -2, which chown takes in its unsigned form only.
  if (isRoot()) chownSync(path, user.uid >>> 0, user.gid >>> 0);
}
