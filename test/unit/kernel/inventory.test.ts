import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { waitForRate } from "../../../src/kernel/accounts.ts";
import { RetryableError } from "../../../src/kernel/errors.ts";
import { readInventory } from "../../../src/kernel/inventory.ts";
import type { Lister, Page } from "../../../src/ports/provider.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { holds } from "../../support/properties.ts";

type Answer = Page<unknown> | Error;

/** A provider's listing: each walk is a list of pages by token, and a new walk begins with every call without a token. */
function listing(...walks: readonly (readonly (readonly [token: string | undefined, answer: Answer])[])[]) {
  let walk = -1;
  const state = { walks: 0, calls: 0 };
  const lister: Lister = async (token) => {
    if (token === undefined) walk = Math.min(walk + 1, walks.length - 1);
    if (token === undefined) state.walks++;
    state.calls++;
    const answer = walks[walk]?.find(([name]) => name === token)?.[1];
    if (answer === undefined) throw new Error(`there is no page ${token}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { lister, state };
}

async function read(lister: Lister) {
  const clock = new ManualClock();
  const answer = await readInventory(clock, lister, new AbortController().signal);
  assert.equal(answer.inventory.startedAtMonotonicMs, clock.monotonicMs());
  return answer;
}

test("a listing read to its end is complete and says how it knows", async () => {
  const pages = listing([
    [undefined, { entries: [1, 2], next: "second", total: 3, revision: "r1" }],
    ["second", { entries: [3], total: 3, revision: "r1" }],
  ]);
  const { inventory, error } = await read(pages.lister);
  assert.deepEqual([inventory.completeness, inventory.entries, error], ["complete", [1, 2, 3], undefined]);
  assert.equal(inventory.proof, "2 pages read to the end, 3 of 3 entries");
  assert.equal(
    (await read(async () => ({ entries: [] }))).inventory.proof,
    "1 page read to the end, no repeated token",
  );
});

test("an error on the first page fails the listing, one midway makes it partial, and neither is lost", async () => {
  const thrown = new RetryableError("RATE_LIMITED", "429 too many requests", { afterMs: 7_000 });
  const failed = await read(listing([[undefined, thrown]]).lister);
  assert.deepEqual([failed.inventory.completeness, failed.inventory.entries], ["failed", []]);
  assert.equal(failed.error, thrown);
  const midway = await read(
    listing([
      [undefined, { entries: [1, 2], next: "second" }],
      ["second", thrown],
    ]).lister,
  );
  assert.deepEqual([midway.inventory.completeness, midway.inventory.entries], ["partial", [1, 2]]);
  assert.equal(midway.inventory.proof, "page 2 failed: 429 too many requests");
  assert.equal(midway.error, thrown);
});

test("a repeated token or an empty one makes the listing partial instead of endless or short", async () => {
  const looping = listing([
    [undefined, { entries: [1], next: "a" }],
    ["a", { entries: [2], next: "b" }],
    ["b", { entries: [3], next: "a" }],
  ]);
  const repeated = await read(looping.lister);
  assert.equal(repeated.inventory.completeness, "partial");
  assert.match(repeated.inventory.proof, /token 'a' was given twice/);
  assert.equal(looping.state.calls, 3);
  const empty = await read(listing([[undefined, { entries: [1], next: "" }]]).lister);
  assert.deepEqual([empty.inventory.completeness, empty.inventory.entries], ["partial", [1]]);
});

test("a count that does not fit is walked again, and is partial when it never fits", async () => {
  const short = [[undefined, { entries: [1, 2], total: 3 }]] as const;
  const whole = [[undefined, { entries: [1, 2, 3], total: 3 }]] as const;
  const healed = listing(short, whole);
  assert.deepEqual((await read(healed.lister)).inventory.entries, [1, 2, 3]);
  assert.equal(healed.state.walks, 2);
  const never = listing(short);
  const { inventory } = await read(never.lister);
  assert.equal(inventory.completeness, "partial");
  assert.equal(inventory.proof, "2 entries read, the provider counts 3");
  assert.equal(never.state.walks, 3);
});

test("a collection that moves while it is paged is walked again, and is partial when it keeps moving", async () => {
  const moving = [
    [undefined, { entries: [1], next: "second", revision: "r1" }],
    ["second", { entries: [2], revision: "r2" }],
  ] as const;
  const still = [
    [undefined, { entries: [1], next: "second", revision: "r2" }],
    ["second", { entries: [3], revision: "r2" }],
  ] as const;
  const healed = listing(moving, moving, still);
  const read3 = await read(healed.lister);
  assert.deepEqual([read3.inventory.completeness, read3.inventory.entries], ["complete", [1, 3]]);
  assert.equal(healed.state.walks, 3);
  const never = listing(moving);
  const { inventory } = await read(never.lister);
  assert.deepEqual([inventory.completeness, never.state.walks], ["partial", 3]);
  assert.match(inventory.proof, /changed while it was being paged/);
  const recounted = await read(
    listing([
      [undefined, { entries: [1], next: "second", total: 2 }],
      ["second", { entries: [2], total: 1 }],
    ]).lister,
  );
  assert.equal(recounted.inventory.completeness, "partial");
});

test("a page of any size is taken", async () => {
  const entries = Array.from({ length: 300_000 }, (_, index) => index);
  const { inventory } = await read(async () => ({ entries, total: entries.length }));
  assert.deepEqual([inventory.completeness, inventory.entries.length], ["complete", 300_000]);
});

test("complete means every entry, whatever the pages and wherever they fail", async () => {
  const page = fc.array(fc.nat(), { maxLength: 4 });
  const cases: { pages: number[][]; failsAt: number | undefined }[] = [];
  holds(
    fc.property(fc.array(page, { minLength: 1, maxLength: 5 }), fc.option(fc.nat(5)), (pages, failsAt) => {
      cases.push({ pages, failsAt: failsAt ?? undefined });
    }),
  );
  for (const { pages, failsAt } of cases) {
    const walk = pages.map((entries, index): readonly [string | undefined, Answer] => {
      const next = index + 1 < pages.length ? { next: `page ${index + 1}` } : {};
      return [
        index === 0 ? undefined : `page ${index}`,
        index === failsAt ? new Error("broken") : { entries, ...next },
      ];
    });
    const { inventory } = await read(listing(walk).lister);
    const reached = failsAt === undefined || failsAt >= pages.length ? pages : pages.slice(0, failsAt);
    const whole = reached === pages;
    assert.deepEqual(inventory.entries, reached.flat());
    assert.equal(inventory.completeness, whole ? "complete" : failsAt === 0 ? "failed" : "partial");
  }
});

test("an entry that is listed twice means that another one was not read", async () => {
  const clock = new ManualClock();
  const pages = [
    { entries: ["a", "b"], ids: ["1", "2"], next: "2", total: 4 },
    { entries: ["b", "c"], ids: ["2", "3"], total: 4 },
  ];
  let call = 0;
  const lister = async () => pages[call++ % 2] ?? assert.fail();
  const { inventory } = await readInventory(clock, lister, new AbortController().signal);
  assert.equal(inventory.completeness, "partial");
  assert.match(inventory.proof, /listed twice/);
});

test("close to the provider's limit everybody waits until a twentieth of it is back", () => {
  assert.equal(waitForRate({ limit: 3_600, remaining: 181, fullInMs: 3_419_000 }), 0);
  assert.equal(waitForRate({ limit: 3_600, remaining: 180, fullInMs: 3_420_000 }), 1_000);
  assert.equal(waitForRate({ limit: 3_600, remaining: 0, fullInMs: 3_600_000 }), 181_000);
});
