import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCommand, UsageError } from "../../../bench/harness/command-line.ts";

const names = ["scheduler", "api"];

test("a name and two options, in any order", () => {
  assert.deepEqual(parseCommand(["scheduler"], names), { name: "scheduler", json: false, quick: false });
  assert.deepEqual(parseCommand(["--quick", "api", "--json"], names), { name: "api", json: true, quick: true });
});

test("what is not understood lists the names", () => {
  for (const words of [[], ["unknown"], ["scheduler", "api"], ["scheduler", "--fast"]])
    assert.throws(
      () => parseCommand(words, names),
      (thrown: unknown) => thrown instanceof UsageError && thrown.message.includes("scheduler, api"),
    );
});
