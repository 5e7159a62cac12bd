import type { OutcomeRecord } from "../../../src/ports/engine-store.ts";
import type { Ledger } from "./ledger.ts";
import { Violation } from "./witness.ts";

/** A write that succeeded and was undone this often is a fight, and is not made once more. */
const roundsMax = 3;

/** Counts how often a field was written that somebody changes back at once, every time. */
export class Rivalry {
  readonly #ledger: Ledger;
  readonly #rounds = new Map<number, Map<string, number>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Somebody said "try again", or the memory of it is lost. */
  forget(subjectId?: number): void {
    if (subjectId === undefined) this.#rounds.clear();
    else this.#rounds.delete(subjectId);
  }

  recorded({ outcomes, subject }: OutcomeRecord): void {
    const rivals = this.#ledger.outside.connections.get(subject.accountId ?? "")?.own.rivals;
    if (rivals === undefined || rivals.size === 0) return;
    for (const { changeId, result } of outcomes) {
      const record = this.#ledger.state.tables.changes.get(changeId)?.record;
      const rival = rivals.get(record?.externalId ?? "");
      if (record?.action !== "update" || rival === undefined || result !== "done") continue;
      for (const { field, wanted, seen } of record.differences) {
        if (seen === rival.value) this.#count(subject.id, `${record.key} ${field} ${String(wanted)} ${rival.sinceMs}`);
      }
    }
  }

  #count(subjectId: number, fight: string): void {
    const rounds = this.#rounds.get(subjectId) ?? new Map<string, number>();
    this.#rounds.set(subjectId, rounds);
    const round = (rounds.get(fight) ?? 0) + 1;
    rounds.set(fight, round);
    if (round > roundsMax)
      throw new Violation("fights", `subject ${subjectId} writes ${fight} for time number ${round}`);
  }
}
