import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const rules = [{ direction: "in", protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0", "::/0"] }];
const firewall = { account: "demo", applies: "scope", rules, labels: { team: "edge" } };
const network = {
  account: "demo",
  range: "10.0.0.0/16",
  subnets: [{ range: "10.0.1.0/24", zone: "eu-central" }],
  routes: [{ destination: "192.168.0.0/24", gateway: "10.0.1.2" }],
  labels: {},
  protect: false,
};

interface Raw {
  readonly id: number;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly port: string; readonly source_ips: readonly string[] }[];
  readonly applied_to: readonly object[];
  readonly subnets: readonly { readonly ip_range: string }[];
  readonly routes: readonly object[];
  readonly protection: { readonly delete: boolean };
}

async function furnished() {
  const lab = await CloudLab.open();
  await lab.bench.declare("Firewall/web", firewall);
  await lab.bench.declare("CloudNetwork/backend", network);
  await lab.bench.pass({ minutes: 1 });
  assert.match(lab.bench.ready("Firewall/web"), /^Converged/);
  assert.match(lab.bench.ready("CloudNetwork/backend"), /^Converged/);
  const id = (collection: string) => lab.list<Raw>(collection)[0]?.id ?? assert.fail(`no ${collection}`);
  return { lab, firewallId: id("firewalls"), networkId: id("networks") };
}

/** Everything in the project but its times. */
function truth(lab: CloudLab): unknown {
  return JSON.parse(JSON.stringify([lab.list("firewalls"), lab.list("networks"), lab.list("ssh_keys")]));
}

describe("what somebody changes at the provider is put back, and nothing else is touched", () => {
  const edits: readonly (readonly [string, (at: Awaited<ReturnType<typeof furnished>>) => void, RegExp])[] = [
    [
      "a rule is removed",
      ({ lab, firewallId }) => void lab.console("POST", `/firewalls/${firewallId}/actions/set_rules`, { rules: [] }),
      /update firewall.*\/rules/,
    ],
    [
      "a port is opened",
      ({ lab, firewallId }) =>
        void lab.console("POST", `/firewalls/${firewallId}/actions/set_rules`, {
          rules: [{ direction: "in", protocol: "tcp", port: "22", source_ips: ["0.0.0.0/0"] }],
        }),
      /update firewall.*\/rules/,
    ],
    [
      "a firewall is renamed",
      ({ lab, firewallId }) => void lab.console("PUT", `/firewalls/${firewallId}`, { name: "mine-now" }),
      /update firewall.*\/name mine-now → web/,
    ],
    [
      "all labels are wiped",
      ({ lab, firewallId }) => void lab.console("PUT", `/firewalls/${firewallId}`, { labels: {} }),
      /update firewall.*\/labels/,
    ],
    [
      "the firewall is taken off its hosts",
      ({ lab, firewallId }) => {
        const [applied] = lab.list<Raw>("firewalls")[0]?.applied_to ?? [];
        const { type, label_selector } = applied as { type: string; label_selector: object };
        lab.console("POST", `/firewalls/${firewallId}/actions/remove_from_resources`, {
          remove_from: [{ type, label_selector }],
        });
      },
      /update firewall.*\/selectors/,
    ],
    [
      "a subnet is removed",
      ({ lab, networkId }) => {
        lab.console("POST", `/networks/${networkId}/actions/delete_route`, network.routes[0]);
        lab.console("POST", `/networks/${networkId}/actions/delete_subnet`, { ip_range: "10.0.1.0/24" });
      },
      /update network.*\/subnets/,
    ],
    [
      "a network is renamed and protected",
      ({ lab, networkId }) => {
        lab.console("PUT", `/networks/${networkId}`, { name: "mine", labels: {} });
        lab.console("POST", `/networks/${networkId}/actions/change_protection`, { delete: true });
      },
      /update network.*\/name mine → backend/,
    ],
    [
      "the firewall is deleted",
      ({ lab, firewallId }) => {
        const [applied] = lab.list<Raw>("firewalls")[0]?.applied_to ?? [];
        const { type, label_selector } = applied as { type: string; label_selector: object };
        lab.console("POST", `/firewalls/${firewallId}/actions/remove_from_resources`, {
          remove_from: [{ type, label_selector }],
        });
        lab.console("DELETE", `/firewalls/${firewallId}`);
      },
      /create firewall/,
    ],
  ];
  for (const [name, edit, explained] of edits) {
    test(name, async () => {
      const at = await furnished();
      const { lab } = at;
      lab.console("POST", "/firewalls", { name: "somebodys", rules: [] });
      lab.console("POST", "/networks", { name: "somebodys", ip_range: "172.16.0.0/16" });
      const before = truth(lab);
      edit(at);
      await lab.bench.pass({ seconds: 20 });
      await lab.bench.pass({ minutes: 11 });
      const strip = (value: unknown) => JSON.stringify(value).replace(/"id":\d+|"created":"[^"]*"/g, "");
      const sorted = (value: unknown) =>
        (value as readonly (readonly Raw[])[]).map((list) => [...list].sort((l, r) => (l.name < r.name ? -1 : 1)));
      assert.equal(strip(sorted(truth(lab))), strip(sorted(before)));
      const why = [...lab.bench.why("Firewall/web"), ...lab.bench.why("CloudNetwork/backend")].join("\n");
      assert.match(why, explained);
      await lab.bench.stop();
    });
  }
});

test("a network in use and one that would have to be replaced are not removed", async () => {
  const { lab, networkId } = await furnished();
  await lab.bench.declare("CloudNetwork/backend", { ...network, range: "10.0.0.0/15" });
  await lab.bench.pass({ minutes: 1 });
  assert.equal((lab.list<{ ip_range: string }>("networks")[0] ?? assert.fail()).ip_range, "10.0.0.0/15");
  await lab.bench.declare("CloudNetwork/backend", { ...network, range: "172.16.0.0/16", subnets: [], routes: [] });
  await lab.bench.pass({ minutes: 3 });
  assert.equal(lab.list<Raw>("networks")[0]?.id, networkId);
  const [held] = lab.bench.heldChanges();
  assert.deepEqual(
    held?.items.map(({ action }) => action),
    ["replace"],
  );
  await lab.bench.stop();
});

test("something of that name that is there already waits for a person before it is taken over", async () => {
  const lab = await CloudLab.open();
  lab.console("POST", "/firewalls", { name: "web", rules: [] });
  await lab.bench.declare("Firewall/web", firewall);
  await lab.bench.pass({ minutes: 2 });
  assert.deepEqual(
    lab.list<Raw>("firewalls").map(({ rules: seen, labels }) => [seen, labels]),
    [[[], {}]],
  );
  for (const held of lab.bench.heldChanges()) await lab.bench.approve(held);
  await lab.bench.pass({ minutes: 2 });
  assert.equal(lab.list<Raw>("firewalls")[0]?.rules.length, 1);
  assert.match(lab.bench.ready("Firewall/web"), /^Converged/);
  await lab.bench.stop();
});

describe("an account", () => {
  const provider = { account: "demo", family: "hetzner-cloud", locations: ["fsn1"] };
  test("is claimed when it may act, and what nobody declared is reported and left alone", async () => {
    const lab = await CloudLab.open();
    lab.console("POST", "/networks", { name: "somebodys", ip_range: "172.16.0.0/16" });
    await lab.bench.declare("ComputeProvider/main", provider, { mode: "observe" });
    await lab.bench.pass({ minutes: 2 });
    assert.deepEqual([lab.list("ssh_keys").length, lab.writes()], [0, []], "observe leaves nothing");
    await lab.bench.declare("ComputeProvider/main", provider, { mode: "enforce" });
    await lab.bench.pass({ minutes: 2 });
    assert.match(lab.bench.ready("ComputeProvider/main"), /^Converged/);
    assert.deepEqual(
      lab.list<Raw>("ssh_keys").map(({ name }) => name),
      ["setpoint-sentinel-installation-1"],
    );
    assert.deepEqual(
      lab.list<Raw>("networks").map(({ name }) => name),
      ["somebodys"],
    );
    await lab.bench.stop();
  });

  test("whose token belongs to another project is refused as a whole", async () => {
    const { lab } = await furnished();
    const before = truth(lab);
    lab.fault({ kind: "other-account", as: "other" });
    await lab.bench.declare("Firewall/web", { ...firewall, rules: [] });
    await lab.bench.pass({ minutes: 10 });
    assert.deepEqual([truth(lab), lab.list("firewalls", "other"), lab.list("networks", "other")], [before, [], []]);
    assert.match(lab.bench.why("Firewall/web").join("\n"), /answers as another account/);
    lab.heal();
    await lab.bench.pass({ minutes: 70 });
    assert.equal(lab.list<Raw>("firewalls")[0]?.rules.length, 0);
    await lab.bench.stop();
  });

  test("whose token may only read is told so before anything is tried", async () => {
    const lab = await CloudLab.open();
    lab.fault({ kind: "error", status: 403, code: "token_readonly", message: "read only", method: "POST" });
    const from = lab.lastRequest;
    await lab.bench.declare("Firewall/web", firewall);
    await lab.bench.pass({ minutes: 10 });
    assert.match(lab.bench.ready("Firewall/web"), /may not write: token_readonly/);
    assert.deepEqual(lab.writes(from), []);
    await lab.bench.stop();
  });
});
