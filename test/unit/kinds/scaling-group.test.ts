import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/ports/json.ts";
import { scalingGroupSchema } from "../../../src/kinds/scaling-group/schema.ts";
import { CloudLab, organizationId } from "../../support/cloud-lab.ts";

const template = { type: "cx22", image: "debian-12", location: "fsn1", labels: { role: "web" } };
const fixed = { account: "demo", mode: "static", min: 1, max: 10, desired: 3, template, drainSeconds: 60 };
const byLoad = {
  account: "demo",
  mode: "metric",
  min: 2,
  max: 6,
  desired: 3,
  template,
  metrics: { cpuPercent: { upAbove: 80, downBelow: 30 } },
  drainSeconds: 0,
};

async function started(spec: JsonObject): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0 });
  setLoad(lab, { "*": { cpu: 50 } });
  await lab.bench.declare("ScalingGroup/web", spec);
  await lab.passWorking(120);
  return lab;
}

function setLoad(lab: CloudLab, load: object): void {
  const cloud = lab.world.clouds.find(({ name }) => name === "hetzner-cloud") ?? assert.fail("no cloud");
  cloud.configure("demo", { load });
}

/** The members that are declared and stay. */
function members(lab: CloudLab): readonly string[] {
  return [...lab.bench.store.state.tables.resources.values()]
    .filter(({ kind, deletion }) => kind === "Host" && deletion === undefined)
    .map(({ name }) => name)
    .sort();
}

function servers(lab: CloudLab): readonly string[] {
  return lab
    .list<{ readonly name: string }>("servers")
    .map(({ name }) => name)
    .sort();
}

test("a group declares its members, whose operations make their servers, and is then left in peace", async () => {
  const lab = await started(fixed);
  assert.deepEqual(members(lab), ["web-1", "web-2", "web-3"]);
  assert.deepEqual(servers(lab), ["web-1", "web-2", "web-3"]);
  assert.match(lab.bench.ready("ScalingGroup/web"), /^Converged/);
  assert.match(lab.bench.ready("Host/web-2"), /^Converged/);
  const from = lab.lastRequest;
  await lab.passWorking(1_800, 30);
  assert.deepEqual(lab.writes(from), []);
  assert.deepEqual(members(lab), ["web-1", "web-2", "web-3"]);
  const [author] = [...lab.bench.store.state.tables.resources.values()]
    .filter(({ name }) => name === "web-1")
    .map((row) => row.author);
  assert.deepEqual(author, { name: "ScalingGroup/web", type: "machine" });
  await lab.bench.stop();
});

test("members that come to no server are named by the group, until they have one", async () => {
  const lab = await CloudLab.open({ pace: 0 });
  lab.world.clouds[0]?.configure("demo", { limits: { servers: 1 } });
  const missing = () =>
    lab.bench.statuses("ScalingGroup/web")[0]?.conditions.find(({ type }) => type.endsWith("MembersMissing"))?.message;
  await lab.bench.declare("ScalingGroup/web", fixed);
  await lab.passWorking(300);
  assert.deepEqual(servers(lab), ["web-1"]);
  assert.match(
    missing() ?? "",
    /^2 of 3 members have no server \(yet\): web-2, web-3\. See: setpoint why host\/web-2$/,
  );
  const from = lab.lastRequest;
  await lab.passWorking(1_800, 30);
  assert.deepEqual(lab.writes(from), [], "nothing is tried again and again");
  assert.ok(lab.lastRequest - from < 120, `${lab.lastRequest - from} requests in half an hour`);
  lab.world.clouds[0]?.configure("demo", { limits: { servers: 10 } });
  const { store } = lab.bench;
  const person = { author: { name: "ada", type: "person" as const }, reason: "the limit was raised" };
  const stuck = [...store.state.tables.operations.values()].filter(({ state }) => state === "attention");
  for (const { id: operationId } of stuck)
    await store.steerOperation({ organizationId, operationId, command: { verb: "resume" }, ...person });
  await lab.passWorking(300);
  assert.deepEqual([servers(lab).length, missing()], [3, undefined]);
  await lab.bench.stop();
});

test("a member that a person deletes is followed by a new one, and no name is used twice at once", async () => {
  const lab = await started(fixed);
  await lab.bench.delete("Host/web-2", { confirmedCount: 1 });
  await lab.start("host.delete", "Host/web-2");
  await lab.passWorking(180);
  assert.deepEqual(members(lab), ["web-1", "web-3", "web-4"]);
  assert.deepEqual(servers(lab), ["web-1", "web-3", "web-4"]);
  await lab.bench.stop();
});

test("a new label reaches the members in place; another type is for those that are made later", async () => {
  const lab = await started(fixed);
  const changed = { ...template, type: "cx32", labels: { role: "api" } };
  await lab.bench.declare("ScalingGroup/web", { ...fixed, desired: 4, template: changed });
  await lab.passWorking(420);
  const seen = lab.list<{ name: string; labels: Record<string, string>; server_type: { name: string } }>("servers");
  const lines = seen.map(({ name, labels, server_type }) => `${name} ${labels["role"]} ${server_type.name}`);
  assert.deepEqual(lines.sort(), ["web-1 api cx22", "web-2 api cx22", "web-3 api cx22", "web-4 api cx32"]);
  await lab.bench.stop();
});

test("one less: the newest is out of the load balancer for as long as it is said, and then its server goes", async () => {
  const lab = await started(fixed);
  const service = { protocol: "tcp", listenPort: 80, targetPort: 8080 };
  const balancer = {
    account: "demo",
    type: "lb11",
    location: "fsn1",
    services: [service],
    targets: [{ labels: { role: "web" } }],
  };
  await lab.bench.declare("LoadBalancer/edge", balancer);
  await lab.passWorking(360);
  assert.deepEqual(targets(lab), ["web-1", "web-2", "web-3"]);
  await lab.bench.declare("ScalingGroup/web", { ...fixed, desired: 2 });
  await lab.passWorking(30);
  assert.deepEqual(members(lab), ["web-1", "web-2"]);
  assert.deepEqual(targets(lab), ["web-1", "web-2"], "it gets no more visitors");
  assert.deepEqual(servers(lab), ["web-1", "web-2", "web-3"], "and answers those that it has");
  await lab.passWorking(120);
  assert.deepEqual(servers(lab), ["web-1", "web-2"]);
  await lab.bench.stop();
});

function targets(lab: CloudLab): readonly string[] {
  const names = new Map(lab.list<{ id: number; name: string }>("servers").map(({ id, name }) => [id, name]));
  type Target = { readonly targets?: readonly { readonly server: { readonly id: number } }[] };
  const [balancer] = lab.list<{ readonly targets: readonly Target[] }>("load_balancers");
  return (balancer?.targets ?? [])
    .flatMap((target) => target.targets ?? [])
    .map(({ server }) => names.get(server.id) ?? "unknown")
    .sort();
}

test("a wider shrink waits for a person, and goes when it is approved", async () => {
  const lab = await started({ ...fixed, desired: 6, drainSeconds: 0 });
  assert.equal(members(lab).length, 6);
  await lab.bench.declare("ScalingGroup/web", { ...fixed, desired: 2, drainSeconds: 0 });
  await lab.passWorking(900, 30);
  assert.equal(members(lab).length, 6, "nobody went without a person's word");
  const [held] = lab.bench.heldChanges();
  assert.equal(held?.items.length, 4);
  await lab.bench.approve(held ?? assert.fail("nothing waits"));
  await lab.passWorking(300, 30);
  assert.deepEqual(members(lab), ["web-1", "web-2"]);
  await lab.bench.stop();
});

describe("by load", () => {
  test("it grows one by one while its members are busy, to the most that is declared", async () => {
    const lab = await started(byLoad);
    assert.equal(members(lab).length, 3);
    setLoad(lab, { "*": { cpu: 95 } });
    await lab.passWorking(420, 20);
    assert.equal(members(lab).length, 4, "one cooldown, one more");
    await lab.passWorking(1_800, 30);
    assert.deepEqual([members(lab).length, servers(lab).length], [6, 6]);
    await lab.bench.stop();
  });

  test("it shrinks one by one while they are idle, to the least", async () => {
    const lab = await started({ ...byLoad, desired: 4 });
    setLoad(lab, { "*": { cpu: 5 } });
    await lab.passWorking(400, 20);
    assert.equal(members(lab).length, 3, "one cooldown, one less");
    await lab.passWorking(2_400, 30);
    assert.deepEqual(members(lab), ["web-1", "web-2"]);
    assert.deepEqual(servers(lab), ["web-1", "web-2"]);
    assert.deepEqual(lab.bench.heldChanges(), [], "that is covered by its declaration");
    await lab.bench.stop();
  });

  const silences: readonly (readonly [string, (lab: CloudLab) => void])[] = [
    ["nobody reports any more", (lab) => setLoad(lab, { "*": { cpu: null } })],
    ["zero on every member at once", (lab) => setLoad(lab, { "*": { cpu: 0 } })],
    ["one member does not report", (lab) => setLoad(lab, { "*": { cpu: 2 }, "web-2": { cpu: null } })],
    ["the metrics cannot be asked for", (lab) => void lab.fault({ kind: "error", path: "/metrics$" })],
    ["the servers are not listed", (lab) => void lab.fault({ kind: "half-list", path: "^/servers$", total: "kept" })],
  ];
  for (const [name, cause] of silences)
    test(`it keeps its size while ${name}, and says so`, async () => {
      const lab = await started(byLoad);
      if (!name.includes("cpu")) setLoad(lab, { "*": { cpu: 2 } });
      cause(lab);
      await lab.passWorking(1_800, 30);
      assert.equal(members(lab).length, 3);
      assert.equal(servers(lab).length, 3);
      assert.match(
        lab.bench.why("ScalingGroup/web").join("\n") + lab.bench.ready("ScalingGroup/web"),
        /derived-emptiness/,
      );
      lab.heal();
      setLoad(lab, { "*": { cpu: 5 } });
      await lab.passWorking(900, 30);
      assert.equal(members(lab).length, 2, "and goes on when they report again");
      await lab.bench.stop();
    });

  test("it holds its size while 30 % of the list calls fail", async () => {
    const lab = await started({ ...byLoad, desired: 4 });
    lab.fault({ kind: "error", method: "GET", chance: 0.3 });
    const seen = new Set<number>();
    for (let minute = 0; minute < 60; minute++) {
      await lab.passWorking(60, 30);
      seen.add(members(lab).length);
    }
    assert.deepEqual([...seen], [4]);
    assert.equal(servers(lab).length, 4);
    await lab.bench.stop();
  });

  test("load that jumps up and down changes it at most once a cooldown, and within its bounds", async () => {
    const lab = await started(byLoad);
    const sizes: number[] = [];
    for (let at = 0; at < 360; at++) {
      setLoad(lab, { "*": { cpu: Math.floor(at / 6) % 2 === 0 ? 95 : 5 } });
      await lab.passWorking(10);
      sizes.push(members(lab).length);
    }
    const steps = sizes.reduce((sum, size, at) => sum + Math.abs(size - (sizes[at - 1] ?? size)), 0);
    assert.ok(steps > 2 && steps <= 60 / 5, `${steps} steps in an hour: ${sizes.join(" ")}`);
    assert.ok(sizes.every((size) => size >= 2 && size <= 6));
    await lab.bench.stop();
  });
});

test("who goes first is as declared, and a member that is protected stays", async () => {
  const lab = await started({ ...fixed, victims: "oldest", drainSeconds: 0 });
  await lab.bench.declare("ScalingGroup/web", { ...fixed, victims: "oldest", drainSeconds: 0, desired: 2 });
  await lab.passWorking(600, 30);
  assert.deepEqual(members(lab), ["web-2", "web-3"]);
  const kept = { ...template, account: "demo", group: "web", protect: true, drainSeconds: 0 };
  await lab.bench.declare("Host/web-2", kept);
  await lab.passWorking(400, 30);
  await lab.bench.declare("ScalingGroup/web", { ...fixed, victims: "oldest", drainSeconds: 0, desired: 1 });
  await lab.passWorking(600, 30);
  assert.deepEqual([members(lab), servers(lab)], [["web-2"], ["web-2"]]);
  await lab.bench.stop();
});

test("in a window that is kept an idle group stays as large as it is, and shrinks behind it", async () => {
  // The bench begins on a Thursday, at midnight in UTC.
  const lab = await started({ ...byLoad, keepWindows: [{ days: ["thursday"], from: "00:00", to: "01:00" }] });
  setLoad(lab, { "*": { cpu: 5 } });
  await lab.passWorking(3_000, 30);
  assert.equal(members(lab).length, 3);
  await lab.passWorking(1_800, 30);
  assert.equal(members(lab).length, 2);
  await lab.bench.stop();
});

test("one metric is enough to grow, and all of them are needed to shrink", async () => {
  const metrics = { ...byLoad.metrics, networkMegabits: { upAbove: 40, downBelow: 8 } };
  const lab = await started({ ...byLoad, metrics });
  // Bytes a second each way: 16 megabits in all.
  setLoad(lab, { "*": { cpu: 5, network: 1_000_000 } });
  await lab.passWorking(1_800, 30);
  assert.equal(members(lab).length, 3, "idle by one of the two alone");
  setLoad(lab, { "*": { cpu: 5, network: 10_000_000 } });
  await lab.passWorking(600, 30);
  assert.ok(members(lab).length > 3, "busy by one of the two");
  setLoad(lab, { "*": { cpu: 5, network: 1_000 } });
  await lab.passWorking(3_600, 30);
  assert.equal(members(lab).length, 2);
  await lab.bench.stop();
});

test("people add members to a manual group by naming it, and it sees to its bounds alone", async () => {
  const lab = await started({ account: "demo", mode: "manual", min: 1, max: 3, template });
  assert.deepEqual(members(lab), ["web-1"]);
  await lab.bench.declare("Host/mine", { account: "demo", ...template, group: "web" });
  await lab.passWorking(300, 30);
  assert.deepEqual(members(lab), ["mine", "web-1"]);
  assert.match(lab.bench.ready("ScalingGroup/web"), /^Converged/);
  await lab.bench.stop();
});

test("a Host of another owner that has the name of a member is left alone, and the next name is taken", async () => {
  const lab = await CloudLab.open({ pace: 0 });
  await lab.bench.declare("Host/web-1", { account: "demo", ...template });
  await lab.bench.declare("ScalingGroup/web", { ...fixed, desired: 1 });
  await lab.passWorking(300, 30);
  assert.deepEqual(members(lab), ["web-1", "web-2"]);
  assert.match(lab.bench.why("ScalingGroup/web").join("\n"), /Host\/web-1.*not its own/);
  assert.match(lab.bench.ready("ScalingGroup/web"), /^Converged/);
  await lab.bench.stop();
});

test("a member that goes keeps its name until it is gone, and another one does not wait for that", async () => {
  const lab = await started({ ...fixed, drainSeconds: 3_600 });
  await lab.passWorking(360, 30);
  await lab.bench.declare("ScalingGroup/web", { ...fixed, desired: 2, drainSeconds: 3_600 });
  await lab.passWorking(400, 20);
  assert.deepEqual(members(lab), ["web-1", "web-2"]);
  await lab.bench.declare("ScalingGroup/web", { ...fixed, drainSeconds: 3_600 });
  await lab.passWorking(300, 20);
  assert.deepEqual(members(lab), ["web-1", "web-2", "web-4"]);
  assert.deepEqual(servers(lab), ["web-1", "web-2", "web-3", "web-4"]);
  await lab.bench.stop();
});

test("a group that is deleted with its count takes its members along; one that is not keeps them", async () => {
  const lab = await started(fixed);
  await lab.bench.delete("ScalingGroup/web");
  await lab.passWorking(300, 30);
  assert.equal(members(lab).length, 3, "without a count that waits for a person");
  await lab.bench.delete("ScalingGroup/web", { confirmedCount: 3 });
  await lab.passWorking(600, 30);
  assert.deepEqual([members(lab), servers(lab)], [[], []]);
  await lab.bench.stop();
});

test("in observe mode it declares nothing, and says what it would", async () => {
  const lab = await CloudLab.open({ pace: 0 });
  await lab.bench.declare("ScalingGroup/web", fixed, { mode: "observe" });
  await lab.passWorking(300, 30);
  assert.deepEqual(members(lab), []);
  assert.match(lab.bench.ready("ScalingGroup/web"), /would create 3/);
  await lab.bench.stop();
});

test("what cannot be is refused where it is declared", () => {
  const problems = (more: object) =>
    scalingGroupSchema.safeParse({ ...fixed, ...more }).error?.issues.map(({ path }) => path.join("."));
  const metrics = { cpuPercent: { upAbove: 80, downBelow: 30 } };
  assert.equal(problems({}), undefined);
  assert.deepEqual(problems({ min: 5, max: 2, desired: 3 }), ["max", "desired"]);
  assert.deepEqual(problems({ desired: undefined }), ["desired"]);
  assert.deepEqual(problems({ mode: "metric" }), ["metrics"]);
  assert.deepEqual(problems({ metrics }), ["metrics"]);
  assert.deepEqual(problems({ mode: "metric", metrics, max: 51 }), ["max"]);
  assert.deepEqual(problems({ mode: "metric", metrics, min: 0 }), ["min"]);
  assert.deepEqual(problems({ mode: "manual" }), ["desired"]);
  const inverted = { cpuPercent: { upAbove: 30, downBelow: 80 } };
  assert.deepEqual(problems({ mode: "metric", metrics: inverted }), ["metrics.cpuPercent.downBelow"]);
  assert.deepEqual(problems({ keepWindows: [{ days: ["monday"], from: "8:00", to: "25:00" }] }), [
    "keepWindows.0.from",
    "keepWindows.0.to",
  ]);
});

describe("a changed template", () => {
  const outdated = (lab: CloudLab) =>
    lab.bench
      .statuses("ScalingGroup/web")
      .flatMap((status) => status?.conditions ?? [])
      .find(({ type }) => type === "Report/MembersOutdated")?.message;

  test("is for new members: the group says who is not of it, in what, and how one is replaced", async () => {
    const lab = await started(fixed);
    assert.equal(outdated(lab), undefined);
    await lab.bench.declare("ScalingGroup/web", { ...fixed, template: { ...template, labels: { role: "api" } } });
    await lab.passWorking(180);
    assert.equal(outdated(lab), undefined, "labels reach the members that are there");
    const larger = { ...fixed, template: { ...template, type: "cx32", labels: { role: "api" } } };
    await lab.bench.declare("ScalingGroup/web", larger);
    await lab.passWorking(180);
    assert.match(
      outdated(lab) ?? "",
      /^3 of 3 members are still as an older template said \(type\): web-1, web-2, web-3\. .*setpoint delete host\/web-1/,
    );
    assert.match(lab.bench.ready("ScalingGroup/web"), /^Converged/, "that is as declared");
    const types = () => lab.list<{ server_type: { name: string } }>("servers").map((one) => one.server_type.name);
    assert.deepEqual(types(), ["cx22", "cx22", "cx22"]);
    await lab.bench.declare("ScalingGroup/web", { ...larger, desired: 4 });
    await lab.passWorking(300);
    assert.deepEqual(types().sort(), ["cx22", "cx22", "cx22", "cx32"]);
    assert.match(outdated(lab) ?? "", /^3 of 4 members/);
    await lab.bench.declare("ScalingGroup/web", {
      ...larger,
      desired: 4,
      template: { ...larger.template, type: "cx22" },
    });
    await lab.passWorking(180);
    assert.match(outdated(lab) ?? "", /^1 of 4 members .*: web-4\./);
    await lab.bench.stop();
  });

  test("of a group that people or loads size is met by declaring the member as the template says", async () => {
    const lab = await started(byLoad);
    await lab.bench.declare("ScalingGroup/web", { ...byLoad, template: { ...template, image: "debian-13" } });
    await lab.passWorking(180);
    assert.match(outdated(lab) ?? "", /^3 of 3 members .* \(image\): .*declare host\/web-1 as the template says/);
    await lab.bench.stop();
  });
});
