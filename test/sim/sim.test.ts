import assert from "node:assert/strict";
import { test } from "node:test";
import { runSeed } from "./run-seed.ts";

const steps = 2_000;

test("50 seeds hold every invariant, come right after the faults, and then do nothing", async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { failure } = await runSeed({ seed, steps });
    assert.equal(failure, undefined, `${failure?.message}\nreplay: npm run sim -- --seed ${seed} --steps ${steps}`);
  }
});

test("a seed replays to the same digest, and another seed has another one", async () => {
  const first = await runSeed({ seed: 7, steps });
  const again = await runSeed({ seed: 7, steps });
  const other = await runSeed({ seed: 8, steps });
  assert.deepEqual(again, first);
  assert.notEqual(other.digest, first.digest);
});

test("real time and real randomness are out of reach while the simulation steps", async () => {
  const reached: string[] = [];
  const probe = (name: string, use: () => unknown) => {
    try {
      use();
      reached.push(name);
    } catch (thrown) {
      assert.match(String(thrown), /was used inside the simulation/);
    }
  };
  const onStep = () => {
    probe("Date.now", () => Date.now());
    probe("new Date", () => new Date());
    probe("Math.random", () => Math.random());
    probe("setTimeout", () => setTimeout(() => {}, 0));
    probe("performance.now", () => performance.now());
    probe("crypto.randomUUID", () => crypto.randomUUID());
  };
  await runSeed({ seed: 9, steps: 20, onStep });
  assert.deepEqual(reached, []);
  assert.ok(Date.now() > 0, "and back again afterwards");
});

test("the runs are not empty: things are made, changed and deleted outside", async () => {
  const { effects, changes, cycles } = await runSeed({ seed: 1, steps });
  assert.ok(effects > 10 && changes > 10 && cycles > 50, JSON.stringify({ effects, changes, cycles }));
});
