import { setTimeout as wait } from "node:timers/promises";

/**
 * Starts one piece of work after the other at a fixed rate, whatever the earlier ones do, and waits for all of them.
 * Open loop: a slow answer does not slow the asking down, or the worst moments would be the least measured.
 */
export async function atRate(
  options: { readonly perSecond: number; readonly count: number },
  work: (index: number) => Promise<void>,
): Promise<void> {
  const startedMs = performance.now();
  const running: Promise<void>[] = [];
  let started = 0;
  while (started < options.count) {
    const due = Math.min(options.count, Math.floor(((performance.now() - startedMs) * options.perSecond) / 1_000) + 1);
    while (started < due) running.push(work(started++));
    if (started < options.count) await wait(1);
  }
  await Promise.all(running);
}

/** Milliseconds of a clock that all processes of the machine share and that never jumps. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
