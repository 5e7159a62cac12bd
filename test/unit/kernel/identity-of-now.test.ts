import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts } from "../../../src/kernel/accounts.ts";
import type { AccountIdentity, Provider } from "../../../src/ports/provider.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { unclaimedAccount as unclaimed } from "../../support/unclaimed-account.ts";

test("who an account is, is asked anew once another process has claimed it, and not for every look after that", async () => {
  const clock = new ManualClock();
  const outside: Pick<AccountIdentity, "sentinel"> = { sentinel: undefined };
  let asked = 0;
  const provider: Provider = {
    name: "lab",
    settleMs: 0,
    callTimeoutMs: 1_000,
    open: () => ({
      identity: async () => {
        asked += 1;
        return { fingerprint: outside.sentinel === undefined ? "nobody's" : "key 7", ...outside };
      },
      collections: {},
      reader: undefined,
      writer: undefined,
    }),
  };
  const store = { takeCalls: async () => ({ taken: 8, retryInMs: 0 }), blockCalls: async () => {} };
  const accounts = new Accounts({ providers: new Map([["lab", provider]]), clock, store });
  // A look that was begun then may rest on any answer since.
  const options = { notBeforeMonotonicMs: clock.monotonicMs(), signal: new AbortController().signal };
  assert.equal((await accounts.identity(unclaimed, options)).fingerprint, "nobody's");
  Object.assign(outside, { sentinel: { installationId: "i", incarnation: 1 } });
  const claimed = { ...unclaimed, fingerprint: "key 7", claimedIncarnation: 1 };
  assert.equal((await accounts.identity(claimed, options)).fingerprint, "key 7");
  assert.equal((await accounts.identity(claimed, options)).fingerprint, "key 7");
  assert.equal(asked, 2);
});
