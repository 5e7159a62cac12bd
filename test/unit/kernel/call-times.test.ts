import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts } from "../../../src/kernel/accounts.ts";
import { RetryableError } from "../../../src/kernel/errors.ts";
import type { Provider } from "../../../src/ports/provider.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { unclaimedAccount as account } from "../../support/unclaimed-account.ts";

function lab() {
  const clock = new ManualClock();
  const told: (readonly number[])[] = [];
  let given = 1;
  const provider: Provider = {
    name: "lab",
    settleMs: 0,
    callTimeoutMs: 1_000,
    open: () => ({
      identity: async () => {
        clock.advance(30);
        return { fingerprint: "f", sentinel: undefined };
      },
      collections: {},
      reader: undefined,
      writer: undefined,
    }),
  };
  const accounts = new Accounts({
    providers: new Map([["lab", provider]]),
    clock,
    store: {
      takeCalls: async ({ tookMs }) => {
        told.push([...tookMs]);
        return { taken: given, retryInMs: 1 };
      },
      blockCalls: async () => {},
    },
  });
  return { clock, accounts, told, give: (calls: number) => (given = calls) };
}

test("what a call took is told with the next calls that are taken, once, also when it failed", async () => {
  const { clock, accounts, told } = lab();
  await accounts.takeCall(account, false);
  await accounts.timed(account, async () => clock.advance(12));
  await assert.rejects(
    accounts.timed(account, async () => {
      clock.advance(900);
      throw new Error("no answer");
    }),
  );
  await accounts.takeCall(account, false);
  await accounts.takeCall(account, false);
  assert.deepEqual(told, [[], [12, 900], []]);
});

test("where no call is given nothing is forgotten, and no more than the newest are kept", async () => {
  const { clock, accounts, told, give } = lab();
  for (let ms = 1; ms <= 100; ms++) await accounts.timed(account, async () => clock.advance(ms));
  give(0);
  await assert.rejects(accounts.takeCall(account, false), RetryableError);
  give(1);
  await accounts.timed(account, async () => clock.advance(200));
  await accounts.takeCall(account, false);
  assert.deepEqual(
    told.map((tookMs) => [tookMs.length, tookMs.at(-1)]),
    [
      [64, 100],
      [64, 200],
    ],
  );
});

test("the calls of the accounts themselves are timed, and what has no account is not", async () => {
  const { clock, accounts, told } = lab();
  await accounts.identity(account, { notBeforeMonotonicMs: 0, signal: new AbortController().signal });
  await accounts.timed(undefined, async () => clock.advance(5));
  await accounts.takeCall(account, false);
  assert.deepEqual(told.at(-1), [30]);
});
