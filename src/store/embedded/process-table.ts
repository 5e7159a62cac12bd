import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/**
 * What the operating system says about processes. A process id alone proves nothing: ids are used again, and a dead
 * process whose parent does not reap it (a zombie) still answers to `kill -0`.
 */
export type ProcessState = "running" | "zombie" | "gone";

/** A process that cannot be mistaken for a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot at which it started; 0 where there is no `/proc`, which leaves the id alone to go by. */
  readonly startTicks: number;
  /** Changes with every boot and with every container: ids of one place mean nothing in another. */
  readonly place: string;
}

export function identityOfThisProcess(): ProcessIdentity {
  return { pid: process.pid, startTicks: statOf(process.pid)?.startTicks ?? 0, place: placeOfThisProcess() };
}

export function stateOf(pid: number): ProcessState {
  const stat = statOf(pid);
  if (stat !== undefined) return stat.dead ? "zombie" : "running";
  try {
    process.kill(pid, 0);
    return "running";
  } catch (thrown) {
    // EPERM: it lives and belongs to somebody else (and `/proc` is mounted so that we cannot see it).
    return (thrown as NodeJS.ErrnoException).code === "EPERM" ? "running" : "gone";
  }
}

/** True while this very process lives. The caller has checked that `place` is ours. */
export function isStillRunning(identity: ProcessIdentity): boolean {
  if (stateOf(identity.pid) !== "running") return false;
  const startTicks = statOf(identity.pid)?.startTicks;
  return startTicks === undefined || identity.startTicks === 0 || startTicks === identity.startTicks;
}

/** True when the process is the postmaster of that data directory, run by the directory's owner. */
export function isPostmasterOf(pid: number, pgData: string): boolean {
  // The arguments are the ones `startPostmaster` gives: `postgres -D <directory> -c …`.
  if (commandOf(pid)?.includes(`/postgres -D ${pgData} -c `) !== true) return false;
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
  return owner === undefined || owner === statSync(pgData).uid;
}

/** Server processes still at work in a data directory: children outlive a killed postmaster by moments or minutes. */
export function serverProcessesIn(pgData: string): readonly number[] {
  let entries: string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return [];
  }
  return entries
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandOf(pid)?.startsWith("postgres: ") === true && workingDirectoryOf(pid) === pgData)
    .filter((pid) => stateOf(pid) === "running");
}

interface ProcessStat {
  readonly dead: boolean;
  readonly startTicks: number;
}

function statOf(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets and may itself hold brackets and blanks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { dead: fields[0] === "Z" || fields[0] === "X", startTicks: Number(fields[19]) };
}

function commandOf(pid: number): string | undefined {
  if (process.platform === "linux") return readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ");
  try {
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8", stdio: "pipe" });
  } catch {
    return undefined;
  }
}

function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function placeOfThisProcess(): string {
  const boot = readText("/proc/sys/kernel/random/boot_id") ?? "";
  let namespace = "";
  try {
    namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // No `/proc`: the place is the machine, whatever its boot.
  }
  return createHash("sha256").update(`${boot}\n${namespace}`).digest("hex").slice(0, 12);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
