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
        find: 'if (scene.operation.direction === "forward" && !hasActed(scene))',
        replace: 'if (scene.operation.direction === "forward")',
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
  {
    name: "operation-takes-a-foreign-marker-for-ours",
    row: "ownership",
    because:
      "all three layers gone: another tool's marker on what an operation recorded stops neither its plan, nor its step, nor its way back",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-admit.ts",
        find: 'if (found !== "absent" && found.markedBy !== undefined) return "foreign";',
        replace: "",
      },
      {
        file: effects,
        find: 'if (found !== "absent" && found.markedBy !== undefined)\n    throw',
        replace: 'if (found !== "absent" && found.markedBy === "nobody")\n    throw',
      },
      {
        file: effects,
        find: "isSame && found.markedBy === undefined && !adopted && onRecord",
        replace: "isSame && !adopted && onRecord",
      },
    ],
  },
  {
    name: "operation-writes-to-another-account",
    row: "account identity",
    because:
      "both layers gone: neither the admission nor the write asks whether the account is still the one that was looked at",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-write.ts",
        find: "if (input.account === undefined) return false;",
        replace: "if (input.account === undefined || notBeforeMonotonicMs > -1) return false;",
      },
      {
        file: "kernel/operation-admit.ts",
        find: "accountProblem: account === undefined ? undefined : await accountProblemOf(engine, input, account, asked),",
        replace: "accountProblem: undefined,",
      },
    ],
  },
  {
    name: "intended-is-made-again",
    row: "engine",
    because: "what an operation meant to make, and whose answer was lost, is made again without looking for it",
    foundBy: "test/unit/kernel/operation-unheard.test.ts",
    patches: [
      {
        file: effects,
        find: 'if (first.found !== "absent" || !recorded',
        replace:
          'if (step.change === "create" && recorded && scene.operation.direction === "forward" && scene.input.memory.made?.some(({ key, state }) => state === "intended" && key === step.key(storyOf(scene))) === true)\n    return { ...first, found: "absent" };\n  if (first.found !== "absent" || !recorded',
      },
    ],
  },
  {
    name: "step-outlives-the-lease",
    row: "engine",
    because: "both layers gone: a step starts its call however little is left of the lease",
    foundBy: "simulation",
    patches: [
      {
        file: effects,
        find: "claim.leaseRemainingMs() < callTimeoutMs(scene)",
        replace: "claim.leaseRemainingMs() < 0",
      },
      {
        file: "kernel/fence.ts",
        find: "claim.leaseRemainingMs() < callTimeoutMs;",
        replace: "(claim.actor.operationId === undefined && claim.leaseRemainingMs() < callTimeoutMs);",
      },
    ],
  },
  {
    name: "operation-makes-for-what-leaves",
    row: "engine",
    because: "an operation goes on making things for a resource that somebody deleted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/journal.ts",
        find: "if (leaving && !pipeline.ends) return",
        replace: "if (leaving && !pipeline.ends && journal.length === 0) return",
      },
    ],
  },
  {
    name: "operation-deletes-for-nothing",
    row: "delete budget",
    because: "what an operation takes away is not charged to the budgets that everybody shares",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-write.ts",
        find: "const reserved = outside ? await reserve(scene, change) : undefined;",
        replace: "const reserved = outside && !removes(change) ? await reserve(scene, change) : undefined;",
      },
    ],
  },
  {
    name: "operation-deletes-what-is-locked",
    row: "protection",
    because: "both layers gone: a provider-side lock stops neither the admission of a delete nor its step",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation-admit.ts",
        find: "...(found.lockedBy === undefined ? {} : { lockedBy: found.lockedBy }),",
        replace: "",
      },
      { file: effects, find: "if (lockedBy === undefined) return;", replace: 'if (lockedBy !== "nobody") return;' },
    ],
  },
  {
    name: "freeze-is-left-to-the-permit",
    row: "freeze and pauses",
    because: "both layers gone: a step asks for its permit although it read that it is paused",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation.ts",
        find: "if (paused !== undefined) {",
        replace: "if (paused === operation.id) {",
      },
      {
        file: effects,
        find: "if (pause !== undefined) return",
        replace: "if (pause?.id === scene.operation.id) return",
      },
    ],
  },
  {
    name: "second-start-is-refused",
    row: "engine",
    because: "who starts what runs already is refused instead of being told of the running one",
    foundBy: "differential",
    patches: [
      {
        file: "store/start-together.ts",
        find: "if (found.length > 0 && operation !== undefined)",
        replace: "if (found.length < 0 && operation !== undefined)",
      },
    ],
  },
  {
    name: "operation-starts-on-what-leaves",
    row: "engine",
    because: "an operation that makes things is started on a resource that is being deleted",
    foundBy: "differential",
    patches: [
      {
        file: "store/start-together.ts",
        find: "subject.leaving !== request.ends",
        replace: "!subject.leaving && request.ends",
      },
    ],
  },
  {
    name: "operation-starts-without-a-hold",
    row: "holds",
    because: "an operation begins without holding its resource, so that the loop heals what is half made",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/operation-intents.ts",
        find: "from made as m where s.id = m.subject_id",
        replace: "from made as m where s.id = m.subject_id and m.journal_length > 0",
      },
    ],
  },
  {
    name: "released-hold-stays",
    row: "holds",
    because: "who releases an operation ends it, and its resource stays held",
    foundBy: "differential",
    patches: [
      {
        file: "store/operation-intents.ts",
        find: "isLive(operation) ? nobodyWoken : await giveBack(",
        replace: "!isLive(operation) ? nobodyWoken : await giveBack(",
      },
    ],
  },
  {
    name: "skip-written-again",
    row: "engine",
    because: "each time somebody skips a step anew, whoever goes on from the first skip begins again, without end",
    foundBy: "test/unit/kernel/operation.test.ts",
    patches: [
      {
        file: "kernel/steering.ts",
        find: 'command.verb === "skip" && last?.result === "skipped"',
        replace: 'command.verb === "cancel" && last?.result === "skipped"',
      },
    ],
  },
];
