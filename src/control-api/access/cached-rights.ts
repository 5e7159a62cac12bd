import type { Binding } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RightsStore } from "../../ports/rights-store.ts";

/** Short enough that whoever is removed is out within 5 s, wherever it was done. */
const keptForMs = 2_000;
const keptAtMost = 10_000;

interface Kept {
  readonly askedAtMs: number;
  readonly bindings: Promise<readonly Binding[]>;
}

/** What people may do, asked once in two seconds per person however many requests they make. */
export class CachedRights implements RightsStore {
  readonly #rights: RightsStore;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners: (() => void)[] = [];

  constructor(rights: RightsStore, clock: Clock) {
    this.#rights = rights;
    this.#clock = clock;
  }

  bindingsOfPerson(personId: string): Promise<readonly Binding[]> {
    const askedAtMs = this.#clock.monotonicMs();
    const known = this.#kept.get(personId);
    if (known !== undefined && askedAtMs - known.askedAtMs < keptForMs) return known.bindings;
    // Counted from before the question is sent: what is answered is at least that new.
    const bindings = this.#rights.bindingsOfPerson(personId);
    if (this.#kept.size >= keptAtMost) this.#kept.clear();
    this.#kept.set(personId, { askedAtMs, bindings });
    bindings.catch(() => this.#kept.delete(personId));
    return bindings;
  }

  /** What was changed through this process is in force at once. */
  forget(personId?: string): void {
    if (personId === undefined) this.#kept.clear();
    else this.#kept.delete(personId);
    for (const listener of this.#listeners) listener();
  }

  /** For whoever keeps what was made of the answers. */
  whenForgotten(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
