import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshWithinMs, lookEveryMs } from "../../src/control-api/dry-run.ts";
import { dryRunSchema } from "../../src/control-api/schemas/dry-run.ts";
import type { WaitSignal } from "../../src/ports/clock.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { addLab, base, declare, type Engine, observed, owning, record, takeEngine, zone } from "../support/zones.ts";

/** Whoever asks again and again whether it was looked at lets something happen first; then that much time has passed. */
class AskedClock extends ManualClock {
  asked = 0;
  meanwhile: () => Promise<void> = async () => {};

  override async wait(ms: number, signal?: WaitSignal): Promise<void> {
    if (ms !== lookEveryMs) return await super.wait(ms, signal);
    this.asked++;
    await this.meanwhile();
    this.advance(ms);
  }
}

let api: TestApi;
let engine: Engine;
let clock: AskedClock;

before(async () => {
  clock = new AskedClock(Date.now());
  api = await startTestApi({ clock });
  await addLab(api);
  engine = await takeEngine(api);
});
after(() => api[Symbol.asyncDispose]());

/** A zone with one record, which was not there when it was last looked at, an hour ago. */
async function seenLongAgo(name: string) {
  await declare(api, zone(name));
  const { uid } = (await declare(api, record(`www-${name}`, name, { name: "www" }))).metadata;
  await engine.settle(name, { observation: observed({}, Date.now() - 3_600_000) });
  return { uid, key: `www.${name}.test. A` };
}

async function plan(name: string, query: string) {
  clock.asked = 0;
  const answer = await api.send("PUT", `${base}/dnszones/${name}?dryRun=true${query}`, zone(name), whatever);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return dryRunSchema.parse(answer.body);
}

test("fresh=true has the owner look, and rests on what was seen then", async () => {
  const { uid, key } = await seenLongAgo("looked");
  const old = await plan("looked", "");
  assert.equal(clock.asked, 0, "without it nobody is asked");
  assert.deepEqual(old.subjects[0]?.sizes.create, 1);
  assert.ok((old.subjects[0].observation?.ageSeconds ?? 0) >= 3_599);

  clock.meanwhile = async () => {
    // The third time it is asked, the owner has looked: somebody had made the record meanwhile.
    if (clock.asked !== 3) return;
    const seen = observed({ [key]: ["192.0.2.1"] }, Date.now());
    await engine.settle("looked", { observation: seen, memory: owning([key], [uid]), nextInMs: 600_000 });
  };
  const fresh = await plan("looked", "&fresh=true");
  assert.equal(clock.asked, 3, "and it is answered as soon as that has happened");
  assert.deepEqual(fresh.subjects[0]?.sizes, { create: 0, update: 0, replace: 0, delete: 0 });
  assert.ok((fresh.subjects[0].observation?.ageSeconds ?? 99) <= 1);
  assert.ok(!fresh.notes.some((note) => note.includes("within 10 seconds")));
});

test("an owner that sees the same as before makes it no older than the question", async () => {
  const name = "same";
  await seenLongAgo(name);
  clock.meanwhile = async () => {
    // What is as it was is not stored again: the end of the cycle says that it was seen.
    if (clock.asked === 1) await engine.settle(name, { nextInMs: 600_000 });
  };
  const fresh = await plan(name, "&fresh=true");
  assert.equal(fresh.subjects[0]?.sizes.create, 1);
  assert.ok((fresh.subjects[0].observation?.ageSeconds ?? 99) <= 1);
});

test("when nobody looks within ten seconds it rests on what was seen before, and says so", async () => {
  await seenLongAgo("nobody");
  clock.meanwhile = async () => {};
  const stale = await plan("nobody", "&fresh=true");
  assert.equal(clock.asked, freshWithinMs / lookEveryMs);
  assert.equal(stale.subjects[0]?.sizes.create, 1);
  assert.ok((stale.subjects[0].observation?.ageSeconds ?? 0) >= 3_599);
  assert.ok(stale.notes.some((note) => note.includes("within 10 seconds")));
});
