import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hostSchema } from "../../../src/kinds/host/schema.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const spec = {
  account: "demo",
  type: "cx22",
  image: "debian-12",
  location: "fsn1",
  networks: [{ name: "backend", ip: "10.0.1.7" }],
  firewalls: [{ name: "ssh" }],
  labels: { role: "web" },
  reverseDns: "web-1.example.com",
};

interface Server {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly protection: { readonly delete: boolean };
  readonly private_net: readonly { readonly network: number; readonly ip: string }[];
  readonly public_net: {
    readonly ipv4: { readonly dns_ptr: string };
    readonly firewalls: readonly { readonly id: number }[];
  };
}

async function around(): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0.1 });
  const subnets = [{ range: "10.0.1.0/24", zone: "eu-central" }];
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", range: "10.0.0.0/16", subnets });
  const rules = [{ protocol: "tcp", port: "22", cidrs: ["10.0.0.0/8"] }];
  await lab.bench.declare("Firewall/ssh", { account: "demo", rules });
  await lab.bench.declare("Firewall/all", { account: "demo", applies: "scope", rules });
  await lab.bench.pass({ seconds: 30 });
  return lab;
}

async function made(more: object = {}): Promise<CloudLab> {
  const lab = await around();
  await lab.bench.declare("Host/web-1", { ...spec, ...more });
  const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(state, "succeeded", message);
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
  return lab;
}

const one = (lab: CloudLab): Server => lab.list<Server>("servers")[0] ?? assert.fail("there is no server");
/** Everything of a server but what changes by itself. */
const truth = (lab: CloudLab) =>
  lab.list<Server>("servers").map(({ id, name, status, labels, protection, private_net, public_net }) => {
    const firewalls = public_net.firewalls.map((firewall) => firewall.id).sort((left, right) => left - right);
    const nets = private_net.map(({ network, ip }) => [network, ip]);
    return { id, name, status, labels, protection, nets, firewalls, dns: public_net.ipv4.dns_ptr };
  });

describe("host.create", () => {
  test("makes one server with everything that is declared, and its loop finds nothing to do", async () => {
    const lab = await made();
    const { status, labels, private_net, public_net } = one(lab);
    assert.deepEqual([status, labels["role"], private_net[0]?.ip], ["running", "web", "10.0.1.7"]);
    assert.deepEqual([public_net.ipv4.dns_ptr, public_net.firewalls.length], ["web-1.example.com", 2]);
    const from = lab.lastRequest;
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(lab.writes(from), []);
    await lab.bench.stop();
  });

  const lost: readonly (readonly [string, object])[] = [
    ["no answer, and it was made", { kind: "timeout", when: "after" }],
    ["no answer, and it was not made", { kind: "timeout", when: "before" }],
    ["the connection is cut after it was made", { kind: "cut", when: "after" }],
    ["503, and it was made", { kind: "error", when: "after", status: 503 }],
  ];
  for (const [name, fault] of lost) {
    test(`${name}: one server in the end`, async () => {
      const lab = await around();
      lab.fault({ ...fault, method: "POST", path: "^/servers$", times: 2 });
      await lab.bench.declare("Host/web-1", spec);
      const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
      assert.equal(state, "succeeded", message);
      assert.equal(lab.list("servers").length, 1);
      await lab.bench.stop();
    });
  }

  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ["an unknown type", { type: "cx9999" }, /no server type cx9999; .*the nearest are: cx22, .*\. Correct spec\.type/],
    ["a location without the type", { location: "moon1" }, /not offered in moon1. It is in: .*fsn1/],
    ["an unknown image", { image: "debian-99" }, /no image debian-99/],
  ];
  for (const [name, more, words] of wrong) {
    test(`${name} waits for a person, after one try and before anything is made`, async () => {
      const lab = await around();
      const from = lab.lastRequest;
      await lab.bench.declare("Host/web-1", { ...spec, ...more });
      const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"), 600);
      assert.equal(state, "attention");
      assert.match(message, words);
      assert.deepEqual([lab.list("servers").length, lab.writes(from)], [0, []]);
      await lab.bench.stop();
    });
  }

  test("over the project's limit it says so in the provider's words, and does not go on trying", async () => {
    const lab = await around();
    const refusal = { status: 403, code: "resource_limit_exceeded", message: "server limit exceeded" };
    lab.fault({ kind: "error", method: "POST", path: "^/servers$", ...refusal });
    await lab.bench.declare("Host/web-1", spec);
    const from = lab.lastRequest;
    const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"), 600);
    assert.equal(state, "attention");
    assert.match(message, /server limit exceeded.*have the limit raised/s);
    assert.equal(lab.writes(from).length, 1);
    await lab.bench.stop();
  });

  test("a server of that name is adopted only where the spec says so", async () => {
    const lab = await around();
    const base = { server_type: "cx22", image: "debian-12", location: "fsn1" };
    lab.console("POST", "/servers", { ...base, name: "web-1" });
    const { id } = one(lab);
    await lab.bench.declare("Host/web-1", spec);
    const refused = await lab.finish(await lab.start("host.create", "Host/web-1"), 30);
    assert.equal(refused.state, "attention", refused.message);
    assert.match(refused.message, /not this resource's: choose another name, or adopt it/);
    await lab.bench.store.steerOperation({
      organizationId: "bench",
      operationId: refused.id,
      command: { verb: "release" },
      author: { name: "ada", type: "person" },
      reason: "adopt",
    });
    await lab.bench.declare("Host/web-1", { ...spec, adopt: true });
    const adopted = await lab.finish(await lab.start("host.create", "Host/web-1"));
    assert.equal(adopted.state, "succeeded", adopted.message);
    assert.deepEqual([one(lab).id, one(lab).labels["role"]], [id, "web"]);
    await lab.bench.stop();
  });

  test("a server that another installation has marked is not adopted by its name", async () => {
    const lab = await around();
    const labels = { "setpoint-installation": "elsewhere", "setpoint-resource": "theirs" };
    lab.console("POST", "/servers", {
      server_type: "cx22",
      image: "debian-12",
      location: "fsn1",
      name: "web-1",
      labels,
    });
    await lab.bench.declare("Host/web-1", { ...spec, adopt: true });
    const refused = await lab.finish(await lab.start("host.create", "Host/web-1"), 30);
    assert.equal(refused.state, "not-run", refused.message);
    assert.match(refused.message, /ownership/);
    assert.deepEqual(one(lab).labels, labels);
    await lab.bench.stop();
  });
});

describe("a server that somebody changed is put back, and nothing else is touched", () => {
  const edits: readonly (readonly [string, (lab: CloudLab, id: number) => void])[] = [
    ["renamed", (lab, id) => void lab.console("PUT", `/servers/${id}`, { name: "mine" })],
    ["powered off", (lab, id) => void lab.console("POST", `/servers/${id}/actions/poweroff`, {})],
    ["labels wiped", (lab, id) => void lab.console("PUT", `/servers/${id}`, { labels: {} })],
    [
      "renamed and labels wiped",
      (lab, id) => void lab.console("PUT", `/servers/${id}`, { name: "mine", labels: { theirs: "yes" } }),
    ],
    [
      "taken out of its network",
      (lab, id) =>
        void lab.console("POST", `/servers/${id}/actions/detach_from_network`, {
          network: one(lab).private_net[0]?.network,
        }),
    ],
    [
      "protected",
      (lab, id) =>
        void lab.console("POST", `/servers/${id}/actions/change_protection`, { delete: true, rebuild: true }),
    ],
    [
      "its firewall taken off",
      (lab, id) => {
        const [firewall] = lab.list<{ id: number; name: string }>("firewalls").filter(({ name }) => name === "ssh");
        lab.console("POST", `/firewalls/${firewall?.id}/actions/remove_from_resources`, {
          remove_from: [{ type: "server", server: { id } }],
        });
      },
    ],
  ];
  for (const [name, edit] of edits) {
    test(name, async () => {
      const lab = await made();
      const base = { server_type: "cx22", image: "debian-12", location: "fsn1" };
      lab.console("POST", "/servers", { ...base, name: "somebodys" });
      await lab.bench.pass({ minutes: 1 });
      const before = truth(lab);
      edit(lab, one(lab).id);
      await lab.bench.pass({ minutes: 12 });
      assert.deepEqual(truth(lab), before);
      assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
      assert.doesNotMatch(lab.bench.why("Host/web-1").join("\n"), /another server/);
      await lab.bench.stop();
    });
  }

  test("what somebody attached beside it stays", async () => {
    const lab = await made();
    const network = lab.console("POST", "/networks", {
      name: "theirs",
      ip_range: "172.16.0.0/16",
      subnets: [{ type: "cloud", ip_range: "172.16.1.0/24", network_zone: "eu-central" }],
    })["network"] as { id: number };
    lab.console("POST", `/servers/${one(lab).id}/actions/attach_to_network`, { network: network.id });
    await lab.bench.pass({ minutes: 12 });
    assert.equal(one(lab).private_net.length, 2);
    await lab.bench.stop();
  });

  test("deleted: nothing is made behind anybody's back, it says what to do, and host.create makes it again", async () => {
    const lab = await made();
    lab.console("DELETE", `/servers/${one(lab).id}`);
    await lab.bench.pass({ minutes: 12 });
    assert.equal(lab.list("servers").length, 0);
    assert.match(lab.bench.ready("Host/web-1"), /setpoint ops start host\/web-1 host\.create/);
    const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
    assert.equal(state, "succeeded", message);
    await lab.bench.pass({ minutes: 12 });
    assert.equal(lab.list("servers").length, 1);
    assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
    await lab.bench.stop();
  });
});

describe("host.delete", () => {
  test("of one host needs nobody's approval; of many in an hour the account's budget holds the rest", async () => {
    const lab = await CloudLab.open({ pace: 0.1 });
    const names = ["web-1", "web-2", "web-3", "web-4", "web-5"];
    const plain = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
    for (const name of names) {
      await lab.bench.declare(`Host/${name}`, plain);
      const { state, message } = await lab.finish(await lab.start("host.create", `Host/${name}`));
      assert.equal(state, "succeeded", message);
    }
    await lab.bench.pass({ minutes: 6 });
    const ended: string[] = [];
    for (const name of names) {
      await lab.bench.delete(`Host/${name}`);
      const { state, message } = await lab.finish(await lab.start("host.delete", `Host/${name}`), 60);
      ended.push(state);
      if (state === "held") assert.match(message, /3 of 3 per hour are used at the account/);
    }
    assert.deepEqual(ended, ["succeeded", "succeeded", "succeeded", "held", "held"]);
    assert.equal(lab.list("servers").length, 2);
    await lab.bench.stop();
  });
  const gone = async (lab: CloudLab) => {
    await lab.bench.delete("Host/web-1", { confirmedCount: 2 });
    return await lab.finish(await lab.start("host.delete", "Host/web-1"));
  };
  test("that waits for a person does not use up the calls of its account, and goes on once it is approved", async () => {
    const lab = await made();
    await lab.bench.setPolicy({ limits: { deletesPerCycle: { count: 0, percent: 0, atLeast: 0 } } });
    await lab.bench.delete("Host/web-1");
    const operation = await lab.start("host.delete", "Host/web-1");
    const from = lab.lastRequest;
    assert.equal((await lab.finishWhenDue(operation, 3_600)).state, "held");
    const asked = lab.lastRequest - from;
    assert.ok(asked < 600, `${asked} requests in an hour of waiting`);
    for (const held of lab.bench.heldChanges()) await lab.bench.approve(held);
    const { state, message } = await lab.finishWhenDue(operation, 120);
    assert.equal(state, "succeeded", message);
    assert.equal(lab.list("servers").length, 0);
    await lab.bench.stop();
  });
  test("removes the server and nothing else", async () => {
    const lab = await made();
    const base = { server_type: "cx22", image: "debian-12", location: "fsn1" };
    lab.console("POST", "/servers", { ...base, name: "somebodys" });
    const { state, message } = await gone(lab);
    assert.equal(state, "succeeded", message);
    assert.deepEqual(
      lab.list<Server>("servers").map(({ name }) => name),
      ["somebodys"],
    );
    await lab.bench.stop();
  });
  test("finds a server that was renamed and lost its labels by its recorded id", async () => {
    const lab = await made();
    lab.console("PUT", `/servers/${one(lab).id}`, { name: "mine", labels: {} });
    const { state, message } = await gone(lab);
    assert.equal(state, "succeeded", message);
    assert.equal(lab.list("servers").length, 0);
    await lab.bench.stop();
  });
  test("leaves a server that belongs to somebody else by now", async () => {
    const lab = await made();
    const labels = { "setpoint-installation": "another", "setpoint-resource": "r" };
    lab.console("PUT", `/servers/${one(lab).id}`, { labels });
    const { state, message } = await gone(lab);
    assert.equal(state, "attention", message);
    assert.match(message, /nothing is removed that is not surely ours/);
    assert.equal(lab.list("servers").length, 1);
    await lab.bench.stop();
  });
});

test("host.power resets once, and does not contradict the spec", async () => {
  const lab = await made();
  const from = lab.lastRequest;
  const reset = await lab.finish(await lab.start("host.power", "Host/web-1", { power: "reset" }));
  assert.equal(reset.state, "succeeded", reset.message);
  assert.deepEqual(
    lab.writes(from).filter((line) => line.includes("actions")),
    [`POST /servers/${one(lab).id}/actions/reset`],
  );
  const off = await lab.finish(await lab.start("host.power", "Host/web-1", { power: "off" }));
  assert.notEqual(off.state, "succeeded");
  assert.match(off.message, /declared on: change spec\.power/);
  assert.equal(one(lab).status, "running");
  await lab.bench.stop();
});

test("a spec that cannot be is refused where it is wrong", () => {
  const paths = (more: object) =>
    hostSchema.safeParse({ ...spec, ...more }).error?.issues.map(({ path }) => path.join("."));
  assert.deepEqual(paths({}), undefined);
  assert.deepEqual(paths({ networks: [{ name: "a", ip: "10.0.0.300" }] }), ["networks.0.ip"]);
  assert.deepEqual(paths({ networks: [{ name: "a" }, { name: "a" }] }), ["networks.1.name"]);
  assert.deepEqual(paths({ labels: { "setpoint-resource": "x" } }), ["labels.setpoint-resource"]);
  assert.deepEqual(paths({ publicAddresses: { ipv4: false } }), ["reverseDns"]);
});
