import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { EmbeddedServerError, toDirectoryError, USE_EXTERNAL_SERVER } from "./errors.ts";
import { canEnter, makeFolder, writeWhole } from "./folders.ts";
import { currentUser, isRoot, nobody, type RunUser, switchedUser } from "./run-user.ts";
import type { WriteLog } from "./write-log.ts";

/**
 * The folder Setpoint owns, and what lives where in it:
 *
 *     setpoint-data.json      says that the folder is ours
 *     setpoint-data-location  only when the data had to live elsewhere: the one line names that folder
 *     postgres/               PostgreSQL's own data directory, of the run user
 *     password                of the superuser, readable by the run user and root only
 *     claims/                 one file per Setpoint process that uses the folder
 *     log/postgres.log        what the server says, bounded
 *     socket/                 of the run user; elsewhere when the path would be too long for a socket
 */
export interface DataDirectory {
  readonly path: string;
  readonly pgData: string;
  readonly user: RunUser;
  /** Nothing has been stored yet: PostgreSQL's own directory is still to be made. */
  readonly empty: boolean;
}

/** Machine-wide data of root belongs here. A temporary folder would be swept by age, which is how databases get lost. */
const MACHINE_DATA_ROOT = "/var/lib/setpoint/data";
const MARKER = "setpoint-data.json";
const LOCATION = "setpoint-data-location";
/** What may lie in an empty folder: a file system's own, and our drafts when we were killed before renaming them. */
const NOTHING: ReadonlySet<string> = new Set(["lost+found", `${MARKER}.draft`, `${LOCATION}.draft`]);

/** Finds or makes the folder of the data. Refuses whatever is not ours; deletes nothing, ever. */
export function openDataDirectory(
  requested: string,
  log: WriteLog,
  machineDataRoot = MACHINE_DATA_ROOT,
): DataDirectory {
  const asked = path.resolve(requested);
  try {
    makeFolder(path.dirname(asked), 0o755);
    makeFolder(asked, isRoot() ? 0o711 : 0o700);
    const here = realpathSync(asked);
    const location = path.join(here, LOCATION);
    if (existsSync(location)) return describe(followLocation(here, readFileSync(location, "utf8").trim()));

    requireOurs(here);
    if (!isRoot() || existsSync(pgDataOf(here)) || canEnter(nobody(), here)) {
      mark(here, here);
      return describe(here);
    }
    const elsewhere = chooseElsewhere(here, machineDataRoot, log);
    writeWhole(location, `${elsewhere}\n`, 0o644);
    log("embedded-postgres.data-redirected", {
      requested: here,
      dataDirectory: elsewhere,
      reason: "PostgreSQL runs as `nobody`, who cannot enter the requested directory",
    });
    return describe(elsewhere);
  } catch (thrown) {
    throw toDirectoryError(asked, thrown);
  }
}

/** Refuses data of another major version, or of a user we cannot run as. */
export function requireReadable({ path: folder, pgData, user }: DataDirectory, majorVersion: number): void {
  const stored = readFileSync(path.join(pgData, "PG_VERSION"), "utf8").trim();
  if (stored !== String(majorVersion)) {
    throw new EmbeddedServerError(
      "DATA_VERSION_MISMATCH",
      `The data in ${folder} was written by PostgreSQL ${stored}, and this Setpoint brings PostgreSQL ${majorVersion}. ` +
        "Nothing was changed. Start it with the Setpoint release that wrote it, or choose another data directory.",
    );
  }
  // Only for a switched user, who has no groups but one; we ourselves may enter by any of ours.
  if (user.switchTo !== undefined && !canEnter(user, pgData)) {
    throw new EmbeddedServerError(
      "DATA_DIRECTORY_UNUSABLE",
      `The data in ${folder} belongs to user ${user.uid}, who can no longer enter it. Give the folders above it ` +
        "execute permission again (`chmod o+x`), or move the directory to where that user can reach it.",
    );
  }
}

function describe(folder: string): DataDirectory {
  const pgData = pgDataOf(folder);
  const stored = statSync(pgData, { throwIfNoEntry: false });
  if (stored === undefined) {
    return { path: folder, pgData, user: isRoot() ? nobody() : currentUser(), empty: true };
  }
  if (isRoot() && stored.uid !== 0) {
    return { path: folder, pgData, user: switchedUser(stored.uid, stored.gid), empty: false };
  }
  if (!isRoot() && stored.uid === currentUser().uid) return { path: folder, pgData, user: currentUser(), empty: false };
  throw new EmbeddedServerError(
    "DATA_DIRECTORY_UNUSABLE",
    stored.uid === 0
      ? `${pgData} belongs to root, and PostgreSQL does not run as root. Give it to \`nobody\` (\`chown -R nobody ${pgData}\`).`
      : `The data in ${folder} belongs to user ${stored.uid}, and you are user ${currentUser().uid}. Start Setpoint as ` +
          `that user or as root, choose another data directory, ${USE_EXTERNAL_SERVER}.`,
  );
}

function pgDataOf(folder: string): string {
  return path.join(folder, "postgres");
}

/** A folder is ours when it says so. An empty one may become ours. */
function requireOurs(folder: string): void {
  const entries = readdirSync(folder).filter((name) => !NOTHING.has(name));
  if (entries.length === 0 || entries.includes(MARKER)) return;
  throw new EmbeddedServerError(
    "DATA_DIRECTORY_FOREIGN",
    `${folder} is not empty and was not made by Setpoint (it holds ${entries.slice(0, 3).join(", ")}` +
      `${entries.length > 3 ? ", …" : ""}). Nothing was changed. Choose an empty or a new directory for the data.`,
  );
}

function mark(folder: string, requested: string): void {
  const file = path.join(folder, MARKER);
  if (existsSync(file)) return;
  writeWhole(file, `${JSON.stringify({ product: "setpoint", format: 1, requested })}\n`, 0o644);
}

function followLocation(requested: string, target: string): string {
  if (path.isAbsolute(target) && existsSync(path.join(target, MARKER))) return target;
  throw new EmbeddedServerError(
    "DATA_DIRECTORY_MOVED",
    `${path.join(requested, LOCATION)} says that the data lives in "${target}", and no Setpoint data is there. Put it ` +
      "back (or write its new place into that file), or remove the file to start with an empty database.",
  );
}

/**
 * A place derived from the requested path, so that it can be found again by eye. When that place already holds data,
 * the requested directory was emptied since, which means a fresh start was wanted: the old data stays untouched and
 * the next free name is taken.
 */
function chooseElsewhere(requested: string, root: string, log: WriteLog): string {
  const base = path.join(root, createHash("sha256").update(requested).digest("hex").slice(0, 16));
  for (let turn = 1; ; turn++) {
    const folder = turn === 1 ? base : `${base}-${turn}`;
    makeFolder(root, 0o755);
    makeFolder(folder, 0o711);
    requireOurs(folder);
    if (!existsSync(pgDataOf(folder))) {
      mark(folder, requested);
      return folder;
    }
    log("embedded-postgres.earlier-data-kept", {
      requested,
      earlierData: folder,
      hint: `to use it again, write that path into ${path.join(requested, LOCATION)}`,
    });
  }
}
