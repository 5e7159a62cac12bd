import type { OutcomeRecord } from "../../../src/ports/engine-store.ts";
import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { Violation } from "./witness.ts";

interface OwnWrite {
  readonly atMs: number;
  recorded: boolean;
}

/**
 * What was written and recorded is not written again while nobody has changed it: whoever does so has decided on a look
 * from before it could be seen.
 */
export class OwnWrites {
  readonly #writes = new Map<string, OwnWrite>();

  updated(outside: OutsideAccount, thing: Thing, nowMs: number): void {
    const key = `${outside.fingerprint} ${thing.id}`;
    const before = outside.things.get(thing.id);
    const own = this.#writes.get(key);
    const nothing = before !== undefined && isSame(before, thing) && outside.changedAtMs(thing.id) === own?.atMs;
    if (nothing && own?.recorded) {
      throw new Violation("stale look", `${thing.id} is written again as it was written ${nowMs - own.atMs} ms before`);
    }
    this.#writes.set(key, { atMs: nowMs, recorded: false });
  }

  recorded({ outcomes }: OutcomeRecord, outside: OutsideAccount | undefined): void {
    for (const { externalId, result } of outcomes) {
      const own = this.#writes.get(`${outside?.fingerprint ?? ""} ${externalId ?? ""}`);
      if (own !== undefined && result === "done") own.recorded = true;
    }
  }
}

function isSame(left: Thing, right: Thing): boolean {
  return (
    left.value === right.value &&
    left.size === right.size &&
    JSON.stringify(left.marker) === JSON.stringify(right.marker)
  );
}
