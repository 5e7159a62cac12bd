import { type Guard, keysOf, removes, takeOut, verdict } from "../facts.ts";
import { pausedWords } from "../scope-words.ts";

/** Pauses are graded: deletes, writes, all. The permit checks them again in the same statement as the fence. */
export const pauseGuard: Guard = (changes, facts) => {
  const covering = facts.pauses.filter((pause) => pause.expiresAtMs > facts.nowMs);
  if (covering.length === 0) return { pass: changes };
  const whole = covering.find((pause) => pause.level !== "deletes");
  const pause = whole ?? covering[0];
  if (pause === undefined) return { pass: changes };
  return takeOut(
    changes,
    (change) => whole !== undefined || removes(change),
    (taken) =>
      verdict("pause", "wait", pausedWords(pause), {
        numbers: { expiresAtMs: pause.expiresAtMs, changes: taken.length },
        keys: keysOf(taken),
      }),
  );
};
