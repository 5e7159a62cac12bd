import type { Mutant } from "../mutant.ts";

const file = "store/sql/operations.ts";

/** What the store must hold for operations: the worker's fence, the journal, and the hold. */
export const operations: readonly Mutant[] = [
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
