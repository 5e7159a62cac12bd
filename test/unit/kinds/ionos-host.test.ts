import assert from "node:assert/strict";
import { test } from "node:test";
import { CloudLab } from "../../support/cloud-lab.ts";

const host = {
  account: "demo",
  type: "2-cores-4-gb-20-gb-ssd",
  image: "debian:12",
  location: "main",
  publicAddresses: { ipv4: true, ipv6: false },
  labels: { role: "web" },
};

interface Raw {
  readonly id: string;
  readonly properties: { readonly name: string; readonly vmState: string; readonly cores: number };
}

async function furnished() {
  const lab = await CloudLab.open({ cloud: "ionos", pace: 0.05 });
  lab.world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { requestsPerMinute: 1_000_000 });
  const body = { properties: { name: "main", location: "de/fra" } };
  const { id: datacenter } = lab.console("POST", "/datacenters", body) as { id: string };
  const at = `/datacenters/${datacenter}/servers`;
  lab.console("POST", at, { properties: { name: "somebodys", cores: 1, ram: 1024 } });
  const all = () => lab.console("GET", `${at}?depth=1`)["items"] as readonly Raw[];
  const ours = () => all().find(({ properties }) => properties.name.startsWith("web-1 ")) ?? assert.fail("no server");
  await lab.bench.pass({ minutes: 1 });
  return { lab, at, all, ours };
}

test("a host at IONOS is made once, kept as declared and removed, and nothing else is touched", async () => {
  const { lab, at, all, ours } = await furnished();
  const theirs = JSON.stringify(all().filter(({ properties }) => properties.name === "somebodys"));
  await lab.bench.declare("ComputeProvider/main", { account: "demo", family: "ionos" }, { mode: "enforce" });
  await lab.bench.declare("Host/web-1", host);
  const made = await lab.finish(await lab.start("host.create", "Host/web-1"), 600);
  assert.equal(made.state, "succeeded", made.message);
  await lab.bench.pass({ minutes: 6 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
  assert.match(lab.bench.ready("ComputeProvider/main"), /^Converged/);
  assert.equal(ours().properties.vmState, "RUNNING");

  const quiet = lab.lastRequest;
  await lab.bench.pass({ minutes: 20 });
  assert.deepEqual(lab.writes(quiet), []);

  lab.console("POST", `${at}/${ours().id}/stop`);
  lab.console("PUT", `${at}/${ours().id}/labels/role`, { properties: { key: "role", value: "mine" } });
  await lab.bench.pass({ minutes: 15 });
  const labels = lab.console("GET", `${at}/${ours().id}/labels/role`) as { properties: { value: string } };
  assert.deepEqual([ours().properties.vmState, labels.properties.value], ["RUNNING", "web"]);
  const { id } = ours();
  lab.console("PATCH", `${at}/${id}`, { name: "mine-now" });
  await lab.bench.pass({ minutes: 15 });
  assert.equal(ours().id, id, "the name with the mark in it is put back");

  await lab.bench.delete("Host/web-1", { confirmedCount: 2 });
  const removed = await lab.finish(await lab.start("host.delete", "Host/web-1"), 600);
  assert.equal(removed.state, "succeeded", removed.message);
  assert.deepEqual(JSON.stringify(all()), theirs);
  await lab.bench.stop();
});

test("another type at IONOS waits for a person, and is then another server of the same mark", async () => {
  const { lab, all, ours } = await furnished();
  const theirs = JSON.stringify(all().filter(({ properties }) => properties.name === "somebodys"));
  await lab.bench.declare("Host/web-1", host);
  const made = await lab.finish(await lab.start("host.create", "Host/web-1"), 600);
  assert.equal(made.state, "succeeded", made.message);
  const before = ours();
  await lab.bench.declare("Host/web-1", { ...host, type: "4-cores-8-gb-40-gb-ssd" });
  await lab.bench.pass({ minutes: 12 });
  assert.equal(ours().id, before.id);
  const [held] = lab.bench.heldChanges();
  assert.equal(held?.guard, "replacement", lab.bench.ready("Host/web-1"));
  await lab.bench.approve(held);
  await lab.bench.pass({ minutes: 1 });
  const operations = [...lab.bench.store.state.tables.operations.values()];
  const operation = operations.find(({ pipeline }) => pipeline === "host.replace") ?? assert.fail("it was not started");
  const replaced = await lab.finish(operation.id, 900);
  assert.equal(replaced.state, "succeeded", replaced.message);
  assert.notEqual(ours().id, before.id);
  assert.deepEqual([ours().properties.name, ours().properties.cores], [before.properties.name, 4]);
  assert.equal(JSON.stringify(all().filter(({ properties }) => properties.name === "somebodys")), theirs);
  assert.equal(all().length, 2);
  await lab.bench.pass({ minutes: 12 });
  assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
  await lab.bench.stop();
});

for (const fault of [
  { kind: "rate-limit", method: "POST", path: "/labels$" },
  { kind: "error", status: 423, method: "POST", path: "/labels$" },
  { kind: "error", status: 422, method: "POST", path: "/labels$" },
])
  test(`an order that IONOS took is ours, whatever fails behind it (${fault.status ?? fault.kind})`, async () => {
    const { lab, at, all, ours } = await furnished();
    await lab.bench.declare("Host/web-1", host);
    lab.fault({ ...fault, times: 1 });
    const made = await lab.finish(await lab.start("host.create", "Host/web-1"), 600);
    assert.equal(made.state, "succeeded", made.message);
    assert.equal(all().length, 2, "the server and somebody's");
    const labels = lab.console("GET", `${at}/${ours().id}/labels/role`);
    assert.deepEqual((labels["properties"] as { value: string }).value, "web");
    await lab.bench.stop();
  });

test("what IONOS cannot do is refused before anything is made, with what to do", async () => {
  const { lab } = await furnished();
  await lab.bench.declare("LoadBalancer/edge", { account: "demo", type: "nlb", location: "main" });
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 5 });
  assert.match(lab.bench.ready("LoadBalancer/edge"), /cannot do that: \/spec\/network: is needed/);
  assert.deepEqual(lab.writes(from), []);
  await lab.bench.stop();
});

test("a type that is none and a data center that is not there end the operation in words", async () => {
  const { lab } = await furnished();
  await lab.bench.declare("Host/web-1", { ...host, type: "cx22" });
  const wrong = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.match(wrong.message ?? "", /no server type cx22/);
  await lab.bench.declare("Host/web-2", { ...host, location: "moon" });
  const nowhere = await lab.finish(await lab.start("host.create", "Host/web-2"));
  assert.match(nowhere.message ?? "", /not offered in moon. It is in: main/);
  await lab.bench.stop();
});
