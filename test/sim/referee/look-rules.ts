import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import type { ChangeRecord } from "../../../src/ports/records.ts";
import type { SimProcess } from "../process.ts";
import { type Ledger, leaseKey } from "./ledger.ts";
import { isStep } from "./operation-rules.ts";
import { isRemoval } from "./permit-rules.ts";
import { Violation } from "./witness.ts";

/** A machine that stood still for less than this is not noticed, and its looks seem that much younger. */
const unnoticedMs = 300;
/** Times are whole milliseconds on every clock; rounding may add one. */
const roundingMs = 1;

/** The look that a removal says it rests on was a complete one, of this very process, and showed the thing. */
export function judgeDecidingLook(ledger: Ledger, process: SimProcess, request: PermitRequest): void {
  const { accountId, kind, name } = request.subject;
  const looks = ledger.looks.get(accountId ?? "") ?? [];
  for (const change of request.changes.filter((one) => isRemoval(one) && !isStep(one))) {
    const fromMs = observedFromMs(change);
    if (fromMs === undefined)
      throw new Violation("evidence", `${kind}/${name}: ${change.key} goes without its evidence`);
    judgeQuietStart(ledger, process, request, fromMs);
    const shown = looks.some(
      (look) =>
        look.process === process && look.startedAtMs >= fromMs - unnoticedMs && look.ids.has(change.externalId ?? ""),
    );
    if (!shown) {
      throw new Violation(
        "evidence",
        `${kind}/${name}: ${change.key} goes on a look of ${fromMs}, which was not complete`,
      );
    }
  }
}

function observedFromMs(change: ChangeRecord): number | undefined {
  const said = change.verdicts.find((verdict) => verdict.guard === "evidence" && verdict.answer === "pass");
  return said?.numbers["observedFromMs"];
}

/**
 * After a start nothing goes on a look from before the lease. A process reckons in the store's time of its load, which was
 * as much earlier as the answer took: at most what has passed since. A wall clock set forward makes it take its looks
 * for older than they are, and then nobody can tell.
 */
function judgeQuietStart(ledger: Ledger, process: SimProcess, request: PermitRequest, fromMs: number): void {
  const { accountId, id, kind, name } = request.subject;
  const lease = ledger.leases.get(leaseKey(request.actor.shard, request.actor));
  const loadedAtMs = ledger.cycle(process, id)?.loadedAtMs;
  if (lease?.quiet !== true || loadedAtMs === undefined || process.jumpedAtMs >= lease.atMs) return;
  const latestMs = fromMs + (ledger.nowMs - loadedAtMs) + roundingMs;
  if (latestMs < lease.atMs) {
    throw new Violation(
      "quiet start",
      `${kind}/${name} at ${accountId}: a removal rests on a look of ${latestMs}, before the lease of ${lease.atMs}`,
    );
  }
}
