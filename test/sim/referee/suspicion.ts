import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import type { Ledger } from "./ledger.ts";
import { isRemoval } from "./permit-rules.ts";
import type { WatchedCycle } from "./snapshot-rules.ts";
import { Violation } from "./witness.ts";

/** Subjects that went bad within this time count as going bad together. */
const windowMs = 10 * 60_000;

/** Since when so many subjects of an account are bad together that the observer is the suspect. */
export class Suspicion {
  readonly #ledger: Ledger;
  readonly #sinceMs = new Map<string, number>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Called after every commit that may change how many subjects there are, or how many of them are bad. */
  update(): void {
    const { nowMs, state } = this.#ledger;
    const counts = new Map<string, { subjects: number; bad: number }>();
    for (const { accountId, status } of state.tables.subjects.values()) {
      if (accountId === undefined) continue;
      const count = counts.get(accountId) ?? { subjects: 0, bad: 0 };
      count.subjects += 1;
      if (status?.badSinceMs !== undefined && status.badSinceMs > nowMs - windowMs) count.bad += 1;
      counts.set(accountId, count);
    }
    const { suspectAtLeast, suspectPercent } = this.#ledger.limits;
    for (const [accountId, { subjects, bad }] of counts) {
      const suspect = bad >= suspectAtLeast && bad * 100 >= suspectPercent * subjects;
      if (!suspect) this.#sinceMs.delete(accountId);
      else if (!this.#sinceMs.has(accountId)) this.#sinceMs.set(accountId, nowMs);
    }
  }

  /** What has been suspect since before the cycle began lets nothing be removed, made again or given up. */
  judge(cycle: WatchedCycle, request: PermitRequest): void {
    this.update();
    const { memory, subject } = cycle.input;
    const sinceMs = this.#sinceMs.get(subject.accountId ?? "");
    if (sinceMs === undefined || sinceMs >= cycle.loadedAtMs) return;
    const owned = new Set(memory.owned.filter((item) => item.state === "owned").map((item) => item.key));
    const remediation = request.changes.find(
      (change) => isRemoval(change) || (change.action === "create" && owned.has(change.key)),
    );
    if (remediation !== undefined) {
      throw new Violation(
        "too many at once",
        `${subject.kind}/${subject.name}: ${remediation.action} of ${remediation.key} although the observer is suspect for ${this.#ledger.nowMs - sinceMs} ms`,
      );
    }
  }
}
