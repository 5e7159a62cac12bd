import { type Guard, keysOf, refuseAll, verdict } from "../facts.ts";

/** An operation's hold stands until it ends: a loop never "heals" a half-made thing. */
export const holdGuard: Guard = (changes, facts) => {
  if (facts.hold === undefined) return { pass: changes };
  const reason = `operation ${facts.hold.operationId} holds this subject: ${facts.hold.reason}`;
  return refuseAll(
    changes,
    verdict("hold", "wait", reason, { numbers: { sinceMs: facts.hold.sinceMs }, keys: keysOf(changes) }),
  );
};
