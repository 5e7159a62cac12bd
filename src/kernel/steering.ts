import type { JournalEntry, OperationRecord, SteerAnswer, SteerCommand } from "../ports/operation-store.ts";

/** A hold that lasts longer than this is shown to people, with the operation that has it, and they are told of it. */
export const oldHoldMs = 15 * 60_000;

/** It has not ended: it does something, or waits. */
export function isLive({ state }: Pick<OperationRecord, "state">): boolean {
  return state === "running" || state === "held" || state === "attention";
}

/** Why a person's word does not fit how the operation stands; undefined when it does. */
export function steerRefusal(
  operation: Pick<OperationRecord, "state" | "direction" | "step">,
  command: SteerCommand,
): Exclude<SteerAnswer["result"], "done" | "not-found"> | undefined {
  if (!isLive(operation)) return "ended";
  const waits = operation.state === "attention";
  switch (command.verb) {
    case "cancel":
    case "release":
      return undefined;
    case "resume":
      return waits ? undefined : "not-waiting";
    case "retry":
      return waits && operation.direction === "forward" ? undefined : "not-waiting";
    case "skip":
      // A wait can be cut short while it lasts. Whoever is at the step meanwhile finds its journal longer, and records nothing.
      if (!waits && operation.state !== "running") return "not-waiting";
      return operation.step === command.step ? undefined : "moved";
  }
}

/**
 * A skip that is the last word in the journal already: said again it changes nothing. Written again it would send whoever goes on
 * from it back to where they began, and a person who keeps asking would keep the operation where it is.
 */
export function isSaidAlready(command: SteerCommand, last: Pick<JournalEntry, "step" | "result"> | undefined): boolean {
  return command.verb === "skip" && last?.result === "skipped" && last.step === command.step;
}
