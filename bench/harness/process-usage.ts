import { readdirSync, readFileSync } from "node:fs";

/** Linux reports process times in hundredths of a second to user space on every architecture. */
const TICKS_PER_SECOND = 100;

export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  /** User and system time, with that of children that have ended and were waited for. */
  readonly ticks: number;
}

/** Reads one line of /proc/PID/stat. The program's name is in parentheses and may hold spaces and parentheses itself. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  const stat = {
    pid: Number(text.slice(0, text.indexOf(" "))),
    parentPid: at(1),
    ticks: at(11) + at(12) + at(13) + at(14),
  };
  if (!Object.values(stat).every(Number.isInteger)) throw new Error(`Not a line of /proc/PID/stat: ${text.trim()}`);
  return stat;
}

/** The process and everything below it. */
export function treeOf(root: number, processes: readonly ProcessStat[]): readonly ProcessStat[] {
  const children = Map.groupBy(processes, (process) => process.parentPid);
  const found = processes.filter((process) => process.pid === root);
  for (let index = 0; index < found.length; index++)
    found.push(...(children.get((found[index] as ProcessStat).pid) ?? []));
  return found;
}

/**
 * CPU seconds of these processes and all below them, so far. A child that ends between two readings is not lost: its
 * time moves to the parent that waited for it.
 */
export function cpuSeconds(roots: readonly number[]): number {
  const processes = readProcesses();
  const tree = new Map<number, ProcessStat>();
  for (const root of roots) for (const process of treeOf(root, processes)) tree.set(process.pid, process);
  let ticks = 0;
  for (const process of tree.values()) ticks += process.ticks;
  return ticks / TICKS_PER_SECOND;
}

/** Resident memory of one process, in MB of 2^20 bytes, from the line VmRSS of /proc/PID/status. */
export function residentMb(pid: number): number {
  return statusField(pid, "VmRSS") / 1024;
}

/** The most it ever was. */
export function peakResidentMb(pid: number): number {
  return statusField(pid, "VmHWM") / 1024;
}

function statusField(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (found === null) throw new Error(`/proc/${pid}/status has no ${name}; the process has ended`);
  return Number(found[1]);
}

function readProcesses(): readonly ProcessStat[] {
  const processes: ProcessStat[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      processes.push(parseStat(readFileSync(`/proc/${name}/stat`, "utf8")));
    } catch (thrown) {
      // It ended between the listing and the read.
      if ((thrown as NodeJS.ErrnoException).code !== "ENOENT" && (thrown as NodeJS.ErrnoException).code !== "ESRCH")
        throw thrown;
    }
  }
  return processes;
}
