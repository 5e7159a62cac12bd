import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { errnoOf } from "./errors.ts";
import type { RunUser } from "./run-user.ts";

/** Makes a folder and what is missing above it, each with this mode whatever the umask says. Existing ones stay as they are. */
export function makeFolder(folder: string, mode: number): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  makeFolder(path.dirname(folder), mode);
  try {
    mkdirSync(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === "EEXIST") return;
    throw thrown;
  }
  chmodSync(folder, mode);
}

/** True when the user may pass through every folder from the root down to this one. Access lists are not considered. */
export function canEnter(user: RunUser, folder: string): boolean {
  const { uid, gid, mode } = statSync(folder);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  const parent = path.dirname(folder);
  return (mode & bit) !== 0 && (parent === folder || canEnter(user, parent));
}

/** Puts a small file in place whole or not at all, also across a power cut. */
export function writeWhole(file: string, text: string, mode: number): void {
  const draft = `${file}.draft`;
  writeFileSync(draft, text, { mode, flush: true });
  chmodSync(draft, mode);
  renameSync(draft, file);
  flushFolder(path.dirname(file));
}

/** Makes renames and new names in a folder survive a power cut. */
export function flushFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
