import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import type { BinaryPackage } from "./binary-package.ts";
import { errnoOf } from "./errors.ts";
import { makeFolder } from "./folders.ts";
import { identityOfThisProcess, isStillRunning } from "./process-table.ts";

const ABANDONED_AFTER_MS = 60 * 60_000;

/**
 * Copies the programs to `folder`, once. The copy is made beside it, written through to the disk and renamed, so that
 * a folder with that name is always whole: neither a kill nor a power cut leaves half a server behind.
 */
export function copyBinaries(source: BinaryPackage, folder: string): void {
  const parent = path.dirname(folder);
  makeFolder(parent, 0o755);
  requireTrusted(parent);
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return requireTrusted(folder);

  sweepAbandonedCopies(parent);
  const { pid, startTicks, place } = identityOfThisProcess();
  const draft = path.join(parent, `copying.${pid}.${startTicks}.${place}`);
  try {
    copyTree(source.native, draft);
    for (const { link, target } of source.links) linkWhenMissing(draft, link, target);
    renameSync(draft, folder);
  } catch (thrown) {
    rmSync(draft, { recursive: true, force: true });
    // Another process finished the same copy first. Its folder is as good as ours.
    if (errnoOf(thrown) === "ENOTEMPTY" || errnoOf(thrown) === "EEXIST") return requireTrusted(folder);
    if (errnoOf(thrown) === "ENOSPC") throw new Error("no space is left for a copy of 60 MB", { cause: thrown });
    throw thrown;
  }
}

/** Programs are run from here, so nobody but us (or root) may have been able to put them here. */
function requireTrusted(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  const isDirectory = (mode & constants.S_IFMT) === constants.S_IFDIR;
  const ownedByUs = uid === 0 || uid === process.geteuid?.();
  if (!isDirectory || !ownedByUs || (mode & 0o022) !== 0) {
    throw new Error(`${folder} is not a folder that this user alone can write`);
  }
}

/** Modes are set and not inherited: a tight umask at install time must not lock the run user out of the copy. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    // Static libraries are for building extensions; nothing here loads them.
    else if (!entry.name.endsWith(".a")) copyThrough(source, target);
  }
  chmodSync(to, 0o755);
}

function copyThrough(source: string, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_EXCL);
  chmodSync(target, (lstatSync(source).mode & 0o100) === 0 ? 0o644 : 0o755);
  const file = openSync(target, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function linkWhenMissing(folder: string, link: string, target: string): void {
  const at = path.join(folder, link);
  if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return;
  symlinkSync(path.relative(path.dirname(link), target), at);
}

function sweepAbandonedCopies(parent: string): void {
  for (const name of readdirSync(parent)) {
    const draft = path.join(parent, name);
    const [, pid, startTicks, place] = /^copying\.(\d+)\.(\d+)\.(\w+)$/.exec(name) ?? [];
    if (place === undefined) continue;
    // A copy begun before a reboot or in another container cannot be judged by its process, so it is judged by its age.
    const abandoned =
      place === identityOfThisProcess().place
        ? !isStillRunning({ pid: Number(pid), startTicks: Number(startTicks), place })
        : Date.now() - lstatSync(draft).mtimeMs > ABANDONED_AFTER_MS;
    if (abandoned) rmSync(draft, { recursive: true, force: true });
  }
}
