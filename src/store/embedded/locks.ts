import { readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EmbeddedServerError, errnoOf } from "./errors.ts";
import { makeFolder } from "./folders.ts";
import { identityOfThisProcess, isStillRunning, type ProcessIdentity } from "./process-table.ts";

const ATTEMPTS = 5;

/**
 * Who uses the data directory. Every process puts down a claim of its own, named after itself, and then looks for
 * others: of two that start at once, the later one always sees the earlier one. A single shared lock file would have
 * to be taken away from a dead holder, and two processes doing that at once can take it from each other; a claim that
 * names a dead process can be removed by anybody at any time, because that process never comes back.
 *
 * `answers` says whether a server answers on the directory's socket. It decides about claims from before a reboot or
 * from another container, where process ids mean something else. The claim is released by disposing of it.
 */
export async function claimDirectory(folder: string, answers: () => Promise<boolean>): Promise<Disposable> {
  const claims = path.join(folder, "claims");
  makeFolder(claims, 0o700);
  const me = identityOfThisProcess();
  const mine = path.join(claims, nameOf(me));

  for (let attempt = 1; ; attempt++) {
    putDown(mine, folder);
    const other = await findLivingClaim(claims, me, answers);
    if (other === undefined) return { [Symbol.dispose]: () => rmSync(mine, { force: true }) };
    rmSync(mine, { force: true });
    if (attempt === ATTEMPTS) throw inUse(folder, other.pid);
    // Two that start together both step back; a random pause lets one of them be first.
    await wait(20 + Math.random() * 120);
  }
}

/** The name says everything, so that a claim is never half written. */
function nameOf({ pid, startTicks, place }: ProcessIdentity): string {
  return `${pid}.${startTicks}.${place}`;
}

function putDown(claim: string, folder: string): void {
  try {
    writeFileSync(claim, "", { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    if (errnoOf(thrown) === "EEXIST") throw inUse(folder, process.pid);
    throw thrown;
  }
}

async function findLivingClaim(
  claims: string,
  me: ProcessIdentity,
  answers: () => Promise<boolean>,
): Promise<ProcessIdentity | undefined> {
  for (const name of readdirSync(claims)) {
    const [, pid, startTicks, place] = /^(\d+)\.(\d+)\.(\w+)$/.exec(name) ?? [];
    if (place === undefined || name === nameOf(me)) continue;
    const other = { pid: Number(pid), startTicks: Number(startTicks), place };
    const lives = place === me.place ? isStillRunning(other) : await answers();
    if (lives) return other;
    rmSync(path.join(claims, name), { force: true });
  }
  return undefined;
}

function inUse(folder: string, pid: number): EmbeddedServerError {
  const who = pid === process.pid ? `this process (${pid}) already` : `another Setpoint, process ${pid}`;
  return new EmbeddedServerError(
    "DATA_DIRECTORY_IN_USE",
    `The data directory ${folder} is in use by ${who}. Stop that one first (\`kill ${pid}\`), or choose another data ` +
      "directory.",
  );
}
