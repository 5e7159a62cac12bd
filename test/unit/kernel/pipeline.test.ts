import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineLoop } from "../../../src/kernel/loop.ts";
import { nextMove, standingEntries } from "../../../src/kernel/journal.ts";
import { retryInMs } from "../../../src/kernel/operation.ts";
import { type IdempotencyKey, newestPipeline, pipelinesOf } from "../../../src/kernel/pipeline.ts";
import type { EntryResult, JournalEntry } from "../../../src/ports/operation-store.ts";

/** Something that is sent once and cannot be looked for. */
interface Postman {
  send(text: string, key: IdempotencyKey): Promise<void>;
}
const { once, sleep, step, definePipeline } = pipelinesOf<{ readonly text: string }, unknown, Postman>();
const shape = z.object({ text: z.string() });

test("a one-shot effect has an idempotency key; a loop that tries to make one does not compile", () => {
  const letter = once({
    name: "letter",
    input: shape,
    output: z.object({}),
    given: ({ subject }) => ({ text: subject.spec.text }),
    key: () => "letter",
    call: async (context, { text }) => {
      await context.writer.send(text, context.idempotencyKey);
      return {};
    },
  });
  assert.equal(letter.type, "once");
  defineLoop<{ readonly text: string }, { readonly text: string }, unknown, Postman>({
    kind: "Letter",
    everySeconds: 60,
    desired: () => ({ known: true, items: [] }),
    observe: (context) => context.look(async () => []),
    read: async () => "absent",
    same: () => [],
    create: async (context, _subject, { item }) => {
      // @ts-expect-error A text is no key: what is sent once is a step of a pipeline.
      await context.writer.send(item.text, "letter");
      // @ts-expect-error Nor does the context of a loop offer one.
      const offered: keyof typeof context = "idempotencyKey";
      return { externalId: offered };
    },
    update: async () => {},
    remove: async () => {},
  });
});

test("a plain step cannot write: its context has no writer", () => {
  step({
    name: "sneaky",
    input: shape,
    output: z.object({ offered: z.string() }),
    given: ({ subject }) => ({ text: subject.spec.text }),
    run: async (context) => {
      // @ts-expect-error What a step may do is what its context offers.
      const offered: keyof typeof context = "writer";
      return { offered };
    },
  });
});

const wait = (name: string) => sleep({ name, forSeconds: () => 1 });
const pipeline = definePipeline({ name: "p", version: 1, summary: "waits", steps: [wait("a"), wait("b"), wait("c")] });

function journal(...lines: readonly string[]): readonly JournalEntry[] {
  return lines.map((line, index) => {
    const [stepName = "", result = "done"] = line.split(" ");
    const base = { step: stepName, result: result as EntryResult, version: 1, direction: "forward" as const };
    return { ...base, place: index + 1, atMs: 100 * (index + 1) };
  });
}

function next(...lines: readonly string[]): string {
  const operation = { direction: "forward" as const, cancel: undefined };
  const found = nextMove(pipeline, { operation, journal: journal(...lines), leaving: false });
  return found.move === "run" ? `run ${found.step.name}` : found.move;
}

test("the journal alone says what comes next, and admit is always first", () => {
  assert.equal(next(), "admit");
  assert.equal(next("admit"), "run a");
  assert.equal(next("admit", "a"), "run b");
  assert.equal(next("admit", "a failed"), "run a");
  assert.equal(next("admit", "a", "b skipped"), "run c");
  assert.equal(next("admit", "a", "b", "c"), "end");
});

test("a moved input voids the admission alone; a retry voids the step and what follows", () => {
  assert.equal(next("admit", "a", "admit moved"), "admit");
  assert.equal(next("admit", "a", "admit moved", "admit"), "run b");
  assert.equal(next("admit", "a", "b", "a again"), "run a");
  assert.deepEqual(
    [...standingEntries(pipeline, journal("admit", "a", "b", "b again"), "forward").keys()],
    ["admit", "a"],
  );
});

test("a wait that was begun is gone on with, and begun anew by a retry", () => {
  const at = (...lines: readonly string[]) => {
    const operation = { direction: "forward" as const, cancel: undefined };
    const found = nextMove(pipeline, { operation, journal: journal(...lines), leaving: false });
    return found.move === "run" ? found.begunAtMs : "no run";
  };
  assert.equal(at("admit", "a begun"), 200);
  assert.equal(at("admit", "a begun", "a again"), undefined);
});

test("whoever was asked to stop, or whose resource leaves, turns back", () => {
  const cancel = { author: "ada", atMs: 1, reason: "because" };
  const move = (operation: Parameters<typeof nextMove>[1]["operation"], leaving: boolean) =>
    nextMove(pipeline, { operation, journal: journal("admit", "a"), leaving }).move;
  assert.equal(move({ direction: "forward", cancel }, false), "turn-back");
  assert.equal(move({ direction: "forward", cancel: undefined }, true), "turn-back");
  assert.equal(move({ direction: "back", cancel }, false), "end");
});

test("a pipeline without steps, or with a name twice, is refused where it is written", () => {
  assert.throws(() => definePipeline({ name: "p", version: 1, summary: "", steps: [] }), /no steps/);
  assert.throws(
    () => definePipeline({ name: "p", version: 1, summary: "", steps: [wait("a"), wait("a")] }),
    /'a' is empty, taken/,
  );
  assert.throws(() => definePipeline({ name: "p", version: 1, summary: "", steps: [wait("admit")] }), /engine's own/);
});

test("retries double up to their cap, and a provider's hint wins", () => {
  const retry = { times: 9, firstSeconds: 1, atMostSeconds: 10 };
  assert.deepEqual(
    [1, 2, 3, 9].map((attempts) => retryInMs(retry, attempts, 1, undefined)),
    [1_000, 2_000, 4_000, 10_000],
  );
  assert.equal(retryInMs(retry, 1, 1, 250), 250);
});

test("a new operation runs the newest version of its pipeline", () => {
  const second = definePipeline({ name: "p", version: 2, summary: "", steps: [wait("a")] });
  assert.equal(newestPipeline([second, pipeline], "p"), second);
  assert.equal(newestPipeline([pipeline], "q"), undefined);
});
