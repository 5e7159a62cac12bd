import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import { specOf } from "../actors/cast.ts";
import { siteOf } from "../sim-kind.ts";
import type { SubjectRow } from "../store/rows.ts";
import type { Ledger } from "./ledger.ts";
import { isRemoval } from "./permit-rules.ts";
import type { WatchedCycle } from "./snapshot-rules.ts";
import { Violation } from "./witness.ts";

/** Subjects that went bad within this time of one another went bad together. */
const windowMs = 10 * 60_000;

interface Bad {
  /** Its account, and its site there. */
  readonly places: readonly string[];
  readonly badSinceMs: number;
  /** When it was written down: a cycle that began earlier could not know of it. */
  readonly notedAtMs: number;
}

/** Which subjects are bad since when, and how many an account has, and a site of it: so many together make the observer the suspect. */
export class Suspicion {
  readonly #ledger: Ledger;
  readonly #bad = new Map<number, Bad>();
  readonly #subjects = new Map<string, { subjects: number; sinceMs: number }>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Called after every commit that may change how many subjects there are, or how many of them are bad. */
  update(): void {
    const { nowMs, state } = this.#ledger;
    const counts = new Map<string, number>();
    for (const subject of state.tables.subjects.values()) {
      const { id, status } = subject;
      const places = this.#placesOf(subject);
      for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1);
      const badSinceMs = status?.badSinceMs;
      if (badSinceMs === undefined) this.#bad.delete(id);
      else if (this.#bad.get(id)?.badSinceMs !== badSinceMs)
        this.#bad.set(id, { places, badSinceMs, notedAtMs: nowMs });
    }
    for (const id of this.#bad.keys()) if (!state.tables.subjects.has(id)) this.#bad.delete(id);
    for (const [place, subjects] of counts) {
      if (this.#subjects.get(place)?.subjects !== subjects) this.#subjects.set(place, { subjects, sinceMs: nowMs });
    }
  }

  #placesOf({
    accountId,
    resourceUid,
    kind,
  }: Pick<SubjectRow, "accountId" | "resourceUid" | "kind">): readonly string[] {
    if (accountId === undefined) return [];
    const resource = this.#ledger.state.tables.resources.get(resourceUid);
    const spec = kind === "SimZone" || resource === undefined ? undefined : specOf(resource);
    return spec === undefined ? [accountId] : [accountId, `${accountId} ${siteOf(spec)}`];
  }

  /** What has been suspect since before the cycle began lets nothing be removed, made again or given up, unless a person said so. */
  judge(cycle: WatchedCycle, request: PermitRequest): void {
    this.update();
    const { memory, subject, status } = cycle.input;
    const anchors = [status?.badSinceMs, cycle.loadedAtMs].filter((atMs) => atMs !== undefined);
    const places = this.#placesOf(subject);
    const around = anchors.find((atMs) => places.some((place) => this.#isSuspect(place, atMs, cycle.loadedAtMs)));
    if (around === undefined) return;
    const owned = new Set(memory.owned.filter((item) => item.state === "owned").map((item) => item.key));
    const remediation = request.changes
      .filter((change) => change.grantId === undefined)
      .find((change) => isRemoval(change) || (change.action === "create" && owned.has(change.key)));
    if (remediation !== undefined) {
      throw new Violation(
        "too many at once",
        `${subject.kind}/${subject.name}: ${remediation.action} of ${remediation.key} although the observer is suspect since ${this.#ledger.nowMs - around} ms ago`,
      );
    }
  }

  /** Around a time, by what was written down before the cycle began and still holds. */
  #isSuspect(place: string, aroundMs: number, loadedAtMs: number): boolean {
    const counted = this.#subjects.get(place);
    if (counted === undefined || counted.sinceMs >= loadedAtMs) return false;
    let bad = 0;
    for (const entry of this.#bad.values()) {
      const together = Math.abs(entry.badSinceMs - aroundMs) <= windowMs;
      if (entry.places.includes(place) && together && entry.notedAtMs < loadedAtMs) bad += 1;
    }
    const { suspectAtLeast, suspectPercent } = this.#ledger.limits;
    return bad >= suspectAtLeast && bad * 100 >= suspectPercent * counted.subjects;
  }
}
