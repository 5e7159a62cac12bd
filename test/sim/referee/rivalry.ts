import type { OutcomeRecord } from "../../../src/ports/engine-store.ts";
import type { Ledger } from "./ledger.ts";
import { Violation } from "./witness.ts";

/** A write that succeeded and was undone this often is a fight, and is not made once more. */
const roundsMax = 3;

interface Fight {
  readonly key: string;
  readonly wanted: string;
  rounds: number;
}

/** Counts how often a field was written that somebody changes back at once, every time. */
export class Rivalry {
  readonly #ledger: Ledger;
  readonly #rounds = new Map<number, Map<string, Fight>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Somebody said "try again", or the memory of it is lost. */
  forget(subjectId?: number): void {
    if (subjectId === undefined) this.#rounds.clear();
    else this.#rounds.delete(subjectId);
  }

  /** What was declared has changed: where another value is wanted by now, it is another fight. */
  declared(): void {
    for (const [subjectId, fights] of this.#rounds) {
      const wanted = this.#ledger.wanted.current(subjectId);
      for (const [name, fight] of fights) {
        const stands = wanted?.known === false || wanted?.kept.has(fight.key) === true;
        if (!stands && wanted?.items.get(fight.key)?.content.value !== fight.wanted) fights.delete(name);
      }
    }
  }

  recorded({ outcomes, subject }: OutcomeRecord): void {
    const rivals = this.#ledger.outside.connections.get(subject.accountId ?? "")?.own.rivals;
    if (rivals === undefined || rivals.size === 0) return;
    for (const { changeId, result } of outcomes) {
      const record = this.#ledger.state.tables.changes.get(changeId)?.record;
      const rival = rivals.get(record?.externalId ?? "");
      if (record?.action !== "update" || rival === undefined || result !== "done") continue;
      for (const { field, wanted, seen } of record.differences) {
        if (seen === rival.value)
          this.#count(
            subject.id,
            record.key,
            `${field} since ${rival.sinceMs}`,
            typeof wanted === "string" ? wanted : "",
          );
      }
    }
  }

  #count(subjectId: number, key: string, field: string, wanted: string): void {
    const fights = this.#rounds.get(subjectId) ?? new Map<string, Fight>();
    this.#rounds.set(subjectId, fights);
    const known = fights.get(`${key} ${field}`);
    const fight = known?.wanted === wanted ? known : { key, wanted, rounds: 0 };
    fights.set(`${key} ${field}`, fight);
    fight.rounds += 1;
    if (fight.rounds > roundsMax) {
      throw new Violation(
        "fights",
        `subject ${subjectId} writes ${wanted} to ${key} ${field}, time number ${fight.rounds}`,
      );
    }
  }
}
