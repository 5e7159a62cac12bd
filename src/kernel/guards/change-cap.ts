import type { ChangeAction } from "../../ports/records.ts";
import { type Guard, keysOf, verdict } from "../facts.ts";

/** What adds comes before what takes away; within one action by key, so that the same plan is cut the same way. */
const ORDER: Readonly<Record<ChangeAction, number>> = {
  adopt: 0,
  forget: 1,
  create: 2,
  update: 3,
  takeover: 4,
  replace: 5,
  delete: 6,
};

/** At most N changes per cycle; the rest converge in later cycles. */
export const changeCapGuard: Guard = (changes, facts) => {
  const cap = facts.policy.limits.changesPerCycle;
  const ordered = [...changes].sort(
    (left, right) => ORDER[left.action] - ORDER[right.action] || (left.key < right.key ? -1 : 1),
  );
  if (ordered.length <= cap) return { pass: ordered };
  const later = ordered.slice(cap);
  const said = verdict(
    "change-cap",
    "trim",
    `${ordered.length} changes, ${cap} per cycle: ${later.length} follow in later cycles`,
    { numbers: { asked: ordered.length, allowed: cap }, keys: keysOf(later) },
  );
  return { pass: ordered.slice(0, cap), verdicts: [said], later };
};
