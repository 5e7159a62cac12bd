import type { CycleResult } from "../kernel/claim.ts";

/**
 * What a result says about the age of a verdict. `looked`: it was confirmed just now. `failing`: the stored status says so itself and
 * its age counts from its own record, so the shard's sweep does not speak for it. `nothing`: it holds the sweep back.
 */
const LOOKS = {
  converged: "looked",
  changed: "looked",
  observing: "looked",
  held: "looked",
  refused: "looked",
  waiting: "looked",
  stalled: "looked",
  paused: "failing",
  failed: "failing",
  superseded: "nothing",
  gone: "nothing",
} as const satisfies Record<CycleResult, "looked" | "failing" | "nothing">;

export function lookOf(result: CycleResult): "looked" | "failing" | "nothing" {
  return LOOKS[result];
}
