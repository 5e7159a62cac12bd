import type { HistoryDocument } from "../../../api/types.ts";

interface Size {
  readonly atMs: number;
  readonly size: number;
}

/** Backwards from what it is now: each member that was made or taken away was one step. */
export function sizesBefore(history: readonly HistoryDocument[], size: number): readonly Size[] {
  let now = size;
  const steps: Size[] = [];
  for (const { type, action, result, at } of history) {
    if (type !== "change" || result !== "done" || (action !== "create" && action !== "delete")) continue;
    steps.push({ atMs: Date.parse(at), size: now });
    now += action === "create" ? -1 : 1;
  }
  return [...steps, { atMs: (steps.at(-1)?.atMs ?? 0) - 1, size: Math.max(0, now) }].toReversed();
}
