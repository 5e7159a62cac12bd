import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firewallFits } from "../../../src/kinds/firewall/fits.ts";
import { firewallSchema } from "../../../src/kinds/firewall/schema.ts";
import { hetznerCloudCapabilities } from "../../../src/providers/hetzner-cloud/capabilities.ts";
import { ionosCapabilities } from "../../../src/providers/ionos/capabilities.ts";
import { around } from "../../support/surroundings.ts";
import { IonosLab } from "../../support/ionos-lab.ts";

const rules = [
  { direction: "in", protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"], description: "everybody" },
  { direction: "in", protocol: "tcp", port: "22", cidrs: ["192.0.2.0/24", "198.51.100.7/32"] },
  { direction: "in", protocol: "icmp", cidrs: ["0.0.0.0/0"] },
];
const firewall = { account: "demo", applies: "scope", rules };

/** A host with a scope's firewall on its card, and a server of somebody else. */
async function furnished(hosts: readonly string[] = ["web-1"]) {
  const lab = await IonosLab.open();
  await lab.theirServer("somebodys");
  await lab.bench.declare("Firewall/web", firewall);
  for (const name of hosts) await lab.host(name);
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Firewall/web"), /^Converged/, lab.bench.why("Firewall/web").join("\n"));
  return lab;
}

const declared = [
  "INGRESS ICMP  any web",
  "INGRESS TCP 22-22 192.0.2.0/24 web",
  "INGRESS TCP 22-22 198.51.100.7 web",
  "INGRESS TCP 443-443 any web: everybody",
];

describe("a firewall at IONOS is its rules on the cards of its hosts", () => {
  test("they are put on every host's card once, also on one that comes later, and nothing is written after that", async () => {
    const lab = await furnished();
    assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
    assert.deepEqual(lab.card("somebodys"), { active: false, type: "INGRESS", rules: [] });
    await lab.host("web-2");
    await lab.bench.pass({ minutes: 4 });
    assert.deepEqual(lab.card("web-2").rules, declared);
    const quiet = lab.lastRequest;
    await lab.bench.pass({ minutes: 20 });
    assert.deepEqual(lab.writes(quiet), []);
    await lab.bench.stop();
  });

  const edits: readonly (readonly [string, (lab: IonosLab) => void, RegExp])[] = [
    ["a rule is removed", (lab) => lab.removeRule("web-1", 0), /update card.*\/rules/],
    ["all rules are removed", (lab) => lab.removeRules("web-1"), /create card/],
    ["a rule is renamed", (lab) => lab.changeRule("web-1", 0, { name: lab.markedName("web-1", "mine") }), /\/firewall/],
    ["a source is widened", (lab) => lab.changeRule("web-1", 2, { sourceIp: null }), /update card.*\/rules/],
    ["the filter is switched off", (lab) => lab.changeCard("web-1", { firewallActive: false }), /\/guarded/],
    ["only what goes out is filtered", (lab) => lab.changeCard("web-1", { firewallType: "EGRESS" }), /\/guarded/],
  ];
  for (const [name, edit, explained] of edits)
    test(`healed: ${name}`, async () => {
      const lab = await furnished();
      const theirs = lab.raw("somebodys");
      edit(lab);
      assert.notDeepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared }, "the edit shows");
      await lab.bench.pass({ minutes: 11 });
      assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
      assert.equal(lab.raw("somebodys"), theirs);
      assert.match(lab.bench.why("Firewall/web").join("\n"), explained);
      await lab.bench.stop();
    });

  test("a rule that somebody put beside stays, and is told", async () => {
    const lab = await furnished();
    lab.addRule("web-1", { protocol: "TCP", portRangeStart: 8080, portRangeEnd: 8080, name: "by hand" });
    await lab.bench.pass({ minutes: 6 });
    assert.deepEqual(
      lab.card("web-1").rules.filter((rule) => rule.includes("8080")),
      ["INGRESS TCP 8080-8080 any by hand"],
    );
    const told = (lab.bench.statuses("Firewall/web")[0]?.conditions ?? []).find(({ type }) =>
      type.endsWith("OtherRules"),
    );
    assert.match(told?.message ?? "", /web-1: in tcp 8080 0.0.0.0\/0 \("by hand"\)/);
    await lab.bench.stop();
  });

  test("what goes out is filtered as soon as a rule speaks of it, and no longer when none does", async () => {
    const lab = await furnished();
    const out = { direction: "out", protocol: "tcp", port: "443", cidrs: ["192.0.2.0/24"] };
    await lab.bench.declare("Firewall/web", { ...firewall, rules: [...rules, out] });
    await lab.bench.pass({ minutes: 3 });
    assert.deepEqual(lab.card("web-1"), {
      active: true,
      type: "BIDIRECTIONAL",
      rules: ["EGRESS TCP 443-443 192.0.2.0/24 web", ...declared],
    });
    await lab.bench.declare("Firewall/web", firewall);
    await lab.bench.pass({ minutes: 3 });
    assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
    await lab.bench.stop();
  });

  test("it goes from every card when it is deleted, and a card without any rule is open again", async () => {
    const lab = await furnished(["web-1", "web-2"]);
    await lab.bench.delete("Firewall/web", { confirmedCount: 2 });
    await lab.bench.pass({ minutes: 10 });
    for (const name of ["web-1", "web-2"])
      assert.deepEqual(lab.card(name), { active: false, type: "INGRESS", rules: [] });
    await lab.bench.stop();
  });
});

describe("a firewall at IONOS keeps what it rests on", () => {
  test("labels that somebody wiped take no rule away, before the host has them back", async () => {
    const lab = await furnished();
    const from = lab.lastRequest;
    lab.wipeLabels("web-1");
    await lab.bench.pass({ minutes: 12 });
    assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
    assert.deepEqual(
      lab.writes(from).filter((write) => write.includes("firewallrules")),
      [],
    );
    await lab.bench.stop();
  });

  test("half a list of servers takes no rule away", async () => {
    const lab = await furnished(["web-1", "web-2", "web-3"]);
    const from = lab.lastRequest;
    lab.fault({ kind: "half-list", path: "/servers$" });
    await lab.bench.pass({ minutes: 20 });
    lab.heal();
    await lab.bench.pass({ minutes: 10 });
    for (const name of ["web-1", "web-2", "web-3"]) assert.deepEqual(lab.card(name).rules, declared);
    assert.deepEqual(
      lab.writes(from).filter((write) => write.startsWith("DELETE")),
      [],
    );
    await lab.bench.stop();
  });

  for (const share of [0, 0.3, 0.5, 0.7, 0.9])
    test(`a list of labels with only ${share * 100} % of them takes no rule away and opens no card`, async () => {
      const lab = await IonosLab.open();
      await lab.bench.declare("Firewall/web", { ...firewall, applies: "named" });
      const hosts = ["web-1", "web-2"];
      for (const name of hosts) await lab.host(name, { firewalls: [{ name: "web" }], labels: { role: "web" } });
      await lab.bench.pass({ minutes: 6 });
      const from = lab.lastRequest;
      lab.fault({ kind: "half-list", path: "^/labels$", share });
      await lab.bench.pass({ minutes: 40 });
      for (const name of hosts) assert.deepEqual(lab.card(name), { active: true, type: "INGRESS", rules: declared });
      const written = () => lab.writes(from).filter((line) => line !== "POST /datacenters");
      assert.deepEqual(written(), [], "it is asked whether the token may write, and that is all");
      lab.heal();
      await lab.bench.pass({ minutes: 40 });
      for (const name of [...hosts.map((host) => `Host/${host}`), "Firewall/web"])
        assert.match(lab.bench.ready(name), /^Converged/, name);
      assert.deepEqual(written(), []);
      await lab.bench.stop();
    });

  for (const keys of [/^setpoint-firewall-/, /^setpoint-firewall/, /^setpoint-organization$/])
    test(`somebody who takes ${String(keys)} off a server opens nothing, and the label comes back`, async () => {
      const lab = await IonosLab.open();
      await lab.bench.declare("Firewall/web", { ...firewall, applies: "named" });
      await lab.host("web-1", { firewalls: [{ name: "web" }] });
      await lab.bench.pass({ minutes: 6 });
      const from = lab.lastRequest;
      lab.wipeLabels("web-1", keys);
      await lab.bench.pass({ minutes: 20 });
      assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
      const onCards = lab.writes(from).filter((write) => /firewallrules|\/nics\//.test(write));
      assert.deepEqual(onCards, [], "not even for a moment");
      for (const name of ["Host/web-1", "Firewall/web"]) assert.match(lab.bench.ready(name), /^Converged/);
      await lab.redeclare("web-1", { firewalls: [] });
      await lab.bench.pass({ minutes: 12 });
      assert.deepEqual(lab.card("web-1").rules, [], "and its host can still let it go");
      await lab.bench.stop();
    });

  test("one that was for a scope and is for those who name it leaves the others", async () => {
    const lab = await furnished(["web-1"]);
    await lab.host("web-2", { firewalls: [{ name: "web" }] });
    await lab.bench.pass({ minutes: 6 });
    await lab.bench.declare("Firewall/web", { ...firewall, applies: "named" });
    await lab.bench.pass({ minutes: 12 });
    assert.deepEqual([lab.card("web-1").rules, lab.card("web-2").rules], [[], declared]);
    await lab.bench.stop();
  });

  test("a host that names it is closed until its rules are there, and open to nobody else's", async () => {
    const lab = await IonosLab.open();
    await lab.bench.declare("Firewall/web", { ...firewall, applies: "named" });
    await lab.host("web-1", { firewalls: [{ name: "web" }] });
    await lab.host("web-2");
    assert.equal(lab.card("web-1").active, true, "closed from its first moment");
    await lab.bench.pass({ minutes: 6 });
    assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared });
    assert.deepEqual(lab.card("web-2"), { active: false, type: "INGRESS", rules: [] });
    assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
    await lab.redeclare("web-1", { firewalls: [] });
    await lab.bench.pass({ minutes: 12 });
    assert.deepEqual(lab.card("web-1"), { active: false, type: "INGRESS", rules: [] });
    await lab.bench.stop();
  });

  test("without any host it is as declared, and writes nothing", async () => {
    const lab = await IonosLab.open();
    await lab.theirServer("somebodys");
    const from = lab.lastRequest;
    await lab.bench.declare("Firewall/web", firewall);
    await lab.bench.pass({ minutes: 5 });
    assert.match(lab.bench.ready("Firewall/web"), /^Converged/);
    assert.deepEqual(lab.writes(from), []);
    await lab.host("web-1");
    await lab.host("web-2");
    await lab.bench.pass({ minutes: 5 });
    await lab.remove("web-1");
    await lab.remove("web-2");
    await lab.bench.pass({ minutes: 10 });
    assert.match(lab.bench.ready("Firewall/web"), /^Converged/, lab.bench.why("Firewall/web").join("\n"));
    await lab.bench.stop();
  });
});

test("what rules on cards cannot say is refused before anything is made, with what to do", async () => {
  const lab = await IonosLab.open();
  const beyond = [
    { protocol: "gre", cidrs: ["0.0.0.0/0"] },
    { protocol: "tcp", port: "80", cidrs: ["::/0"] },
  ];
  await lab.bench.declare("Firewall/web", { account: "demo", rules: beyond, labels: { team: "edge" } });
  await lab.bench.declare("Firewall/none", { account: "demo", rules: [] });
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 5 });
  const words = lab.bench.ready("Firewall/web");
  assert.match(words, /rules\/0\/protocol: gre cannot be let through: only tcp, udp and icmp can/);
  assert.match(words, /rules\/1\/cidrs: ::\/0 is IPv6/);
  assert.match(words, /labels: rules on network cards have no labels/);
  assert.match(lab.bench.ready("Firewall/none"), /at least one rule is needed/);
  assert.deepEqual(lab.writes(from), []);
  await lab.bench.stop();
});

test("the same is refused when it is declared, by the field, and only where the provider cannot", async () => {
  const spec = firewallSchema.parse({
    account: "demo",
    rules: [{ protocol: "esp", cidrs: ["::/0"] }],
    labels: { a: "b" },
  });
  const at = (provider: string, capabilities: unknown) =>
    firewallFits(spec, { ...around, account: async () => ({ provider, capabilities }) });
  assert.deepEqual(
    (await at("ionos", ionosCapabilities)).map(({ pointer }) => pointer),
    ["/spec/labels", "/spec/rules/0/protocol", "/spec/rules/0/cidrs"],
  );
  assert.match((await at("ionos", ionosCapabilities))[1]?.message ?? "", /provider ionos of account "demo"/);
  assert.deepEqual(await at("hetzner-cloud", hetznerCloudCapabilities), []);
});
