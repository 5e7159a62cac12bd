import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const hetzner = { account: "demo", family: "hetzner-cloud" };
const sentinels = (lab: CloudLab, account = "demo") => lab.list<{ readonly name: string }>("ssh_keys", account);
const rowOf = (lab: CloudLab) =>
  [...lab.bench.store.state.tables.accounts.values()].find(({ record }) => record.name === "demo") ??
  assert.fail("no account");
const accountOf = (lab: CloudLab) => rowOf(lab).record;

async function onboarding(lab: CloudLab, mode: "observe" | "enforce", spec = hetzner) {
  await lab.bench.declare("ComputeProvider/main", spec, { mode });
  return await lab.finish(await lab.start("provider.onboard", "ComputeProvider/main"), 300);
}

/** What the account's credential is from now on, as when somebody stores another one. */
function useToken(lab: CloudLab, token: string): void {
  const row = rowOf(lab);
  row.record = { ...row.record, credentialRef: `token:${token}` };
}

describe("provider.onboard", () => {
  test("claims the account, records what it is known by, and has seen everything in it", async () => {
    const lab = await CloudLab.open();
    lab.console("POST", "/networks", { name: "theirs", ip_range: "10.0.0.0/16" });
    const { state, message } = await onboarding(lab, "enforce");
    assert.equal(state, "succeeded", message);
    assert.deepEqual(
      sentinels(lab).map(({ name }) => name),
      ["setpoint-sentinel-installation-1"],
    );
    assert.match(accountOf(lab).fingerprint ?? "", /^hetzner-cloud: SSH key \d+$/);
    assert.match(lab.bench.ready("ComputeProvider/main"), /^Converged/);
    assert.deepEqual(lab.writes(), [], "nothing but the sentinel was written");
    assert.equal(lab.list("networks").length, 1);
    await lab.bench.stop();
  });

  test("does not run in observe: neither a sentinel nor a question that looks like a write", async () => {
    const lab = await CloudLab.open();
    const { state, message } = await onboarding(lab, "observe");
    assert.equal(state, "not-run");
    assert.match(message, /^not run: observe mode/);
    await lab.bench.pass({ minutes: 11 });
    const wrote = lab.world.log.after(0).filter(({ method }) => method !== "GET");
    assert.deepEqual([wrote, sentinels(lab), accountOf(lab).fingerprint], [[], [], undefined]);
    assert.equal((await onboarding(lab, "enforce")).state, "succeeded", "leaving observe is what leaves the sentinel");
    assert.equal(sentinels(lab).length, 1);
    await lab.bench.stop();
  });

  test("is refused with a token that may only read, in the provider's words, and leaves nothing", async () => {
    const lab = await CloudLab.open();
    useToken(lab, worldToken("demo", "read"));
    const { state, message } = await onboarding(lab, "enforce");
    assert.equal(state, "not-run");
    assert.match(message, /may not write: token_readonly|may not write: forbidden/);
    assert.deepEqual([sentinels(lab), accountOf(lab).fingerprint], [[], undefined]);
    await lab.bench.stop();
  });

  test("waits for a person after one try with a token that opens nothing", async () => {
    const lab = await CloudLab.open();
    useToken(lab, "x".repeat(64));
    const before = lab.lastRequest;
    const { state, message } = await onboarding(lab, "enforce");
    assert.equal(state, "attention");
    assert.match(message, /CREDENTIAL_REFUSED/);
    assert.ok(lab.world.log.after(before).length < 10, "no storm of tries");
    await lab.bench.stop();
  });

  test("is not done before an inventory was complete", async () => {
    const lab = await CloudLab.open();
    lab.fault({ kind: "half-list", path: "^/servers$", share: 0.5, total: "kept" });
    for (const name of ["a", "b", "c"])
      lab.console("POST", "/servers", { name, server_type: "cx22", image: "debian-12", location: "fsn1" });
    const begun = await onboarding(lab, "enforce");
    assert.equal(begun.state, "running", begun.message);
    assert.match(begun.message, /inventory/);
    lab.heal();
    const { state, message } = await lab.finish(begun.id, 900);
    assert.equal(state, "succeeded", message);
    await lab.bench.stop();
  });

  test("does not lend its inventory to a host that is made right after it", async () => {
    const lab = await CloudLab.open({ pace: 0 });
    lab.workerStays = true;
    assert.equal((await onboarding(lab, "enforce")).state, "succeeded");
    await lab.bench.pass({ seconds: 2 });
    const spec = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
    await lab.bench.declare("Host/web-1", spec);
    const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
    assert.equal(state, "succeeded", message);
    assert.equal(lab.list("servers").length, 1);
    await lab.bench.stop();
  });

  test("knows a contract of IONOS by its number, and leaves nothing there", async () => {
    const lab = await CloudLab.open({ cloud: "ionos" });
    const { state, message } = await onboarding(lab, "enforce", { account: "demo", family: "ionos" });
    assert.equal(state, "succeeded", message);
    assert.match(accountOf(lab).fingerprint ?? "", /contract/);
    await lab.bench.stop();
  });
});

describe("a new credential", () => {
  test("of another project is not accepted: nothing is believed and nothing is written", async () => {
    const lab = await CloudLab.open();
    await onboarding(lab, "enforce");
    const rules = [{ protocol: "tcp", port: "22", cidrs: ["10.0.0.0/8"] }];
    await lab.bench.declare("Firewall/web", { account: "demo", rules });
    await lab.bench.pass({ minutes: 3 });
    const known = accountOf(lab).fingerprint;
    useToken(lab, worldToken("other"));
    await lab.bench.declare("Firewall/web", { account: "demo", rules: [] });
    await lab.bench.pass({ minutes: 15 });
    assert.match(lab.bench.why("Firewall/web").join("\n"), /answers as another account/);
    assert.deepEqual([lab.list("firewalls", "other"), sentinels(lab, "other")], [[], []]);
    assert.equal(accountOf(lab).fingerprint, known);
    assert.equal(lab.list<{ readonly rules: readonly object[] }>("firewalls")[0]?.rules.length, 1);
    // One of the same project sees the sentinel, and is accepted.
    useToken(lab, worldToken("demo"));
    await lab.bench.declare("Firewall/web", { account: "demo", rules: rules.slice(0, 0) });
    await lab.bench.pass({ minutes: 70 });
    assert.equal(lab.list<{ readonly rules: readonly object[] }>("firewalls")[0]?.rules.length, 0);
    await lab.bench.stop();
  });

  test("of another project does not become known by onboarding it", async () => {
    const lab = await CloudLab.open();
    await onboarding(lab, "enforce");
    const known = accountOf(lab).fingerprint;
    useToken(lab, worldToken("other"));
    const { state, message } = await lab.finish(await lab.start("provider.onboard", "ComputeProvider/main"), 60);
    // Nothing is on record there by which it could be told, so that a person is asked, who knows what was stored.
    assert.equal(state, "held");
    assert.match(message, /what was left at account 'demo' to know it by .* is gone/);
    assert.deepEqual([sentinels(lab, "other"), accountOf(lab).fingerprint], [[], known]);
    await lab.bench.stop();
  });
});
