import type { Mutant } from "../mutant.ts";

export const engine: readonly Mutant[] = [
  {
    name: "call-without-permit",
    row: "engine",
    because: "a refused permit does not stop the call",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/fence.ts",
        find: "if (!answer.granted) return answer;",
        replace: "if (!answer.granted && asked.memory.attempts < 0) return answer;",
      },
    ],
  },
  {
    name: "one-permit-for-many-calls",
    row: "engine",
    because: "one permit covers all calls of a cycle instead of one",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "batches(scene, admitted) : admitted.map((change) => [change])",
        replace: "batches(scene, admitted) : [admitted]",
      },
    ],
  },
  {
    name: "deletes-ignore-the-input-version",
    row: "engine",
    because:
      "a delete only checks the generations of its sources: a new declaration that wants the thing is overlooked",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/act.ts",
        find: "if (changes.some(removes)) return",
        replace: "if (changes.some(removes) && changes.length === 0) return",
      },
    ],
  },
  {
    name: "unexplained-writes",
    row: "engine",
    because: "calls are made without a record of what and why",
    foundBy: "simulation",
    patches: [{ file: "kernel/act.ts", find: "changes: records,", replace: "changes: []," }],
  },
  {
    name: "create-again-without-looking",
    row: "engine",
    because:
      "after an ambiguous answer the intent is forgotten, so that nothing waits until the thing could be seen and nothing looks for its marker",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/act.ts",
        find: "const surelyNothing = error instanceof TerminalError || (error instanceof RetryableError && !error.ambiguous);",
        replace: "const surelyNothing = error instanceof TerminalError || error instanceof RetryableError;",
      },
    ],
  },
  {
    name: "intent-is-not-recorded",
    row: "engine",
    because: "what is about to be made is not written down first: after a crash it is made once more",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/act.ts",
        find: `if (change.action !== "create" && change.action !== "replace") return memory;`,
        replace: `if (change.action !== "replace") return memory;`,
      },
    ],
  },
  {
    name: "settle-over-unknown-memory",
    row: "engine",
    because: "a cycle that does not know what was recorded writes its own memory over it",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "return stopped({ error: result, memoryUnknown: true });",
        replace: "return stopped({ error: result, memoryUnknown: false });",
      },
    ],
  },
  {
    name: "renewal-counts-from-the-answer",
    row: "engine",
    because: "a lease counts from when its renewal was answered instead of from before it was sent",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/leases.ts",
        find: "this.#confirm(held, sent);",
        replace: "this.#confirm(held, { wallMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() });",
      },
    ],
  },
  {
    name: "lease-by-the-wall-clock",
    row: "engine",
    because: "a wall clock set back makes a lease last longer than the store thinks",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/leases.ts",
        find: "this.#clock.monotonicMs() - held.sent.monotonicMs",
        replace: "this.#clock.nowMs() - held.sent.wallMs",
      },
    ],
  },
  {
    name: "lease-by-a-clock-that-stood-still",
    row: "engine",
    because: "both layers gone: the monotonic clock of a stopped machine stands still, and its lease seems to last",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/leases.ts",
        find: "this.#clock.nowMs() - held.sent.wallMs,",
        replace: "0,",
      },
      { file: "kernel/leases.ts", find: "Math.max(nowMs - held.sent.wallMs, ", replace: "Math.max(0 * nowMs, " },
      {
        file: "runtime/steady-time.ts",
        find: "if (nowAheadMs - aheadMs > STOP_MS)",
        replace: "if (nowAheadMs - aheadMs > STOP_MS && nowMs < 0)",
      },
    ],
  },
  {
    name: "listing-by-a-clock-that-stood-still",
    row: "engine",
    because: "the time a machine stood still is not counted, so that an old listing passes for a fresh one",
    foundBy: "simulation",
    patches: [
      {
        file: "runtime/steady-time.ts",
        find: "if (nowAheadMs - aheadMs > STOP_MS)",
        replace: "if (nowAheadMs - aheadMs > STOP_MS && nowMs < 0)",
      },
    ],
  },
  {
    name: "memory-by-the-wall-clock",
    row: "engine",
    because:
      "what is remembered is stamped with each process's own clock, so that skewed processes disagree on what was when",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/cycle.ts",
        find: "loaded.storeNowMs - engine.clock.monotonicMs()",
        replace: "engine.clock.nowMs() - engine.clock.monotonicMs()",
      },
    ],
  },
  {
    name: "call-outlives-the-lease",
    row: "engine",
    because: "both layers gone: a call is started however little is left of the lease",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "scene.claim.leaseRemainingMs() < scene.lookout.callTimeoutMs",
        replace: "scene.claim.leaseRemainingMs() < 0",
      },
      {
        file: "kernel/fence.ts",
        find: "claim.leaseRemainingMs() < callTimeoutMs",
        replace: "claim.leaseRemainingMs() < 0",
      },
    ],
  },
];
