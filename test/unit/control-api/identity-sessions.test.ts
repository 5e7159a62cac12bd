import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionReader } from "../../../src/control-api/authentication/session-reader.ts";
import type { SessionRecord } from "../../../src/ports/identity-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const person = {
  id: "1",
  email: "ada@example.test",
  name: "Ada",
  state: "active",
  platformRole: "none",
  verified: true,
  createdAtMs: 0,
} as const;
const record: SessionRecord = {
  id: "s",
  person,
  createdAtMs: 0,
  lastSeenAtMs: 0,
  endsAtMs: 0,
  provenForMs: 60_000,
  address: "192.0.2.1",
  userAgent: "test",
};
const proof = { authorization: "Bearer spt_ses_token", cookie: undefined, method: "GET", headers: {} };

function reader(clock: ManualClock, onlySecure = false) {
  const kept: { session: SessionRecord | undefined; broken: boolean } = { session: record, broken: false };
  const store = {
    session: async () => {
      if (kept.broken) throw new Error("the database is away");
      return kept.session;
    },
  };
  const rights = { bindingsOfPerson: async () => [] };
  return { kept, sessions: new SessionReader({ store, rights, clock, onlySecure }) };
}

test("a session that another process ended is refused within two seconds, one that this process ended at once", async () => {
  const clock = new ManualClock();
  const { kept, sessions } = reader(clock);
  const caller = await sessions.read(proof);
  assert.equal(caller?.principal.name, "ada@example.test");
  assert.equal(caller.provenAtMs, clock.nowMs() - 60_000, "by the store's clock, whatever ours says");
  kept.session = undefined;
  clock.advance(1_999);
  assert.ok(await sessions.read(proof), "it may still be believed");
  clock.advance(1);
  await assert.rejects(sessions.read(proof), /This session has ended/);
  kept.session = record;
  sessions.forget();
  const watching = await sessions.read(proof);
  assert.ok(watching);
  kept.session = undefined;
  sessions.forget();
  await assert.rejects(sessions.read(proof), /This session has ended/);
  assert.equal(await sessions.renew(watching), undefined, "whoever watches is told as well");
});

test("a database that is away is no reason to forget anybody, nor to let anybody in", async () => {
  const { kept, sessions } = reader(new ManualClock());
  kept.broken = true;
  await assert.rejects(sessions.read(proof), /the database is away/);
  kept.broken = false;
  assert.ok(await sessions.read(proof), "asked again, and not remembered");
});

test("what is no session of ours is left to the other readers", async () => {
  const { sessions } = reader(new ManualClock());
  assert.equal(await sessions.read({ ...proof, authorization: "Bearer setpoint_op_token" }), undefined);
  assert.equal(await sessions.read({ ...proof, authorization: undefined }), undefined);
  const both = { ...proof, authorization: "Bearer setpoint_op_token", cookie: "setpoint=spt_ses_token" };
  assert.equal(await sessions.read(both), undefined, "a header comes before a cookie");
});
