import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import { items, Lab, names, verdictOf } from "../../support/lab.ts";
import { labKinds } from "../../support/lab-kinds.ts";

const timeout = () => new RetryableError("TIMED_OUT", "the answer was lost", { ambiguous: true });
const unavailable = () => new RetryableError("PROVIDER_UNAVAILABLE", "503 come back", { ambiguous: false });
const set = (...keys: string[]) => ({ account: "main", items: items(...keys) });

describe("bad declarations", () => {
  test("a spec that stops parsing stalls that resource with its field errors, and can still be deleted", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set(...names(6)));
    await lab.declare("Shelf/other", set("z"));
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", { account: "main", items: { a: { value: 7, colour: "red" } } });
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.result, report.nextInMs], ["stalled", 3_600_000]);
    assert.match(
      lab.ready("Shelf/s"),
      /SPEC_INVALID: Shelf\/s: \/spec\/items\/a\/value: .*\/spec\/items\/a\/colour: unknown field/,
    );
    assert.deepEqual(lab.main.keys("s"), names(6));
    assert.equal((await lab.rest("Shelf/other")).result, "converged");

    await lab.remove("Shelf/s", { confirmedCount: 6 });
    // One call at a time goes wrong, so that leaving takes several cycles of which each reads what was remembered.
    lab.main.fail("remove", unavailable());
    lab.clock.advance(15_000);
    await lab.cycle("Shelf/s");
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
    assert.deepEqual(lab.main.keys(), ["z"]);
  });

  test("an unknown kind stalls, looks at nothing and deletes nothing, and goes on when it is installed again", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a", "b"));
    await lab.rest("Shelf/s");
    const calls = lab.main.calls.length;
    lab.kinds = new Map([...labKinds].filter(([kind]) => kind !== "Shelf"));
    await lab.remove("Shelf/s", { confirmedCount: 2 });
    const report = await lab.cycle("Shelf/s");
    assert.equal(report.result, "stalled");
    assert.match(lab.ready("Shelf/s"), /No loop is installed for the kind 'Shelf'/);
    assert.deepEqual([lab.main.keys(), lab.main.calls.length], [["a", "b"], calls]);
    lab.kinds = labKinds;
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
  });

  test("an item declared twice, or without a name, stalls with what to do", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    await lab.declare("Part/one", { of: "s", kind: "Shelf", key: "a", value: "x" });
    await lab.cycle("Shelf/s");
    assert.match(lab.ready("Shelf/s"), /'a' is declared twice; remove one/);
    await lab.declare("Part/one", { of: "s", kind: "Shelf", key: "", value: "x" });
    const nameless = await lab.cycle("Shelf/s");
    assert.equal(verdictOf(nameless, "no-wildcards")?.answer, "refuse");
    assert.deepEqual(lab.main.keys(), []);
  });
});

describe("a create whose answer is lost", () => {
  for (const kind of ["Shelf", "Ledger", "Register"]) {
    test(`${kind}: what was made is adopted, not made again`, async () => {
      const lab = await Lab.open();
      lab.main.uniqueNames = false;
      await lab.declare(`${kind}/s`, set("a"));
      lab.main.fail(kind === "Register" ? "apply" : "create", timeout(), { after: true });
      const report = await lab.cycle(`${kind}/s`);
      assert.equal(report.result, "failed");
      assert.deepEqual(lab.main.keys(), ["a"]);
      assert.equal((await lab.rest(`${kind}/s`)).result, "converged");
      assert.deepEqual([lab.main.keys(), lab.owned(`${kind}/s`)], [["a"], ["a"]]);
      assert.deepEqual(lab.changes(), ["create a ambiguous", "adopt a done"]);
    });

    test(`${kind}: what was not made is made, once it must have shown`, async () => {
      const lab = await Lab.open({ settleMs: 10_000 });
      await lab.declare(`${kind}/s`, set("a"));
      const startedAtMs = lab.clock.nowMs();
      lab.main.fail(kind === "Register" ? "apply" : "create", timeout());
      await lab.cycle(`${kind}/s`);
      assert.equal((await lab.rest(`${kind}/s`)).result, "converged");
      assert.deepEqual(lab.main.keys(), ["a"]);
      const [, again] = [...lab.store.state.tables.changes.values()].filter(({ record }) => record.action === "create");
      assert.ok((again?.atMs ?? 0) - startedAtMs >= 45_000, "the call's time, its margin and the settle time");
    });

    test(`${kind}: deleted before its answer came, it is found and removed`, async () => {
      const lab = await Lab.open();
      await lab.declare(`${kind}/s`, set("a"));
      lab.main.fail(kind === "Register" ? "apply" : "create", timeout(), { after: true });
      await lab.cycle(`${kind}/s`);
      await lab.remove(`${kind}/s`, { confirmedCount: 1 });
      assert.equal((await lab.rest(`${kind}/s`)).result, "gone");
      assert.deepEqual(lab.main.keys(), []);
    });
  }

  test("when it surely did nothing, it is tried again at once", async () => {
    const lab = await Lab.open({ settleMs: 10_000 });
    await lab.declare("Shelf/s", set("a"));
    lab.main.fail("create", unavailable());
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.result, report.nextInMs], ["failed", 750]);
    lab.clock.advance(750);
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
  });
});

describe("a lost answer of the store means perhaps", () => {
  for (const method of ["permit", "recordOutcome"] as const) {
    for (const when of ["before", "after"] as const) {
      test(`${method}, lost ${when} it was done: everything is made once and ours in the end`, async () => {
        const lab = await Lab.open();
        lab.main.uniqueNames = false;
        await lab.declare("Ledger/s", set("a"));
        await lab.rest("Ledger/s");
        await lab.declare("Ledger/s", set("a", "b", "c"));
        lab.loseStore(method, when);
        assert.equal((await lab.cycle("Ledger/s")).result, "failed");
        assert.equal(lab.main.keys().includes("b"), method === "recordOutcome", "no permit, no call");
        assert.equal((await lab.rest("Ledger/s")).result, "converged");
        assert.deepEqual(
          [lab.main.keys(), lab.owned("Ledger/s")],
          [
            ["a", "b", "c"],
            ["a", "b", "c"],
          ],
        );
      });
    }
  }

  test("an unrecorded delete is not taken back, and not made again", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set(...names(5)));
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", set(...names(4)));
    await lab.cycle("Shelf/s");
    lab.clock.advance(60_001);
    lab.loseStore("recordOutcome", "before");
    assert.equal((await lab.cycle("Shelf/s")).result, "failed");
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual([lab.main.keys(), lab.owned("Shelf/s"), lab.main.count("remove")], [names(4), names(4), 1]);
  });

  test("without a reservation nothing is deleted, and what was written before it is remembered", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set(...names(5)));
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", set(...names(4)));
    await lab.cycle("Shelf/s");
    await lab.declare("Shelf/s", set(...names(4), "new"));
    lab.clock.advance(60_001);
    lab.loseStore("reserveDeletes", "before");
    assert.equal((await lab.cycle("Shelf/s")).result, "failed");
    assert.deepEqual([lab.main.keys(), lab.main.count("remove")], [[...names(5), "new"], 0]);
    assert.ok(lab.owned("Shelf/s").includes("new"));
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), [...names(4), "new"]);
  });
});

describe("failures", () => {
  test("back off, and a provider's Retry-After wins and holds for every process", async () => {
    const lab = await Lab.open();
    await lab.declare("Ledger/s", set("a"));
    lab.main.fail("zone", unavailable(), { times: 3 });
    const waits: (number | undefined)[] = [];
    for (let cycle = 0; cycle < 3; cycle++) waits.push((await lab.cycle("Ledger/s")).nextInMs);
    assert.deepEqual(waits, [750, 1_500, 3_000]);
    assert.match(lab.ready("Ledger/s"), /^LookFailed: PROVIDER_UNAVAILABLE: 503/);
    lab.main.fail("zone", new RetryableError("RATE_LIMITED", "429", { afterMs: 42_000, ambiguous: false }));
    const limited = await lab.cycle("Ledger/s");
    assert.deepEqual([limited.result, limited.nextInMs], ["waiting", 42_000]);
    await lab.restart();
    const other = await lab.cycle("Ledger/s");
    assert.deepEqual([other.result, other.nextInMs], ["waiting", 42_000]);
    lab.clock.advance(42_000);
    assert.equal((await lab.rest("Ledger/s")).result, "converged");
    assert.equal(lab.subject("Ledger/s").memory.attempts, 0);
  });

  test("a 429 to a listing's first page blocks the account too, and our own budget never does", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    lab.main.fail("list", new RetryableError("RATE_LIMITED", "429", { afterMs: 30_000, ambiguous: false }));
    assert.equal((await lab.cycle("Shelf/s")).nextInMs, 30_000);
    const account = lab.store.state.tables.accounts.get("main");
    assert.equal(account?.blockedUntilMs, lab.clock.nowMs() + 30_000);
    lab.clock.advance(30_000);
    assert.ok(account !== undefined);
    Object.assign(account, { callsPerSecond: 0.1, tokens: 0, emptyAtMs: lab.clock.nowMs() });
    const starved = await lab.cycle("Shelf/s", { trigger: "resync" });
    assert.equal(starved.result, "waiting");
    assert.ok(account.blockedUntilMs <= lab.clock.nowMs());
  });

  test("running out of calls in the middle is waiting, not failing", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a", "b", "c"));
    lab.main.fail("create", new RetryableError("RATE_LIMITED", "429", { afterMs: 5_000, ambiguous: false }));
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.result, report.nextInMs], ["waiting", 5_000]);
    assert.equal(lab.subject("Shelf/s").memory.attempts, 0);
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
  });

  test("a hint to retry at once does not become a loop without a pause", async () => {
    const lab = await Lab.open();
    await lab.declare("Ledger/s", set("a"));
    lab.main.fail("zone", new RetryableError("PROVIDER_UNAVAILABLE", "503", { afterMs: 0 }), { times: 4 });
    for (let cycle = 0; cycle < 3; cycle++) await lab.cycle("Ledger/s");
    assert.equal((await lab.cycle("Ledger/s")).nextInMs, 6_000);
  });

  test("what is told to wait, and still is not so, is asked ever more rarely", async () => {
    const lab = await Lab.open();
    await lab.declare("Ledger/s", set("a"));
    const missing = new RetryableError("DEPENDENCY_NOT_READY", "there is no network backend (yet)", {
      afterMs: 15_000,
      ambiguous: false,
    });
    lab.main.fail("zone", missing, { times: 8 });
    const waits: (number | undefined)[] = [];
    for (let cycle = 0; cycle < 8; cycle++) waits.push((await lab.cycle("Ledger/s")).nextInMs);
    assert.deepEqual(waits, [15_000, 15_000, 15_000, 15_000, 15_000, 24_000, 48_000, 96_000]);
  });

  test("a terminal error stops that item only, and is tried again when an input changes or after an hour", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a", "b"));
    lab.main.fail("create", new TerminalError("PROVIDER_REFUSED", "422 the name is reserved"));
    const report = await lab.rest("Shelf/s");
    assert.deepEqual([report.result, lab.main.keys()], ["refused", ["b"]]);
    assert.deepEqual(verdictOf(report, "all-or-nothing")?.keys, ["a"]);
    const creates = lab.main.count("create");
    await lab.rest("Shelf/s");
    assert.equal(lab.main.count("create"), creates);
    await lab.declare("Shelf/s", set("a", "b", "c"));
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), ["a", "b", "c"]);

    lab.main.fail("update", new TerminalError("PROVIDER_REFUSED", "422"));
    lab.main.edit("a", { value: "by hand" });
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("a"), "by hand");
    lab.clock.advance(3_600_000);
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("a"), "x");
  });

  test("a person who says reconcile tries what had stopped", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    lab.main.fail("create", new TerminalError("PROVIDER_REFUSED", "422"));
    await lab.rest("Shelf/s");
    await lab.store.reconcileNow({ organizationId: "o", uid: lab.subject("Shelf/s").resourceUid });
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
  });

  test("no call starts that could outlive the lease", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    lab.leaseRemainingMs = 29_999;
    const report = await lab.cycle("Shelf/s");
    assert.match(verdictOf(report, "permit")?.reason ?? "", /the lease could end/);
    assert.deepEqual([lab.main.keys(), lab.main.sentinel], [[], undefined]);
    assert.ok((report.nextInMs ?? 0) >= 1_000);
    lab.leaseRemainingMs = 30_000;
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a"]);
  });
});

describe("caps", () => {
  test("more changes than the cap converge cycle by cycle", async () => {
    const lab = await Lab.open();
    await lab.policy({ limits: { changesPerCycle: 4 } });
    await lab.declare("Shelf/s", set(...names(10)));
    const written: number[] = [];
    for (let cycle = 0; cycle < 3; cycle++) {
      const report = await lab.cycle("Shelf/s");
      written.push(report.written);
      if (cycle < 2) assert.equal(report.nextInMs, 1);
      lab.clock.advance(1);
    }
    assert.deepEqual(written, [4, 4, 2]);
    assert.deepEqual(lab.main.keys(), names(10));
  });

  test("a cap of nothing changes nothing, and does not run in circles", async () => {
    const lab = await Lab.open();
    await lab.policy({ ceiling: { changesPerCycle: 0 } });
    await lab.declare("Shelf/s", set("a"));
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.written, report.nextInMs], [0, undefined]);
  });
});

describe("batches", () => {
  test("a mixed plan is one permit and one call", async () => {
    const lab = await Lab.open();
    await lab.declare("Register/s", set(...names(6)));
    await lab.rest("Register/s");
    const changed = {
      ...(items(...names(5).slice(1)) as object),
      k01: { value: "newer", size: 1 },
      k99: { value: "x", size: 1 },
    };
    await lab.declare("Register/s", { account: "main", items: changed });
    await lab.cycle("Register/s");
    lab.main.drop("k99");
    lab.main.edit("k01", { value: "by hand" });
    lab.clock.advance(61_000);
    lab.writes.length = 0;
    const calls = lab.main.count("apply");
    const report = await lab.cycle("Register/s");
    assert.equal(report.written, 3);
    assert.deepEqual(
      [lab.main.count("apply") - calls, lab.writes.filter((write) => write === "permit").length],
      [1, 1],
    );
    assert.deepEqual(lab.main.keys(), [...names(5), "k99"]);
    assert.equal(lab.main.valueOf("k01"), "newer");
  });

  test("what the provider refuses for good keeps only what belongs to it from being changed", async () => {
    const lab = await Lab.open();
    lab.main.refuses.add("forbidden");
    const wanted = { ...(items(...names(9)) as object), k03: { value: "forbidden" }, "k03-b": { value: "x" } };
    await lab.declare("Register/s", { account: "main", items: wanted });
    await lab.cycle("Register/s");
    const others = names(9).filter((name) => name !== "k03");
    assert.deepEqual(lab.main.keys(), others);
    assert.ok(lab.main.count("apply") <= 9, `halves, and not one by one: ${lab.main.count("apply")} calls`);
    assert.deepEqual(
      lab.subject("Register/s").memory.stops?.map(({ key }) => key),
      ["k03", "k03-b"],
    );
    const calls = lab.main.count("apply");
    await lab.rest("Register/s");
    assert.equal(lab.main.count("apply"), calls, "it is not tried again with the same inputs");
    await lab.declare("Register/s", { account: "main", items: { ...wanted, k03: { value: "x" } } });
    await lab.rest("Register/s");
    assert.deepEqual(lab.main.keys(), [...names(9), "k03-b"].sort());
  });

  test("a provider that refuses everything is not asked about each of them", async () => {
    const lab = await Lab.open();
    lab.main.refuses.add("x");
    const wanted = Object.fromEntries(names(50).map((name) => [name, { value: "x" }]));
    await lab.declare("Register/s", { account: "main", items: wanted });
    await lab.cycle("Register/s");
    assert.deepEqual(lab.main.keys(), []);
    assert.ok(lab.main.count("apply") <= 41, `${lab.main.count("apply")} calls`);
    assert.equal(lab.subject("Register/s").memory.stops?.length, 50);
  });

  test("what is refused for a reason that is not about one of them is one call", async () => {
    const lab = await Lab.open();
    lab.main.fail("apply", new TerminalError("NOT_FOUND", "there is no such register"));
    await lab.declare("Register/s", set(...names(4)));
    await lab.cycle("Register/s");
    assert.deepEqual([lab.main.count("apply"), lab.main.keys()], [1, []]);
  });

  test("deletes of a batch that a shared budget refuses stay, the rest of the batch goes on", async () => {
    const lab = await Lab.open();
    await lab.policy({ limits: { deletesPerHour: { account: { count: 0, percent: 0, atLeast: 0 } } } });
    await lab.declare("Register/s", set(...names(5)));
    await lab.rest("Register/s");
    await lab.declare("Register/s", {
      account: "main",
      items: { ...(items(...names(4)) as object), k99: { value: "x" } },
    });
    const report = await lab.rest("Register/s");
    assert.equal(report.result, "held");
    assert.deepEqual(lab.main.keys(), [...names(5), "k99"]);
    assert.equal(lab.held()[0]?.level, "account");
  });
});

describe("something that goes wrong again and again", () => {
  for (const [what, error] of [
    ["whose answer is lost", timeout],
    ["that is refused for now", unavailable],
  ] as const)
    test(`a write ${what} is tried ever less often, also where each try is followed by a wait to see what it did`, async () => {
      const lab = await Lab.open({ settleMs: 5_000 });
      await lab.declare("Shelf/s", set("a"));
      await lab.rest("Shelf/s");
      lab.main.edit("a", { value: "by hand" });
      lab.main.fail("update", error(), { times: 100 });
      lab.clock.advance(15_000);
      const triedAtMs: number[] = [];
      while (triedAtMs.length < 8) {
        const before = lab.main.count("update");
        const { nextInMs } = await lab.cycle("Shelf/s");
        if (lab.main.count("update") > before) triedAtMs.push(lab.clock.nowMs());
        assert.ok(nextInMs !== undefined);
        lab.clock.advance(nextInMs);
      }
      const [first = 0, last = 0] = [triedAtMs[0], triedAtMs.at(-1)];
      assert.ok(last - first > 60_000, `eight tries within ${last - first} ms`);
    });
});
