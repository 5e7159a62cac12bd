import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import type { FieldDifference } from "../../../src/ports/records.ts";
import type { Ledger } from "./ledger.ts";
import type { WatchedCycle } from "./snapshot-rules.ts";
import { Violation } from "./witness.ts";

/** A shared listing may be this old when a cycle uses it, and lag behind the truth on top. */
const listingAgeMs = 10_000;

interface Shown {
  readonly differences: readonly FieldDifference[];
  /** What the record of the last look said of the thing when a person was asked. */
  readonly content: string | undefined;
}

/** What people were shown, by the digest of the item: an approval is for that and for nothing else. */
export class Approvals {
  readonly #ledger: Ledger;
  readonly #shown = new Map<string, Shown>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** After a settlement: what waits of this subject now, as people will see it. */
  settled(subjectId: number): void {
    const { heldChanges, subjects } = this.#ledger.state.tables;
    const seen = subjects.get(subjectId)?.observation?.items ?? [];
    for (const held of heldChanges.values()) {
      if (held.state !== "open" && held.state !== "rejected") continue;
      for (const item of held.items) {
        if (item.subjectId !== subjectId) continue;
        const entry = seen.find(({ externalId }) => externalId === item.externalId);
        const content = entry && contentOf(entry.item as { readonly value: string; readonly size: number });
        this.#shown.set(`${subjectId} ${item.digest}`, { differences: item.differences, content });
      }
    }
  }

  /** After a permit that uses grants. */
  judge(cycle: WatchedCycle, request: PermitRequest): void {
    for (const change of request.changes) {
      const grant = this.#ledger.state.tables.grants.get(change.grantId ?? "");
      const shown = grant && this.#shown.get(`${request.subject.id} ${grant.itemDigest}`);
      if (shown === undefined) continue;
      const name = `${request.subject.kind}/${request.subject.name}: ${change.action} of ${change.key}`;
      for (const { field, wanted, seen } of change.differences) {
        const then = shown.differences.find((difference) => difference.field === field);
        if (then !== undefined && (then.wanted !== wanted || then.seen !== seen)) {
          throw new Violation(
            "grant",
            `${name}: approved from ${JSON.stringify(then.seen)} to ${JSON.stringify(then.wanted)}, done from ${JSON.stringify(seen)} to ${JSON.stringify(wanted)}`,
          );
        }
      }
      const content = this.#steadyContent(request, change.externalId, cycle.loadedAtMs);
      if (shown.content !== undefined && content !== undefined && content !== shown.content) {
        throw new Violation("grant", `${name}: approved when it was '${shown.content}', it is '${content}' by now`);
      }
    }
  }

  /** What the thing has been for so long that every look this cycle can rest on has shown it. */
  #steadyContent(request: PermitRequest, id: string | undefined, loadedAtMs: number): string | undefined {
    const outside = this.#ledger.outside.connections.get(request.subject.accountId ?? "")?.own;
    const thing = outside?.things.get(id ?? "");
    if (outside === undefined || thing === undefined) return undefined;
    const changedAtMs = outside.changedAtMs(thing.id);
    return changedAtMs < loadedAtMs - listingAgeMs - outside.settleMs ? contentOf(thing) : undefined;
  }
}

function contentOf({ value, size }: { readonly value: string; readonly size: number }): string {
  return `${value} ${size}`;
}
