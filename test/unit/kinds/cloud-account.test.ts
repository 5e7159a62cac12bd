import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const rules = [{ protocol: "tcp", port: "22", cidrs: ["10.0.0.0/8"] }];
const collections = ["firewalls", "networks", "ssh_keys"] as const;

interface Thing {
  readonly id: number;
  readonly name: string;
  readonly rules?: readonly object[];
}

async function furnished(): Promise<CloudLab> {
  const lab = await CloudLab.open();
  for (const name of ["one", "two", "three"]) await lab.bench.declare(`Firewall/${name}`, { account: "demo", rules });
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", range: "10.0.0.0/16" });
  await lab.bench.pass({ minutes: 2 });
  assert.match(lab.bench.ready("Firewall/one"), /^Converged/);
  return lab;
}

const sentinels = (lab: CloudLab) => lab.list<Thing>("ssh_keys").map(({ id }) => id);
const truth = (lab: CloudLab, account = "demo"): unknown =>
  JSON.parse(JSON.stringify(collections.map((name) => lab.list(name, account)))) as unknown;
const identityHeld = (lab: CloudLab) => lab.bench.heldChanges().filter(({ guard }) => guard === "account-identity");

/** Somebody clears the project's SSH keys, and a change of ours comes. */
async function sentinelLost(): Promise<CloudLab> {
  const lab = await furnished();
  for (const id of sentinels(lab)) lab.console("DELETE", `/ssh_keys/${id}`);
  await lab.bench.declare("Firewall/one", { account: "demo", rules: [] });
  await lab.bench.pass({ minutes: 3 });
  return lab;
}

describe("a sentinel that somebody deleted", () => {
  test("stops all writes, and one approval leaves it anew", async () => {
    const lab = await sentinelLost();
    assert.deepEqual([sentinels(lab), lab.list<Thing>("firewalls")[0]?.rules?.length], [[], 1]);
    const held = identityHeld(lab);
    assert.equal(held.length, 1);
    assert.match(held[0]?.reason ?? "", /is gone; 4 of 4 things on record are there/);
    const before = lab.list<Thing>("firewalls").map(({ id }) => id);
    for (const one of held) await lab.bench.approve(one);
    await lab.bench.pass({ minutes: 3 });
    assert.equal(sentinels(lab).length, 1);
    assert.deepEqual(
      lab.list<Thing>("firewalls").map(({ id }) => id),
      before,
    );
    assert.equal(lab.list<Thing>("firewalls").find(({ name }) => name === "one")?.rules?.length, 0);
    assert.match(lab.bench.ready("Firewall/one"), /^Converged/);
    // From here on it is known by the new one.
    lab.fault({ kind: "other-account", as: "other" });
    await lab.bench.declare("Firewall/one", { account: "demo", rules });
    await lab.bench.pass({ minutes: 3 });
    assert.match(lab.bench.why("Firewall/one").join("\n"), /answers as another account/);
    await lab.bench.stop();
  });

  test("is no way into another project: what is on record is not there, so nothing can be approved", async () => {
    const lab = await furnished();
    const before = truth(lab);
    lab.fault({ kind: "other-account", as: "other" });
    await lab.bench.declare("Firewall/one", { account: "demo", rules: [] });
    await lab.bench.pass({ minutes: 3 });
    assert.match(lab.bench.why("Firewall/one").join("\n"), /answers as another account .*0 of 4 things on record/);
    assert.deepEqual([identityHeld(lab), truth(lab), truth(lab, "other")], [[], before, [[], [], []]]);
    await lab.bench.stop();
  });

  test("is not left in another project, whose token came between the approval and the write", async () => {
    const lab = await sentinelLost();
    const held = identityHeld(lab);
    lab.fault({ kind: "other-account", as: "other" });
    for (const one of held) await lab.bench.approve(one);
    await lab.bench.pass({ minutes: 5 });
    assert.deepEqual(truth(lab, "other"), [[], [], []]);
    lab.heal();
    await lab.bench.pass({ minutes: 70 });
    assert.equal(sentinels(lab).length, 1);
    assert.match(lab.bench.ready("Firewall/one"), /^Converged/);
    await lab.bench.stop();
  });

  test("is not judged by half a list", async () => {
    const lab = await furnished();
    for (const id of sentinels(lab)) lab.console("DELETE", `/ssh_keys/${id}`);
    lab.fault({ kind: "half-list", path: "^/networks$", share: 0, total: "kept" });
    await lab.bench.declare("Firewall/one", { account: "demo", rules: [] });
    await lab.bench.pass({ minutes: 3 });
    assert.deepEqual([identityHeld(lab), sentinels(lab)], [[], []]);
    assert.match(lab.bench.why("Firewall/one").join("\n"), /whether what is on record is there is not known/);
    await lab.bench.stop();
  });
});

test("another project of the same installation is another project", async () => {
  const lab = await furnished();
  await lab.bench.declare("Firewall/four", { account: "other", rules });
  await lab.bench.pass({ minutes: 2 });
  assert.equal(lab.list("firewalls", "other").length, 1);
  const before = [truth(lab), truth(lab, "other")];
  lab.fault({ kind: "other-account", as: "other", account: "demo" });
  await lab.bench.declare("Firewall/one", { account: "demo", rules: [] });
  await lab.bench.pass({ minutes: 3 });
  assert.deepEqual([[truth(lab), truth(lab, "other")], identityHeld(lab)], [before, []]);
  assert.match(lab.bench.why("Firewall/one").join("\n"), /answers as another account/);
  await lab.bench.stop();
});

test("an account that a firewall has claimed before it is watched needs nobody's approval", async () => {
  const lab = await furnished();
  await lab.bench.declare("ComputeProvider/demo", { account: "demo", family: "hetzner-cloud" }, { mode: "enforce" });
  await lab.bench.pass({ minutes: 12 });
  assert.deepEqual(lab.bench.heldChanges(), []);
  assert.match(lab.bench.ready("ComputeProvider/demo"), /^Converged/);
  assert.equal(sentinels(lab).length, 1);
  await lab.bench.stop();
});
