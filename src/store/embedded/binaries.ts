import { lstatSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { thrownMessage } from "../../kernel/errors.ts";
import { copyBinaries } from "./binary-copy.ts";
import type { BinaryPackage } from "./binary-package.ts";
import { EmbeddedServerError, errnoOf, USE_EXTERNAL_SERVER } from "./errors.ts";
import { runProgram } from "./run-program.ts";
import type { RunUser } from "./run-user.ts";

/** PostgreSQL programs that the run user can execute, with every shared library in reach. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly majorVersion: number;
}

/**
 * An ordinary user runs the programs where npm put them, when that works. Root always runs a copy, because the run
 * user may be unable to enter the clone, and so does anybody whose install left out the links between the libraries.
 */
export async function prepareBinaries(source: BinaryPackage, user: RunUser): Promise<Binaries> {
  const refusals: string[] = [];
  const places = user.switchTo === undefined && hasAllLinks(source) ? [{ folder: source.native, copy: false }] : [];
  for (const { folder, copy } of [...places, ...cacheFolders(source).map((at) => ({ folder: at, copy: true }))]) {
    try {
      if (copy) copyBinaries(source, folder);
      return await probe(folder, user);
    } catch (thrown) {
      if (errnoOf(thrown) === "EPERM" && user.switchTo !== undefined) throw cannotSwitchUser(user, thrown);
      refusals.push(`${folder}: ${thrownMessage(thrown)}`);
    }
  }
  throw new EmbeddedServerError(
    "BINARIES_UNUSABLE",
    `The PostgreSQL programs of ${source.name} ${source.version} do not run on this machine (${refusals.join("; ")}). ` +
      "They need glibc on Linux and a folder that allows execution: free some space, reinstall with `npm ci`, " +
      `${USE_EXTERNAL_SERVER}.`,
  );
}

/** Where copies may live, best first. The folder names the version, so that an upgrade never mixes two of them. */
function cacheFolders(source: BinaryPackage): readonly string[] {
  const folder = `${path.basename(source.name)}-${source.version}`;
  const uid = process.geteuid?.() ?? 0;
  const roots = uid === 0 ? ["/var/lib/setpoint/postgres"] : [path.join(userCacheFolder(), "setpoint", "postgres")];
  return [...roots, path.join(os.tmpdir(), `setpoint-postgres-${uid}`)].map((root) => path.join(root, folder));
}

function userCacheFolder(): string {
  const named = process.env["XDG_CACHE_HOME"];
  if (named !== undefined && path.isAbsolute(named)) return named;
  return path.join(os.homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}

function hasAllLinks({ native, links }: BinaryPackage): boolean {
  return links.every(({ link }) => lstatSync(path.join(native, link), { throwIfNoEntry: false }) !== undefined);
}

/** Running the program as the run user proves at once that it is reachable, executable, complete and of this machine. */
async function probe(folder: string, user: RunUser): Promise<Binaries> {
  const postgres = path.join(folder, "bin", "postgres");
  const { output } = await runProgram(postgres, ["--version"], user);
  const version = /\(PostgreSQL\) (\d+)/.exec(output);
  if (version === null) throw new Error(output.trim() || "it does not say its version");
  return { postgres, initdb: path.join(folder, "bin", "initdb"), majorVersion: Number(version[1]) };
}

function cannotSwitchUser({ uid }: RunUser, cause: unknown): EmbeddedServerError {
  return new EmbeddedServerError(
    "RUN_USER_UNAVAILABLE",
    `PostgreSQL does not run as root, and this root may not switch to user ${uid} (${thrownMessage(cause)}). Start Setpoint ` +
      `as an ordinary user, give it the right to change users (CAP_SETUID, CAP_SETGID), ${USE_EXTERNAL_SERVER}.`,
    { cause },
  );
}
