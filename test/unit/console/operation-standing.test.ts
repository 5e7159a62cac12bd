import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StepEntry } from "../../../console/src/api/parts.ts";
import type { OperationDocument } from "../../../console/src/api/types.ts";
import { standingWords } from "../../../console/src/pages/operations/standing-words.ts";
import { waterfall } from "../../../console/src/pages/operations/waterfall.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const operation = (given: Partial<OperationDocument>): OperationDocument =>
  ({ state: "running", createdAt: at(0), startedAt: at(1), message: "", ...given }) as OperationDocument;
const line = (step: string, seconds: number, result: StepEntry["result"], given: Partial<StepEntry> = {}): StepEntry =>
  ({ step, at: at(seconds), result, direction: "forward", tookMs: 10, ...given }) as StepEntry;

describe("where an operation stands, in words beside its step", () => {
  const words = (given: Partial<OperationDocument>) => standingWords(operation({ step: "made", ...given }));

  test("the step is named once", () => {
    assert.equal(words({ message: "waits for 'made': the provider is making it" }), "the provider is making it");
    assert.equal(words({ message: "after 'made'" }), "done, the next step follows");
    assert.equal(words({ message: "sleeps for 5 s" }), "sleeps for 5 s");
  });

  test("what has to come first is said before what was last done", () => {
    const waitsFor = "a worker: none is running that could take it. See: setpoint status";
    assert.equal(words({ message: "asked for", waitsFor }), waitsFor);
  });

  test("what succeeded says that in its state alone; what ended otherwise keeps its words", () => {
    assert.equal(words({ state: "succeeded", message: "done" }), undefined);
    assert.equal(words({ state: "cancelled", message: "taken back" }), "taken back");
  });
});

describe("the journal as a waterfall", () => {
  const sorts = (journal: readonly StepEntry[], step: string) =>
    waterfall(operation({ state: "succeeded", endedAt: at(30) }), journal, 0)
      .rows.find((row) => row.step === step)
      ?.bars.map(({ sort }) => sort);

  test("a step that waited for the outside did so also when it is over", () => {
    const journal = [line("server", 2, "done"), line("made", 3, "begun"), line("made", 9, "done")];
    assert.deepEqual(sorts(journal, "made"), ["outside", "work", "outside", "work"]);
  });

  test("only the time behind a failure is time between attempts", () => {
    const journal = [line("server", 2, "failed"), line("server", 9, "done")];
    assert.deepEqual(sorts(journal, "server"), ["outside", "work", "retry", "work"]);
  });
});
