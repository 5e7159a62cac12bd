import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { networkFits } from "../../../src/kinds/cloud-network/fits.ts";
import { cloudNetworkSchema } from "../../../src/kinds/cloud-network/schema.ts";
import { hetznerCloudCapabilities } from "../../../src/providers/hetzner-cloud/capabilities.ts";
import { ionosCapabilities } from "../../../src/providers/ionos/capabilities.ts";
import { IonosLab } from "../../support/ionos-lab.ts";
import { around } from "../../support/surroundings.ts";

const network = { account: "demo", location: "main" };

/** A network with a host in it, and a LAN of somebody else that has the same name. */
async function furnished() {
  const lab = await IonosLab.open();
  await lab.bench.declare("CloudNetwork/backend", network);
  await lab.bench.pass({ minutes: 1 });
  assert.match(lab.bench.ready("CloudNetwork/backend"), /^Converged/, lab.bench.why("CloudNetwork/backend").join("\n"));
  lab.make("lans", { name: "somebodys", public: false });
  await lab.host("web-1", { networks: [{ name: "backend" }] });
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/, lab.bench.why("Host/web-1").join("\n"));
  return lab;
}

const lanOf = (lab: IonosLab) => lab.one("lans", "backend");
const members = (lab: IonosLab) => lanOf(lab).entities?.["nics"]?.items.length;

describe("a network at IONOS is a LAN", () => {
  test("it is made once, its hosts are in it, and nothing is written after that", async () => {
    const lab = await furnished();
    assert.deepEqual([lanOf(lab).properties["public"], members(lab)], [false, 1]);
    assert.match(lanOf(lab).properties.name ?? "", /^backend setpoint:installation-1:/);
    const quiet = lab.lastRequest;
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(lab.writes(quiet), []);
    await lab.bench.stop();
  });

  const edits: readonly (readonly [string, (lab: IonosLab) => void, RegExp])[] = [
    ["it is renamed", (lab) => lab.change(lanOf(lab), { name: "mine" }), /\/name mine → backend/],
    ["it is made public", (lab) => lab.change(lanOf(lab), { public: true }), /\/public true → false/],
    ["a host is taken out of it", (lab) => lab.removeCard("web-1", 1), /\/networks/],
  ];
  for (const [name, edit, explained] of edits)
    test(`healed: ${name}`, async () => {
      const lab = await furnished();
      const theirs = JSON.stringify(lab.one("lans", "somebodys"));
      const { id } = lanOf(lab);
      edit(lab);
      await lab.bench.pass({ minutes: 15 });
      assert.deepEqual([lanOf(lab).id, lanOf(lab).properties["public"], members(lab)], [id, false, 1]);
      assert.equal(JSON.stringify(lab.one("lans", "somebodys")), theirs);
      const why = ["CloudNetwork/backend", "Host/web-1"].flatMap((each) => lab.bench.why(each)).join("\n");
      assert.match(why, explained);
      await lab.bench.stop();
    });

  test("a host that no longer names it leaves it, and its card goes", async () => {
    const lab = await furnished();
    await lab.redeclare("web-1", { networks: [] });
    await lab.bench.pass({ minutes: 8 });
    assert.equal(members(lab), 0);
    await lab.bench.stop();
  });

  test("one with a host in it is not deleted, and one without is, with the other LANs left alone", async () => {
    const lab = await furnished();
    await lab.bench.delete("CloudNetwork/backend", { confirmedCount: 1 });
    await lab.bench.pass({ minutes: 10 });
    assert.equal(members(lab), 1);
    await lab.redeclare("web-1", { networks: [] });
    await lab.bench.pass({ minutes: 20 });
    const names = lab.all("lans").map(({ properties }) => properties.name);
    assert.deepEqual(new Set(names), new Set(["setpoint-public", "somebodys"]));
    await lab.bench.stop();
  });

  test("an order that was delivered twice: one is kept, the other is reported and stays", async () => {
    const lab = await furnished();
    const { id, properties } = lanOf(lab);
    lab.make("lans", properties);
    await lab.bench.pass({ minutes: 15 });
    const named = lab.all("lans").filter((lan) => lan.properties.name === properties.name);
    assert.equal(named.length, 2);
    assert.ok(named.some((lan) => lan.id === id && lan.entities?.["nics"]?.items.length === 1));
    assert.match(
      lab.bench.why("CloudNetwork/backend").join("\n"),
      /ownership said refuse: more than one thing under one key; left alone/,
    );
    await lab.bench.stop();
  });

  test("a number that is given again is somebody else's LAN, and is left alone", async () => {
    const lab = await IonosLab.open();
    await lab.bench.declare("CloudNetwork/backend", network);
    await lab.bench.pass({ minutes: 2 });
    const { id } = lanOf(lab);
    lab.console("DELETE", `${lab.at}/lans/${id}`);
    const theirs = lab.make("lans", { name: "theirs", public: false });
    assert.equal(theirs.id, id, "the number is given again");
    await lab.bench.pass({ minutes: 15 });
    assert.equal(lab.one("lans", "theirs").id, id);
    assert.notEqual(lanOf(lab).id, id, "and ours is made anew");
    await lab.bench.stop();
  });

  test("an order whose answer was lost is not made twice, though lists lag", async () => {
    const lab = await IonosLab.open();
    lab.fault({ kind: "timeout", when: "after", method: "POST", path: "/lans$", times: 1 });
    lab.world.core.settings.listLagSeconds = 60;
    await lab.bench.declare("CloudNetwork/backend", network);
    await lab.bench.pass({ minutes: 10 });
    assert.match(lab.bench.ready("CloudNetwork/backend"), /^Converged/);
    assert.equal(lanOf(lab).properties["public"], false);
    await lab.bench.stop();
  });
});

test("what a LAN cannot say is refused when it is declared, by the field, and nothing is made", async () => {
  const at = (provider: string, capabilities: unknown, spec: object) =>
    networkFits(cloudNetworkSchema.parse({ account: "demo", ...spec }), {
      ...around,
      account: async () => ({ provider, capabilities }),
    });
  const pointers = (problems: readonly { readonly pointer: string }[]) => problems.map(({ pointer }) => pointer);
  const ranged = { range: "10.0.0.0/16", labels: { a: "b" }, protect: true };
  const wrong = pointers(await at("ionos", ionosCapabilities, ranged));
  assert.deepEqual(wrong, ["/spec/protect", "/spec/location", "/spec/range", "/spec/labels"]);
  assert.deepEqual(await at("ionos", ionosCapabilities, { location: "main" }), []);
  assert.deepEqual(pointers(await at("hetzner-cloud", hetznerCloudCapabilities, { location: "main" })), [
    "/spec/range",
    "/spec/location",
  ]);
  assert.deepEqual(await at("hetzner-cloud", hetznerCloudCapabilities, ranged), []);
  const lab = await IonosLab.open();
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", ...ranged });
  await lab.bench.declare("CloudNetwork/moon", { account: "demo", location: "moon" });
  await lab.bench.pass({ minutes: 5 });
  assert.match(lab.bench.ready("CloudNetwork/backend"), /range: cannot be chosen: the provider gives the addresses/);
  assert.match(lab.bench.ready("CloudNetwork/moon"), /no data center moon. It has: main/);
  assert.deepEqual(lab.all("lans"), []);
  await lab.bench.stop();
});

test("IP blocks and LANs of somebody else are in the inventory of the account, and are left alone", async () => {
  const lab = await IonosLab.open();
  lab.console("POST", "/ipblocks", { properties: { name: "fixed", location: "de/fra", size: 2 } });
  lab.make("lans", { name: "theirs", public: false });
  lab.make("lans", { name: "outer", public: true });
  await lab.bench.declare("ComputeProvider/main", { account: "demo", family: "ionos" }, { mode: "enforce" });
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 15 });
  const [status] = lab.bench.statuses("ComputeProvider/main");
  const { unmanaged, calls, credential } = (status?.report ?? {}) as Record<string, unknown>;
  assert.deepEqual(unmanaged, { "floating IP": 1, network: 1 });
  assert.deepEqual([calls, credential], [{ limit: 50, leftPercent: 100 }, { write: "allowed" }]);
  assert.deepEqual(lab.writes(from), []);
  await lab.bench.stop();
});
