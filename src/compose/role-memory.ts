import { totalmem } from "node:os";

/**
 * How a role's process uses memory. Nearly everything that it makes lives for one look or one request. Left to itself, V8 lets a
 * heap of 70 MB grow to four times that before it tidies up, and the allocator keeps a pool for every thread of the
 * process: a scheduler with a million subjects then took 567 MB instead of 375 MB.
 */
export interface ProcessMemory {
  /** For node, before the name of the program. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Ten times what a million subjects need. The smaller the most that a heap may have, the sooner V8 tidies it up: above 2,048 MB when it
 * is four times as large as after the last time, at 2,000 MB when it has doubled, here when it has grown by six tenths.
 */
const HEAP_MB = 1_000;
/** What is made between two sweeps of the young. A burst of 800 looks (28 MB) fits in, so that little of it is taken for old. */
const YOUNG_MB = 32;

export function roleMemory(totalBytes: number = totalmem()): ProcessMemory {
  const heapMb = Math.min(HEAP_MB, Math.floor(totalBytes / 4 / 1_048_576));
  return {
    // What survives of the young is little, and helpers that wait for each other on a small machine cost more than they do: a
    // third of what an idle scheduler took.
    flags: [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${YOUNG_MB}`, "--no-parallel-scavenge"],
    environment: { MALLOC_ARENA_MAX: "2" },
  };
}
