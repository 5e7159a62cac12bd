import assert from "node:assert/strict";
import { test } from "node:test";
import { ionosRoutes } from "../../../src/world/ionos/ionos.ts";
import { IonosWalk } from "../../support/ionos-walk.ts";
import { Specification } from "../../support/specification.ts";
import { TestWorld } from "../../support/world.ts";

const specification = new Specification("ionos", "ionos-cloud-v6.openapi.json.gz");
const offered = ionosRoutes.map(({ method, path }) => `${method} ${path}`);

test("every operation of the world is one of the specification's", () => {
  const known = new Set(specification.operations());
  assert.deepEqual(
    offered.filter((operation) => !known.has(operation)),
    [],
  );
});

for (const pace of [0, 1]) {
  test(`every request of a walk and every answer is as the specification says (${pace === 0 ? "at once" : "over time"})`, async () => {
    const world = new TestWorld({ pace });
    const walked = new Set<string>();
    const faults: string[] = [];
    const ask = async (method: string, path: string, body?: unknown) => {
      const [bare = "", query = ""] = path.split("?");
      const operation = specification.operationOf(method, bare);
      assert.ok(operation !== undefined, `${method} ${bare}`);
      walked.add(operation);
      faults.push(...specification.requestFaults(operation, new URLSearchParams(query), body));
      const answer = world.ask(method, `/cloudapi/v6${path}`, body);
      faults.push(...specification.answerFaults(operation, answer.status, answer.body));
      if (pace > 0 && method !== "GET") world.pass(300);
      else world.pass(1);
      return answer;
    };
    await new IonosWalk(ask).all();
    assert.deepEqual([...new Set(faults)], []);
    assert.deepEqual(offered.filter((operation) => !walked.has(operation)).toSorted(), []);
  });
}

test("a change is a request to wait for: queued, running, done, and its element is busy so long", () => {
  const world = new TestWorld();
  const base = "/cloudapi/v6";
  const post = (path: string, properties: unknown) => world.ask("POST", `${base}${path}`, { properties });
  const center = post("/datacenters", { name: "dc", location: "de/fra" });
  assert.equal(center.status, 202);
  const id = (center.body as { id: string }).id;
  const path = `/datacenters/${id}/servers`;
  world.pass(60);
  const first = post(path, { name: "a", cores: 1, ram: 1024 });
  const second = post(path, { name: "a", cores: 1, ram: 1024 });
  const status = (answer: { headers: Readonly<Record<string, string>> }) => {
    const request = /\/requests\/[^/]+\/status$/.exec(answer.headers["Location"] ?? "")?.[0] ?? "";
    return world.take<{ metadata: { status: string } }>(200, "GET", `${base}${request}`).metadata.status;
  };
  const state = (answer: { body: unknown }) =>
    world.take<{ metadata: { state: string } }>(200, "GET", `${base}${path}/${(answer.body as { id: string }).id}`)
      .metadata.state;
  assert.deepEqual([status(first), status(second)], ["RUNNING", "QUEUED"], "one after the other in a data center");
  assert.deepEqual([state(first), state(second)], ["BUSY", "BUSY"], "names need not be unique");
  assert.equal(world.ask("DELETE", `${base}${path}/${(first.body as { id: string }).id}`).status, 423);
  world.pass(25);
  assert.deepEqual([status(first), status(second)], ["DONE", "RUNNING"]);
  world.pass(25);
  assert.deepEqual([state(first), state(second)], ["AVAILABLE", "AVAILABLE"]);
  world.fault({ kind: "failed-actions", cloud: "ionos", times: 1 });
  const third = post(path, { name: "c", cores: 1, ram: 1024 });
  world.pass(60);
  assert.equal(status(third), "FAILED");
  const gone = world.ask("GET", `${base}${path}/${(third.body as { id: string }).id}`);
  assert.equal(gone.status, 404);
});

test("a contract has its number, its limits and its own rate, and refuses in its own words", () => {
  const world = new TestWorld({ accounts: ["demo", "other"], pace: 0 });
  const base = "/cloudapi/v6";
  const { items } = world.take<{ items: { properties: { contractNumber: number } }[] }>(
    200,
    "GET",
    `${base}/contracts`,
  );
  assert.ok((items[0]?.properties.contractNumber ?? 0) > 31_000_000);
  world.take(200, "PATCH", "/_world/accounts/ionos/demo", { limits: { coresPerContract: 2 } });
  const center = world.take<{ id: string }>(202, "POST", `${base}/datacenters`, { properties: { location: "de/fra" } });
  const server = (cores: number) =>
    world.ask("POST", `${base}/datacenters/${center.id}/servers`, { properties: { cores, ram: 1024 } });
  assert.equal(server(3).status, 422);
  assert.equal(server(2).status, 202);
  assert.match(JSON.stringify(server(1).body), /coresPerContract/);
  assert.equal(world.ask("POST", `${base}/datacenters`, { properties: { location: "mars" } }).status, 422);
  const bursts = Array.from({ length: 60 }, () => world.ask("GET", `${base}/locations`).status);
  assert.ok(bursts.includes(429), "more than 50 at once are too many");
});

test("a load balancer stands on LANs and reserved addresses, which cannot go before it, and goes as slowly as it comes", () => {
  const world = new TestWorld();
  const base = "/cloudapi/v6";
  const ask = (method: string, path: string, body?: unknown) => {
    const answer = world.ask(method, `${base}${path}`, body);
    return { status: answer.status, body: answer.body as { id: string; properties: Record<string, unknown> } };
  };
  const make = (path: string, properties: object) => {
    const { status, body } = ask("POST", path, { properties });
    assert.equal(status, 202, JSON.stringify(body));
    world.pass(120);
    return body;
  };
  const at = `/datacenters/${make("/datacenters", { name: "dc", location: "de/fra" }).id}`;
  const [outer, inner] = [true, false].map((open) => Number(make(`${at}/lans`, { public: open }).id));
  const block = make("/ipblocks", { location: "de/fra", size: 2 });
  const elsewhere = make("/ipblocks", { location: "de/txl", size: 1 });
  const [ip, second] = block.properties["ips"] as string[];
  const wanted = { name: "front", listenerLan: outer, targetLan: inner, ips: [ip] };
  const path = `${at}/networkloadbalancers`;
  const refused = (where: string, properties: object) => {
    const { status, body } = ask("POST", where, { properties });
    assert.equal(status, 422, JSON.stringify(body));
  };
  refused(path, { ...wanted, ips: [] });
  refused(path, { ...wanted, ips: ["192.0.2.1"] });
  refused(path, { ...wanted, ips: elsewhere.properties["ips"] });
  refused(path, { ...wanted, targetLan: outer });
  refused(path, { ...wanted, targetLan: 99 });
  const balancer = make(path, wanted);
  refused(path, { ...wanted, name: "again" });
  const rules = `${path}/${balancer.id}/forwardingrules`;
  const rule = { name: "r", algorithm: "ROUND_ROBIN", protocol: "TCP", listenerIp: ip, listenerPort: 80, targets: [] };
  make(rules, rule);
  refused(rules, rule);
  refused(rules, { ...rule, listenerPort: 81, listenerIp: second });
  const consumers = () =>
    (ask("GET", `/ipblocks/${block.id}`).body.properties["ipConsumers"] as { ip: string }[]).map((one) => one.ip);
  assert.deepEqual(consumers(), [ip]);
  for (const used of [`/ipblocks/${block.id}`, `${at}/lans/${inner}`, `${at}/lans/${outer}`])
    assert.equal(ask("DELETE", used).status, 422, used);
  assert.equal(ask("DELETE", `${path}/${balancer.id}`).status, 202);
  world.pass(30);
  assert.equal(ask("GET", `${path}/${balancer.id}`).status, 200);
  assert.equal(ask("DELETE", `/ipblocks/${block.id}`).status, 422);
  world.pass(60);
  assert.equal(ask("GET", `${path}/${balancer.id}`).status, 404);
  assert.deepEqual(consumers(), []);
  assert.equal(ask("DELETE", `/ipblocks/${block.id}`).status, 202);
});
