import { createHash } from "node:crypto";
import { chmodSync, lstatSync, rmdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { EmbeddedServerError } from "./errors.ts";
import { makeFolder } from "./folders.ts";
import { giveTo, type RunUser } from "./run-user.ts";

/** A socket's path must fit into `sockaddr_un`: 107 bytes on Linux, 103 on macOS. */
const LONGEST_SOCKET_PATH_BYTES = 103;

function socketFileOf(directory: string, port: number): string {
  return path.join(directory, `.s.PGSQL.${port}`);
}

/**
 * Makes the folder of the socket: inside the data directory, or, where that path is too long, a folder with a short
 * name in the temporary directory, which only the run user can enter. The name depends on the data directory alone,
 * so that a later start finds the locks of an earlier one.
 */
export function prepareSocketDirectory(dataDirectory: string, port: number, user: RunUser): string {
  const short = `setpoint-${createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16)}`;
  const folder = [path.join(dataDirectory, "socket"), path.join(os.tmpdir(), short), path.join("/tmp", short)].find(
    (candidate) => Buffer.byteLength(socketFileOf(candidate, port)) <= LONGEST_SOCKET_PATH_BYTES,
  );
  if (folder === undefined) throw new TypeError("a folder of /tmp is always short enough");

  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    makeFolder(folder, 0o700);
    giveTo(folder, user);
  }
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== user.uid >>> 0) {
    throw new EmbeddedServerError(
      "DATA_DIRECTORY_UNUSABLE",
      `${folder} should hold the database's socket and belongs to user ${found.uid} instead of ${user.uid}. Remove it, ` +
        "or choose a data directory with a shorter path.",
    );
  }
  chmodSync(folder, 0o700);
  return folder;
}

/** A folder outside the data directory goes with the server; the next start makes it again under the same name. */
export function removeSpareSocketDirectory(dataDirectory: string, folder: string): void {
  if (folder === path.join(dataDirectory, "socket")) return;
  try {
    rmdirSync(folder);
  } catch {
    // Not empty: a killed server's socket is still in it, and the next start deals with that.
  }
}
