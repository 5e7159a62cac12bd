import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadBalancerFits } from "../../../src/kinds/load-balancer/fits.ts";
import { loadBalancerSchema } from "../../../src/kinds/load-balancer/schema.ts";
import { hetznerCloudCapabilities } from "../../../src/providers/hetzner-cloud/capabilities.ts";
import { ionosCapabilities } from "../../../src/providers/ionos/capabilities.ts";
import { IonosLab, type Raw } from "../../support/ionos-lab.ts";
import { around } from "../../support/surroundings.ts";

const service = { protocol: "tcp", listenPort: 443, targetPort: 8443 };
const balancer = {
  account: "demo",
  type: "nlb",
  location: "main",
  network: { name: "backend" },
  services: [service, { ...service, listenPort: 80, targetPort: 8080, check: { everySeconds: 5, timeoutSeconds: 3 } }],
  targets: [
    { host: "web-1", private: true },
    { labels: { role: "web" }, private: true },
  ],
};
const name = "LoadBalancer/edge";
const inBackend = { networks: [{ name: "backend" }], labels: { role: "web" } };

/** Two hosts in a network behind a load balancer, beside a load balancer, an IP block and a server of somebody else. */
async function furnished(spec: object = balancer): Promise<IonosLab> {
  const lab = await IonosLab.open();
  await lab.theirServer("theirs");
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" });
  await lab.bench.pass({ minutes: 2 });
  lab.theirBalancer("somebodys");
  for (const host of ["web-1", "web-2"]) await lab.host(host, inBackend);
  await lab.bench.declare(name, spec as never);
  await lab.bench.pass({ minutes: 5 });
  return lab;
}

const ours = (lab: IonosLab) => lab.one("networkloadbalancers", "edge");
const rulesOf = (raw: Raw) => raw.entities?.["forwardingrules"]?.items ?? [];
const ruleAt = (lab: IonosLab, port: number) =>
  rulesOf(ours(lab)).find(({ properties }) => properties["listenerPort"] === port) ?? assert.fail(`no rule of ${port}`);

function targetsIn(properties: Raw["properties"]): readonly string[] {
  return (properties["targets"] as unknown as readonly { readonly ip: string }[]).map(({ ip }) => ip);
}

function blocks(lab: IonosLab): readonly Raw[] {
  return lab.console("GET", "/ipblocks?depth=1")["items"] as readonly Raw[];
}

function truth(lab: IonosLab): string {
  const sorted = (items: readonly Raw[]) =>
    items.map((one) => [
      one.properties,
      rulesOf(one)
        .map((rule) => JSON.stringify(rule.properties))
        .sort(),
    ]);
  return JSON.stringify([
    sorted(lab.all("networkloadbalancers")),
    blocks(lab).map(({ id, properties }) => [id, properties]),
  ]);
}

const theirs = (lab: IonosLab) =>
  JSON.stringify([
    lab.one("networkloadbalancers", "somebodys"),
    lab.raw("theirs"),
    blocks(lab).filter(({ properties }) => properties.name === "somebodys"),
  ]);

const converged = (lab: IonosLab) => assert.match(lab.bench.ready(name), /^Converged/, lab.bench.why(name).join("\n"));

describe("a load balancer at IONOS", () => {
  test("is made with its address and its rules, and is then left in peace", async () => {
    const lab = await furnished();
    converged(lab);
    const { properties } = ours(lab);
    const [block] = blocks(lab).filter((one) => one.properties.name?.startsWith("edge setpoint:") === true);
    assert.deepEqual(properties["ips"], block?.properties["ips"]);
    assert.equal(properties["targetLan"], Number(lab.one("lans", "backend").id));
    const rules = rulesOf(ours(lab)).map((rule) => {
      const targets = rule.properties["targets"] as unknown as readonly {
        readonly ip: string;
        readonly port: number;
      }[];
      return [rule.properties["listenerPort"], targets.map(({ ip, port }) => `${ip}:${port}`).sort()];
    });
    const [one, two] = ["web-1", "web-2"].map((host) => lab.innerAddress(host));
    assert.deepEqual(Object.fromEntries(rules), {
      443: [`${one}:8443`, `${two}:8443`],
      80: [`${one}:8080`, `${two}:8080`],
    });
    const from = lab.lastRequest;
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(lab.writes(from), []);
    await lab.bench.stop();
  });

  const edits: readonly (readonly [string, (lab: IonosLab) => void, RegExp])[] = [
    ["a target is detached", (lab) => lab.change(ruleAt(lab, 443), { targets: [] }), /\/rules\/443/],
    [
      "a target is put to sleep and another one added",
      (lab) => {
        const targets = ruleAt(lab, 80).properties["targets"] as unknown as readonly object[];
        const maintenance = { check: true, checkInterval: 5000, maintenance: true };
        lab.change(ruleAt(lab, 80), {
          targets: [{ ...targets[0], healthCheck: maintenance }, targets[1], { ip: "10.7.9.9", port: 1, weight: 1 }],
        });
      },
      /\/rules\/80/,
    ],
    ["a rule is removed", (lab) => lab.discard(ruleAt(lab, 80)), /\/rules\/80/],
    [
      "a rule goes elsewhere, by another algorithm",
      (lab) => lab.change(ruleAt(lab, 443), { listenerPort: 444, algorithm: "SOURCE_IP" }),
      /\/rules\/444/,
    ],
    ["it is renamed", (lab) => lab.change(ours(lab), { name: "mine" }), /\/name mine → edge/],
    ["its address is renamed", (lab) => lab.change(lab.ownBlock("edge"), { name: "mine" }), /reservedFor mine → edge/],
    [
      "it is moved to another network and address",
      (lab) => {
        const other = lab.make("lans", { name: "other", public: false });
        const more = lab.console("POST", "/ipblocks", { properties: { name: "more", location: "de/fra", size: 1 } });
        const { ips } = more["properties"] as { readonly ips: readonly string[] };
        const before = ours(lab).properties["ips"] as unknown as readonly string[];
        lab.change(ours(lab), { targetLan: Number(other.id), ips: [...before, ...ips] });
      },
      /\/network/,
    ],
    [
      "it is deleted, and its address stays",
      (lab) => lab.discard(lab.all("networkloadbalancers").find(({ properties }) => properties.name !== "somebodys")),
      /create load-balancer/,
    ],
  ];
  for (const [title, edit, explained] of edits)
    test(`healed: ${title}`, async () => {
      const lab = await furnished();
      const before = truth(lab);
      const alien = theirs(lab);
      const { id: block } = lab.ownBlock("edge");
      edit(lab);
      assert.notEqual(truth(lab), before);
      await lab.bench.pass({ minutes: 10 });
      converged(lab);
      assert.equal(lab.ownBlock("edge").id, block, "the address is the same");
      const [again] = JSON.parse(truth(lab)) as [unknown];
      const [first] = JSON.parse(before) as [unknown];
      assert.deepEqual(again, first);
      assert.equal(theirs(lab), alien);
      assert.match(lab.bench.why(name).join("\n"), explained);
      await lab.bench.stop();
    });

  test("in a data center that is named by its id is where it is named by name, and so are its host and network", async () => {
    const lab = await IonosLab.open();
    const location = lab.at.split("/").at(-1) ?? "";
    await lab.bench.declare("CloudNetwork/backend", { account: "demo", location });
    await lab.bench.pass({ minutes: 2 });
    await lab.host("web-1", { ...inBackend, location });
    await lab.bench.declare(name, { ...balancer, location });
    await lab.bench.pass({ minutes: 6 });
    const all = [name, "CloudNetwork/backend", "Host/web-1"];
    for (const one of all) assert.match(lab.bench.ready(one), /^Converged/, one);
    const before = truth(lab);
    await lab.bench.declare(name, balancer);
    await lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" });
    await lab.redeclare("web-1", inBackend);
    await lab.bench.pass({ minutes: 12 });
    for (const one of all) assert.match(lab.bench.ready(one), /^Converged/, one);
    assert.deepEqual([truth(lab), lab.bench.heldChanges()], [before, []]);
    await lab.bench.declare(name, { ...balancer, location: "elsewhere" });
    await lab.bench.pass({ minutes: 2 });
    assert.doesNotMatch(lab.bench.ready(name), /^Converged/, "and elsewhere is elsewhere");
    await lab.bench.stop();
  });

  test("follows its hosts: one that comes is a target, one that is drained or gone is none, one without labels stays", async () => {
    const lab = await furnished();
    const addresses = () =>
      (ruleAt(lab, 443).properties["targets"] as unknown as readonly { readonly ip: string }[])
        .map(({ ip }) => ip)
        .sort();
    await lab.host("web-3", inBackend);
    await lab.bench.pass({ minutes: 4 });
    const [one = "", two = "", three = ""] = ["web-1", "web-2", "web-3"].map((host) => lab.innerAddress(host));
    assert.deepEqual(addresses(), [one, two, three].sort());
    lab.wipeLabels("web-3");
    lab.fault({ kind: "error", status: 503, path: "/labels", method: "POST" });
    await lab.bench.pass({ minutes: 5 });
    assert.deepEqual(addresses(), [one, two, three].sort(), "who lost its labels has not left");
    lab.change(ruleAt(lab, 443), { targets: [] });
    await lab.bench.pass({ minutes: 5 });
    assert.deepEqual(addresses(), [one, two, three].sort(), "nor when somebody takes it off meanwhile");
    lab.heal();
    await lab.bench.pass({ minutes: 20 });
    lab.fault({ kind: "half-list", share: 0, path: "^/labels$" });
    await lab.bench.pass({ minutes: 5 });
    assert.deepEqual(addresses(), [one, two, three].sort(), "nor has who is left out of a list of labels");
    lab.heal();
    await lab.redeclare("web-2", { ...inBackend, labels: { role: "db" } });
    await lab.bench.pass({ minutes: 20 });
    assert.deepEqual(addresses(), [one, three].sort(), "who is labelled otherwise has");
    await lab.remove("web-3");
    await lab.bench.pass({ minutes: 4 });
    assert.deepEqual(addresses(), [one]);
    converged(lab);
    await lab.bench.stop();
  });

  test("a list of servers that leaves some out takes no target away", async () => {
    const lab = await furnished();
    const before = truth(lab);
    lab.fault({ kind: "half-list", path: "/servers$" });
    await lab.bench.pass({ minutes: 30 });
    assert.equal(truth(lab), before);
    assert.match(lab.bench.why(name).join("\n"), /does not show/);
    lab.heal();
    await lab.bench.pass({ minutes: 10 });
    converged(lab);
    await lab.bench.stop();
  });

  test("a host without a server is said, and is a target when it has one", async () => {
    const lab = await furnished({ ...balancer, targets: [{ host: "web-9", private: true }, ...balancer.targets] });
    const [status] = lab.bench.statuses(name);
    assert.match(
      status?.conditions.find(({ type }) => type === "Report/TargetsNotThere")?.message ?? "",
      /no server in the network backend .* web-9/,
    );
    const report = status?.report as { readonly addresses: unknown; readonly hosts: object };
    assert.deepEqual(report.addresses, ours(lab).properties["ips"]);
    assert.deepEqual(Object.values(report.hosts), ["web-1", "web-2"]);
    await lab.host("web-9", { networks: [{ name: "backend" }] });
    await lab.bench.pass({ minutes: 4 });
    converged(lab);
    const targets = ruleAt(lab, 443).properties["targets"] as unknown as readonly unknown[];
    assert.equal(targets.length, 3);
    await lab.bench.stop();
  });
});

/** The next look by itself is a minute away, and what was listed is young. */
async function rightAfterALook(lab: IonosLab): Promise<void> {
  await lab.bench.pass({ minutes: 2 });
  const from = lab.lastRequest;
  const isLook = ({ actor, path }: { readonly actor: string; readonly path: string }) =>
    actor === "api" && path.endsWith("/networkloadbalancers");
  for (let second = 0; second < 90; second++) {
    await lab.bench.pass({ seconds: 1 });
    if (lab.world.log.after(from).some(isLook)) return;
  }
  assert.fail("it was not looked at");
}

describe("a drained host at IONOS is out of its load balancers before its server goes", () => {
  const byLabels = { ...balancer, targets: [{ labels: { role: "web" }, private: true }] };
  for (const drainSeconds of [1, 7, 30])
    test(`and for as long as it drains: ${drainSeconds} s`, async () => {
      const lab = await furnished(byLabels);
      await lab.redeclare("web-2", { ...inBackend, drainSeconds });
      await rightAfterALook(lab);
      const address = lab.innerAddress("web-2");
      const isTarget = () => rulesOf(ours(lab)).some(({ properties }) => targetsIn(properties).includes(address));
      const isThere = () => lab.all("servers").some(({ properties }) => properties.name?.startsWith("web-2 ") === true);
      assert.ok(isTarget());
      let [beganMs, outMs, goneMs]: readonly (number | undefined)[] = [];
      lab.watch(() => {
        const { nowMs } = lab.world.core.time;
        beganMs ??= nowMs;
        if (isTarget()) assert.ok(isThere(), "nobody is sent to a server that is gone");
        else outMs ??= nowMs;
        if (!isThere()) goneMs ??= nowMs;
      });
      await lab.bench.delete("Host/web-2", { confirmedCount: 2 });
      const removed = await lab.finish(await lab.start("host.delete", "Host/web-2"), 120);
      assert.equal(removed.state, "succeeded", removed.message);
      await lab.bench.pass({ seconds: 1 });
      assert.ok(beganMs !== undefined && outMs !== undefined && goneMs !== undefined, "both were seen");
      assert.ok(goneMs - outMs >= drainSeconds * 1_000, `gone ${goneMs - outMs} ms after it was out`);
      assert.ok(outMs - beganMs < 30_000, `out after ${outMs - beganMs} ms, long before the next look would be`);
      await lab.bench.stop();
    });

  test("and a load balancer that only looks is not waited for", async () => {
    const lab = await furnished(byLabels);
    await lab.bench.declare(name, byLabels, { mode: "observe" });
    await lab.redeclare("web-2", { ...inBackend, drainSeconds: 1 });
    await lab.remove("web-2");
    await lab.bench.stop();
  });

  test("and one that names it is not waited for when its server is replaced", async () => {
    const lab = await furnished();
    await lab.redeclare("web-1", { ...inBackend, drainSeconds: 1, type: "4-cores-8-gb-40-gb-ssd" });
    await lab.bench.pass({ minutes: 12 });
    const [held] = lab.bench.heldChanges();
    await lab.bench.approve(held ?? assert.fail(lab.bench.ready("Host/web-1")));
    await lab.passWorking(300);
    const replaced = [...lab.bench.store.state.tables.operations.values()].find(
      (row) => row.pipeline === "host.replace",
    );
    assert.equal(replaced?.state, "succeeded", replaced?.message);
    await lab.bench.stop();
  });
});

describe("a load balancer at IONOS goes, however long that takes, and its address after it", () => {
  test("the address is given back when nobody uses it any more, and nothing of somebody else's goes", async () => {
    const lab = await furnished();
    const alien = theirs(lab);
    lab.fault({ kind: "slow-actions", factor: 200, path: "/networkloadbalancers" });
    await lab.bench.delete(name, { confirmedCount: 2 });
    await lab.bench.pass({ minutes: 4 });
    assert.equal(lab.all("networkloadbalancers").length, 2, "it takes its time");
    assert.equal(lab.ownBlock("edge").properties["size"], 1, "and its address waits");
    assert.match(lab.bench.why(name).join("\n"), /in use/);
    lab.heal();
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(
      lab.all("networkloadbalancers").map(({ properties }) => properties.name),
      ["somebodys"],
    );
    assert.deepEqual(
      blocks(lab).map(({ properties }) => properties.name),
      ["somebodys"],
    );
    assert.equal(theirs(lab), alien);
    assert.throws(() => lab.bench.statuses(name), /not declared/, "and the resource ends");
    await lab.bench.stop();
  });

  test("an address that somebody uses for something of theirs is not given back", async () => {
    const lab = await furnished();
    const { id, properties } = lab.ownBlock("edge");
    lab.discard(ours(lab));
    const server = `${lab.at}/servers/${lab.one("servers", "theirs").id}`;
    lab.console("POST", `${server}/nics`, { properties: { lan: 1, ips: properties["ips"] } });
    await lab.bench.delete(name, { confirmedCount: 2 });
    await lab.bench.pass({ minutes: 30 });
    assert.equal(lab.ownBlock("edge").id, id);
    assert.match(lab.bench.why(name).join("\n"), /in use/);
    await lab.bench.stop();
  });

  test("an address whose name was taken over by somebody is not given back", async () => {
    const lab = await furnished();
    lab.change(lab.ownBlock("edge"), { name: "edge setpoint:somebody-else:resource" });
    await lab.bench.delete(name, { confirmedCount: 2 });
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(
      blocks(lab).map(({ properties }) => properties.name),
      ["somebodys", "edge setpoint:somebody-else:resource"],
    );
    await lab.bench.stop();
  });

  test("without a person's word nothing goes", async () => {
    const lab = await furnished();
    const before = truth(lab);
    await lab.bench.delete(name);
    await lab.bench.pass({ minutes: 30 });
    assert.equal(truth(lab), before);
    assert.deepEqual(
      lab.bench.heldChanges().flatMap(({ items }) => items.map(({ action }) => action)),
      ["delete"],
    );
    await lab.bench.stop();
  });
});

test("an order whose answer was lost makes no second load balancer and no second address, though lists lag", async () => {
  const lab = await IonosLab.open();
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" });
  await lab.bench.pass({ minutes: 2 });
  for (const path of ["/ipblocks$", "/networkloadbalancers$"])
    lab.fault({ kind: "timeout", when: "after", method: "POST", path, times: 1 });
  lab.world.core.settings.listLagSeconds = 60;
  await lab.bench.declare(name, { ...balancer, targets: [] });
  await lab.bench.pass({ minutes: 15 });
  lab.world.core.settings.listLagSeconds = 0;
  converged(lab);
  assert.deepEqual([lab.all("networkloadbalancers").length, blocks(lab).length], [1, 1]);
  await lab.bench.stop();
});

test("one of the same name that somebody made is not taken over by itself", async () => {
  const lab = await IonosLab.open();
  lab.make("lans", { name: "outer", public: true });
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" });
  await lab.bench.pass({ minutes: 2 });
  lab.theirBalancer("edge");
  const before = JSON.stringify(ours(lab));
  await lab.bench.declare(name, { ...balancer, targets: [] });
  await lab.bench.pass({ minutes: 10 });
  assert.equal(JSON.stringify(ours(lab)), before);
  await lab.bench.stop();
});

test("what such a load balancer cannot do is refused when it is declared, by the field, and nothing is made", async () => {
  const at = (provider: string, capabilities: unknown, spec: object) =>
    loadBalancerFits(loadBalancerSchema.parse(spec), { ...around, account: async () => ({ provider, capabilities }) });
  const wrong = {
    ...balancer,
    type: "lb11",
    network: { name: "backend", ip: "10.0.0.1" },
    services: [
      { ...service, protocol: "http", proxyProtocol: true, check: { protocol: "http", port: 1 } },
      { ...service, listenPort: 22, allowedOrigins: ["192.0.2.0/24"] },
    ],
    targets: [{ host: "web-1" }, { ip: "192.0.2.1" }, { ip: "10.0.0.9" }],
    labels: { a: "b" },
    protect: true,
  };
  const pointers = (problems: readonly { readonly pointer: string }[]) => problems.map(({ pointer }) => pointer);
  assert.deepEqual(pointers(await at("ionos", ionosCapabilities, wrong)), [
    "/spec/services/1/allowedOrigins",
    "/spec/type",
    "/spec/network/ip",
    "/spec/protect",
    "/spec/labels",
    "/spec/services/0/protocol",
    "/spec/services/0/proxyProtocol",
    "/spec/services/0/check/protocol",
    "/spec/services/0/check/port",
    "/spec/targets/0/private",
    "/spec/targets/1/ip",
  ]);
  const bare = { ...balancer, network: undefined, targets: [] };
  assert.deepEqual(pointers(await at("ionos", ionosCapabilities, bare)), ["/spec/network"]);
  const hidden = { ...balancer, public: false };
  assert.deepEqual(pointers(await at("ionos", ionosCapabilities, hidden)), ["/spec/public"]);
  assert.deepEqual(await at("ionos", ionosCapabilities, balancer), []);
  assert.deepEqual(pointers(await at("hetzner-cloud", hetznerCloudCapabilities, wrong)), [
    "/spec/services/1/allowedOrigins",
  ]);
  const lab = await IonosLab.open();
  await lab.bench.declare(name, wrong);
  await lab.bench.declare("LoadBalancer/moon", { ...balancer, location: "moon", targets: [] });
  await lab.bench.pass({ minutes: 5 });
  assert.match(lab.bench.ready(name), /there is one type there: write nlb/);
  assert.match(lab.bench.why("LoadBalancer/moon").join("\n"), /no location moon. There is: main/);
  assert.deepEqual([lab.all("networkloadbalancers"), blocks(lab)], [[], []]);
  await lab.bench.stop();
});
