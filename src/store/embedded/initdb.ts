import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync } from "node:fs";
import path from "node:path";
import { thrownMessage } from "../../kernel/errors.ts";
import type { Binaries } from "./binaries.ts";
import type { DataDirectory } from "./data-directory.ts";
import { diskFullError, EmbeddedServerError } from "./errors.ts";
import { flushFolder, writeWhole } from "./folders.ts";
import { runProgram } from "./run-program.ts";
import { giveTo, type RunUser } from "./run-user.ts";
import { complaintsIn } from "./server-log.ts";

export const SUPERUSER = "setpoint";

/**
 * Makes PostgreSQL's data directory beside its final place and renames it, so that a kill at any moment leaves either
 * nothing or all of it. The caller holds the claim on the directory.
 */
export async function initialise(
  { path: folder, pgData, user }: DataDirectory,
  binaries: Binaries,
  extraArguments: readonly string[] = [],
): Promise<void> {
  await removeDrafts(folder, user);
  const password = passwordFileOf(folder);
  if (!existsSync(password)) {
    writeWhole(password, `${randomBytes(24).toString("base64url")}\n`, 0o600);
    // Written by us in a folder of ours; the run user reads it once, here, and root always can.
    giveTo(password, user);
  }
  // The draft lies one level down, in a folder that the run user owns, because he may not write beside it.
  const draft = path.join(folder, `initdb.${process.pid}`);
  mkdirSync(draft, { mode: 0o700 });
  giveTo(draft, user);
  try {
    await runInitdb({ folder, target: path.join(draft, "postgres"), binaries, user, password, extraArguments });
    renameSync(path.join(draft, "postgres"), pgData);
    flushFolder(folder);
  } finally {
    await removeDrafts(folder, user);
  }
}

export function readPassword(folder: string): string {
  const file = passwordFileOf(folder);
  try {
    return readFileSync(file, "utf8").trim();
  } catch (thrown) {
    throw new EmbeddedServerError(
      "PASSWORD_LOST",
      `The password of the embedded database cannot be read (${thrownMessage(thrown)}). Put ${file} back from a backup; the ` +
        "data beside it is untouched.",
      { cause: thrown },
    );
  }
}

/** Password required on every way in. The file is ours and not in the run user's folder, who could change it there. */
export function writeAccessRules(folder: string): string {
  const file = path.join(folder, "pg_hba.conf");
  const rules = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n";
  // Written once: an ordinary start writes nothing that a full disk could refuse.
  if (!existsSync(file) || readFileSync(file, "utf8") !== rules) writeWhole(file, rules, 0o644);
  return file;
}

function passwordFileOf(folder: string): string {
  return path.join(folder, "password");
}

interface InitdbRun {
  readonly folder: string;
  readonly target: string;
  readonly binaries: Binaries;
  readonly user: RunUser;
  readonly password: string;
  readonly extraArguments: readonly string[];
}

async function runInitdb({ folder, target, binaries, user, password, extraArguments }: InitdbRun): Promise<void> {
  const words = ["-D", target, "-U", SUPERUSER, `--pwfile=${password}`, "--auth=scram-sha-256", "--no-instructions"];
  // Order by code point and Unicode's own upper and lower case: the same on every machine and after every upgrade of
  // its C library, which would otherwise silently damage indexes over text.
  words.push("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8");
  const { code, output } = await runProgram(binaries.initdb, [...words, ...extraArguments], user);
  if (code === 0) return;
  if (/No space left on device|Disk quota exceeded/.test(output)) throw diskFullError(folder);
  throw new EmbeddedServerError(
    "INITDB_FAILED",
    `PostgreSQL could not make its data directory in ${folder}: ${complaintsIn(output)} Nothing was left behind. Correct ` +
      "that, or choose another data directory, then start again.",
  );
}

/** Half-made directories of killed starts. They never held data: a finished one is renamed before it is used. */
async function removeDrafts(folder: string, user: RunUser): Promise<void> {
  for (const name of readdirSync(folder).filter((entry) => /^initdb\.\d+$/.test(entry))) {
    const draft = path.join(folder, name);
    // As the run user, so that a link planted there can lead to nothing that is not his. He may not remove the folder
    // itself, which is empty after that.
    await runProgram("rm", ["-rf", `${draft}/postgres`], user).catch(() => undefined);
    try {
      rmdirSync(draft);
    } catch {
      // A killed start's initdb may still be writing there; the next start removes it.
    }
  }
}
