import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts } from "../../../src/kernel/accounts.ts";
import type { Engine } from "../../../src/kernel/claim.ts";
import type { Provider } from "../../../src/ports/provider.ts";
import { startScheduler } from "../../../src/scheduler/scheduler.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { FakeStore, fakeEngine } from "./fake-store.ts";

function engineWith(callTimeouts: Readonly<Record<string, number>>): {
  readonly engine: Engine;
  readonly store: FakeStore;
} {
  const clock = new VirtualClock();
  const store = new FakeStore(clock);
  const port = store.port();
  const providers = new Map<string, Provider>();
  for (const [name, callTimeoutMs] of Object.entries(callTimeouts)) {
    const open = () => assert.fail("no account is opened");
    providers.set(name, { name, settleMs: 0, callTimeoutMs, open });
  }
  const accounts = new Accounts({ providers, store: port, clock });
  return { engine: { ...fakeEngine({ store: port, clock }).engine, accounts }, store };
}

test("a provider whose calls outlast what a lease has left is refused at the start, by name", () => {
  const { engine } = engineWith({ quick: 10_000, slow: 15_000, slower: 60_000, endless: Number.NaN });
  assert.throws(
    () => startScheduler(engine, { holder: "a" }),
    (error: Error) => {
      assert.match(error.message, /provider 'slow' .*callTimeoutMs is 15000.* at most 10000/);
      assert.match(error.message, /provider 'slower' .*callTimeoutMs is 60000/);
      assert.match(error.message, /provider 'endless' .*callTimeoutMs is NaN/);
      assert.match(error.message, /leaseMs \(15000\) less renewEveryMs \(5000\)/);
      assert.match(error.message, /give its calls less time, or make leaseMs longer/i);
      assert.doesNotMatch(error.message, /quick/);
      return true;
    },
  );
});

test("a longer lease makes room for slower calls", async () => {
  const { engine } = engineWith({ slow: 15_000 });
  await using scheduler = startScheduler(engine, { holder: "a", leaseMs: 20_000 });
  assert.equal(scheduler.snapshot().running, 0);
});
