import type { Mutant } from "../mutant.ts";

const file = "store/sql/operations.ts";
const effects = "kernel/effect.ts";

/** What the kernel and the store must hold for operations: the fence, the admission, the journal, and the hold. */
export const operations: readonly Mutant[] = [
  {
    name: "step-writes-without-a-permit",
    row: "engine",
    because: "a step makes its call although the permit for it was refused",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/fence.ts",
        find: "if (!answer.granted) return answer;",
        replace: "if (!answer.granted && claim.actor.operationId === undefined) return answer;",
      },
    ],
  },
  {
    name: "pipeline-skips-admit",
    row: "engine",
    because: "both layers gone: a pipeline begins with its first own step, and no effect asks what was admitted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/journal.ts",
        find: 'if (!standing.has(ADMIT)) return { move: "admit" };\n  const step',
        replace: "const step",
      },
      {
        file: effects,
        find: "admitted !== undefined &&\n    admitted.policyVersion",
        replace: "admitted === undefined ||\n    admitted.policyVersion",
      },
      {
        file: "kernel/operation-write.ts",
        find: "if (admittedOf(scene)?.keys.includes(admittedAs(change)) !== true) return false;",
        replace: "if (admittedOf(scene)?.keys.includes(admittedAs(change)) === false) return false;",
      },
    ],
  },
  {
    name: "admitted-once-for-all",
    row: "engine",
    because: "an effect rests on an admission from before its inputs moved",
    foundBy: "simulation",
    patches: [
      {
        file: effects,
        find: 'return same ? undefined : { is: "moved" };',
        replace: 'return admitted !== undefined || same ? undefined : { is: "moved" };',
      },
    ],
  },
  {
    name: "replay-runs-recorded-steps-again",
    row: "engine",
    because: "a new admission makes the journal forget what was done, and every recorded step is run again",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/journal.ts",
        find: 'if (entry.result === "moved") standing.delete(entry.step);',
        replace: 'if (entry.result === "moved") standing.clear();',
      },
    ],
  },
  {
    name: "takeover-ignores-the-epoch",
    row: "permit: lease epoch",
    because: "a worker whose shard was taken over and came back to it writes under its old epoch",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "and d.shard = l.shard\n    where l.shard = q.shard and l.holder = q.holder and l.epoch = q.epoch",
        replace: "and d.shard = l.shard\n    where l.shard = q.shard and l.holder = q.holder",
      },
    ],
  },
  {
    name: "one-shot-with-a-new-key-each-time",
    row: "engine",
    because: "every attempt at a one-shot effect has another idempotency key, so that all of them count",
    foundBy: "simulation",
    patches: [
      {
        file: effects,
        find: "`${scene.operation.id}/${step.name}` as IdempotencyKey",
        replace: "`${scene.operation.id}/${step.name}/${scene.engine.ids.next()}` as IdempotencyKey",
      },
    ],
  },
  {
    name: "operation-writes-without-its-hold",
    row: "holds",
    because: "an operation whose hold was released goes on asking for permits",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-scene.ts",
        find: "return input.hold?.operationId === operation.id;",
        replace: "return input.hold !== null;",
      },
    ],
  },
  {
    name: "not-run-though-it-acted",
    row: "engine",
    because: "an operation that is refused when it is admitted anew ends as if it had not run, and leaves what it made",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-admit.ts",
        find: 'if (operation.direction === "forward" && !acted)',
        replace: 'if (operation.direction === "forward" && (!acted || acted))',
      },
    ],
  },
  {
    name: "worker-without-the-epoch",
    row: "engine",
    because: "a worker whose shard was taken over goes on writing the journals of its operations",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms",
        replace: "l.holder = q.holder and l.until_ms > clock.now_ms",
      },
    ],
  },
  {
    name: "journal-is-written-over",
    row: "engine",
    because: "a step is recorded although somebody appended to the journal since it was read",
    foundBy: "differential",
    patches: [{ file, find: "o.journal_length = q.journal_length and ", replace: "" }],
  },
  {
    name: "operation-ends-though-asked-to-stop",
    row: "engine",
    because: "an operation that somebody asked to stop in its last step ends as if nobody had",
    foundBy: "differential",
    patches: [{ file, find: "(q.yields_to_cancel and o.cancel is not null) or", replace: "" }],
  },
  {
    name: "end-keeps-the-hold",
    row: "holds",
    because: "an operation that ended still holds its resource, and the loop never has it again",
    foundBy: "differential",
    patches: [{ file, find: "and s.hold_operation_id = m.id", replace: "and s.hold_operation_id <> m.id" }],
  },
];
