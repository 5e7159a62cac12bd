import assert from "node:assert/strict";
import { test } from "node:test";
import { ForAMoment } from "../../../src/control-api/for-a-moment.ts";
import { ManualClock } from "../../support/manual-clock.ts";

test("what was found is known for a moment, and those who ask at the same time share one answer", async () => {
  const clock = new ManualClock();
  const known = new ForAMoment<string>(clock, 1_000);
  let reads = 0;
  const read = async () => `answer ${++reads}`;
  assert.deepEqual(await Promise.all([known.get("a", read), known.get("a", read)]), ["answer 1", "answer 1"]);
  clock.advance(999);
  assert.equal(await known.get("a", read), "answer 1");
  clock.advance(1);
  assert.equal(await known.get("a", read), "answer 2");
  assert.equal(await known.get("b", read), "answer 3");
});

test("that something is not there, or could not be read, is not remembered", async () => {
  const known = new ForAMoment<string>(new ManualClock(), 1_000);
  assert.equal(await known.get("a", async () => undefined), undefined);
  await assert.rejects(
    known.get("a", async () => Promise.reject(new Error("unreachable"))),
    /unreachable/,
  );
  assert.equal(await known.get("a", async () => "made since"), "made since");
});
