import type { Mutant } from "../mutant.ts";

export const looks: readonly Mutant[] = [
  {
    name: "no-quiet-start",
    row: "quiet start",
    because:
      "a lease taken over is treated like an orderly hand-over, and what was read before is kept: a delete rests on a look older than the lease",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/leases.ts",
        find: "quietSinceMonotonicMs: lease.quiet ? monotonicMs : undefined",
        replace: "quietSinceMonotonicMs: undefined",
      },
      {
        file: "scheduler/dispatcher.ts",
        find: "this.#options.engine.accounts.forget(accountId);",
        replace: "void accountId;",
      },
    ],
  },
  {
    name: "quiet-start-on-old-listing",
    row: "quiet start",
    because:
      "all three layers gone: listings survive the loss of a lease, an old one will do after it, and the guard does not ask when it began",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/quiet-start.ts",
        find: "if (since === undefined || facts.observedFromMs >= since)",
        replace: "if (since === undefined || facts.nowMs >= since)",
      },
      {
        file: "kernel/look.ts",
        find: "confirmMs, this.#claim.quietSinceMonotonicMs ?? 0",
        replace: "confirmMs",
      },
      {
        file: "scheduler/dispatcher.ts",
        find: "this.#options.engine.accounts.forget(accountId);",
        replace: "void accountId;",
      },
    ],
  },
  {
    name: "partial-list-is-complete",
    row: "complete reads only",
    because: "a listing whose later page failed counts as the whole collection",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/inventory.ts",
        find: `outcome: pages === 1 ? "failed" : "partial"`,
        replace: `outcome: pages === 1 ? "failed" : "complete"`,
      },
    ],
  },
  {
    name: "repeated-token-is-the-end",
    row: "complete reads only",
    because: "a page token given twice ends the listing as if it were complete",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/inventory.ts",
        find: `return { outcome: "partial", proof: \`page token`,
        replace: `return { outcome: "complete", proof: \`page token`,
      },
    ],
  },
  {
    name: "deletes-on-partial-looks",
    row: "complete reads only",
    because: "an incomplete look leads to deletes",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/complete-reads.ts",
        find: `if (facts.completeness === "complete") return`,
        replace: `if (facts.completeness !== "failed") return`,
      },
    ],
  },
  {
    name: "absence-is-missing",
    row: "complete reads only",
    because: "what a complete listing does not show is made again, although a read by its id shows it",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: `if (now === "absent") return undefined;
  return verdict("evidence", "wait", "not in the listing`,
        replace: `if (change.owned !== undefined) return undefined;
  return verdict("evidence", "wait", "not in the listing`,
      },
    ],
  },
  {
    name: "stale-listing-is-fresh",
    row: "complete reads only",
    because: "a listing begun before our own last write became visible is used as if it showed it",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/look.ts",
        find: "Math.max(nowMs - ageMs, visibleMs, confirmMs",
        replace: "Math.max(nowMs - ageMs, confirmMs",
      },
      {
        file: "kernel/plan.ts",
        find: ": (owned.writtenAtMs ?? 0) + situation.settleMs",
        replace: ": 0",
      },
    ],
  },
  {
    name: "another-account-answers",
    row: "account identity",
    because: "a credential that now belongs to another account is written through",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/account-claim.ts",
        find: "const isKnown = account.fingerprint === fingerprint;",
        replace: "const isKnown = fingerprint !== undefined;",
      },
    ],
  },
  {
    name: "identity-is-believed-forever",
    row: "account identity",
    because: "who the account is is asked once and never again",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/accounts.ts",
        find: "if (known !== undefined && isOfNow && known.startedAtMonotonicMs >= freshMs) return known.value;",
        replace:
          "if (known !== undefined && (isOfNow || !isOfNow) && known.startedAtMonotonicMs <= startedAtMonotonicMs) return known.value;",
      },
    ],
  },
  {
    name: "restored-database-acts",
    row: "account identity",
    because: "after a restore the accounts are written to before anybody approved to reclaim them",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/account-claim.ts",
        find: "claimed !== undefined && claimed !== installation.incarnation",
        replace: "claimed !== undefined && claimed > installation.incarnation",
      },
    ],
  },
  {
    name: "another-installation-claimed-it",
    row: "account identity",
    because: "the sentinel of another installation does not stop writes to the account",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/account-claim.ts",
        find: "sentinel !== undefined && sentinel.installationId !== installation.id",
        replace: `sentinel !== undefined && sentinel.installationId === ""`,
      },
    ],
  },
  {
    name: "copy-of-the-database-acts",
    row: "account identity",
    because: "the sentinel of a newer incarnation does not stop a copy of the database from writing",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/account-claim.ts",
        find: "sentinel !== undefined && sentinel.incarnation > installation.incarnation",
        replace: "sentinel !== undefined && sentinel.incarnation < 0",
      },
    ],
  },
];
