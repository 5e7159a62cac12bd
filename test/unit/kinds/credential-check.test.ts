import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const clouds = [
  { family: "hetzner-cloud", probe: "POST /ssh_keys" },
  { family: "ionos", probe: "POST /datacenters" },
] as const;
type Family = (typeof clouds)[number]["family"];
const name = "ComputeProvider/main";
const forActing = worldToken("demo");

const networks = {
  "hetzner-cloud": { account: "demo", range: "10.0.0.0/16" },
  ionos: { account: "demo", location: "here" },
};

function accountRow(lab: CloudLab) {
  const rows = [...lab.bench.store.state.tables.accounts.values()];
  return rows.find(({ record }) => record.name === "demo") ?? assert.fail("no account");
}

/** An account with a credential for looking and another one for acting, whose state the looks do not show. */
async function watched(family: Family, mode: "observe" | "enforce" = "enforce"): Promise<CloudLab> {
  const lab = await CloudLab.open({ cloud: family });
  const row = accountRow(lab);
  row.record = {
    ...row.record,
    credentialRef: `token:${forActing}`,
    readCredentialRef: `token:${worldToken("demo", "read")}`,
  };
  await lab.bench.declare(name, { account: "demo", family }, { mode });
  await lab.bench.pass({ minutes: 1 });
  return lab;
}

function bookOf(lab: CloudLab, family: Family) {
  return (lab.world.clouds.find((cloud) => cloud.name === family) ?? assert.fail("no cloud")).book;
}

/** What was asked that could have written something, but for what was left at onboarding. */
function asked(lab: CloudLab, after = 0): readonly string[] {
  const requests = lab.world.log.after(after).filter(({ method }) => method !== "GET");
  return requests.filter(({ status }) => status >= 400).map(({ method, path }) => `${method} ${path}`);
}

function said(lab: CloudLab, about: string): string | undefined {
  const conditions = lab.bench.statuses(name).flatMap((status) => status?.conditions ?? []);
  return conditions.find(({ type }) => type === `Report/${about}`)?.message;
}
const refused = (lab: CloudLab) => said(lab, "CredentialRefused");

const credentialOf = (lab: CloudLab) =>
  (lab.bench.statuses(name)[0]?.report as { readonly credential?: unknown } | undefined)?.credential;

for (const { family, probe } of clouds)
  describe(`the credential of an account at ${family}`, () => {
    test("is asked whether it may write once an hour, and not with every look", async () => {
      const lab = await watched(family);
      await lab.bench.pass({ minutes: 5 });
      assert.deepEqual(credentialOf(lab), { write: "allowed" });
      const [before, changes] = [lab.lastRequest, lab.bench.history(name).length];
      await lab.bench.pass({ minutes: 180 });
      const times = asked(lab, before);
      assert.ok(times.length >= 2 && times.length <= 3, `asked ${times.length} times in three hours`);
      assert.ok(times.every((request) => request === probe));
      assert.equal(lab.bench.history(name).length, changes, "it is no change");
      await lab.bench.stop();
    });

    test("that may only read by now is told of before a change needs it, and that it may again", async () => {
      const lab = await watched(family);
      assert.equal(refused(lab), undefined);
      bookOf(lab, family).addToken({ token: forActing, account: "demo", access: "read" });
      await lab.bench.pass({ minutes: 75 });
      assert.match(refused(lab) ?? "", /account 'demo' may not write, so the next change there will be refused: /);
      assert.match(refused(lab) ?? "", /setpoint secret set-credential demo.*or set the mode to observe/);
      assert.match(lab.bench.ready(name), /^Converged/, "what is there is seen with the other one");
      bookOf(lab, family).addToken({ token: forActing, account: "demo", access: "read-write" });
      await lab.bench.pass({ minutes: 15 });
      assert.deepEqual([refused(lab), credentialOf(lab)], [undefined, { write: "allowed" }]);
      await lab.bench.stop();
    });

    test("that was revoked is told of in the provider's words", async () => {
      const lab = await watched(family);
      bookOf(lab, family).revokeToken(forActing);
      await lab.bench.pass({ minutes: 75 });
      assert.match(refused(lab) ?? "", /answered 401 to the question whether the token may write: .*Check the account/);
      bookOf(lab, family).addToken({ token: forActing, account: "demo", access: "read-write" });
      await lab.bench.pass({ minutes: 15 });
      assert.equal(refused(lab), undefined);
      await lab.bench.stop();
    });

    test("is not called refused because the question was not answered", async () => {
      const lab = await watched(family);
      const before = credentialOf(lab);
      lab.fault({ kind: "error", method: "POST", status: 503 });
      await lab.bench.pass({ minutes: 130 });
      assert.deepEqual([refused(lab), credentialOf(lab)], [undefined, before]);
      lab.heal();
      lab.fault({ kind: "rate-limit", method: "POST", retryAfterSeconds: 5 });
      await lab.bench.pass({ minutes: 130 });
      assert.deepEqual([refused(lab), credentialOf(lab)], [undefined, before]);
      await lab.bench.stop();
    });

    test("is asked nothing that looks like a write in observe, nor while writes are stopped", async () => {
      const observing = await watched(family, "observe");
      await observing.bench.pass({ minutes: 130 });
      const wrote = observing.world.log.after(0).filter(({ method }) => method !== "GET");
      assert.deepEqual([wrote, credentialOf(observing)], [[], {}]);
      await observing.bench.stop();
      const lab = await watched(family);
      const thaw = await lab.bench.freeze("writes", "an incident");
      const before = lab.lastRequest;
      await lab.bench.pass({ minutes: 130 });
      assert.deepEqual(asked(lab, before), []);
      await thaw();
      await lab.bench.pass({ minutes: 75 });
      assert.ok(asked(lab, before).length > 0);
      await lab.bench.stop();
    });

    test("of another account is told of, though nothing is to be changed", async () => {
      const lab = await watched(family);
      await lab.bench.declare("CloudNetwork/ours", networks[family]);
      if (family === "ionos") lab.console("POST", "/datacenters", { properties: { name: "here", location: "de/fra" } });
      await lab.bench.pass({ minutes: 15 });
      assert.match(lab.bench.ready("CloudNetwork/ours"), /^Converged/);
      assert.deepEqual(said(lab, "AnotherAccount"), undefined);
      const row = accountRow(lab);
      const known = row.record.fingerprint;
      row.record = { ...row.record, credentialRef: `token:${worldToken("other")}` };
      await lab.bench.pass({ minutes: 15 });
      assert.match(said(lab, "AnotherAccount") ?? "", /answers as another one than it is known by .*different/);
      assert.match(said(lab, "AnotherAccount") ?? "", /setpoint secret set-credential demo/);
      row.record = { ...row.record, credentialRef: `token:${forActing}` };
      await lab.bench.pass({ minutes: 15 });
      assert.deepEqual([said(lab, "AnotherAccount"), row.record.fingerprint], [undefined, known]);
      await lab.bench.stop();
    });
  });

test("both credentials of another contract are told of at IONOS, where nothing is left that could be missing", async () => {
  const lab = await watched("ionos");
  lab.console("POST", "/datacenters", { properties: { name: "here", location: "de/fra" } });
  await lab.bench.declare("CloudNetwork/ours", networks.ionos);
  await lab.bench.pass({ minutes: 15 });
  lab.fault({ kind: "other-account", as: "other", account: "demo" });
  await lab.bench.pass({ minutes: 75 });
  assert.match(said(lab, "AnotherAccount") ?? "", /answers as another one .*\(ionos: contract \d+\)/);
  lab.heal();
  await lab.bench.pass({ minutes: 15 });
  assert.equal(said(lab, "AnotherAccount"), undefined);
  await lab.bench.stop();
});
