import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Json } from "../../../src/ports/json.ts";
import { loadBalancerSchema } from "../../../src/kinds/load-balancer/schema.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const host = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1", labels: { role: "web" } };
const balancer = {
  account: "demo",
  type: "lb11",
  location: "fsn1",
  network: { name: "backend" },
  services: [
    { protocol: "http", listenPort: 80, targetPort: 8080, sticky: {}, check: { path: "/healthz" } },
    { protocol: "https", listenPort: 443, targetPort: 8443, certificates: ["site"] },
  ],
  targets: [{ host: "web-1", private: true }, { labels: { role: "web" } }, { ip: "192.0.2.10" }],
  labels: { team: "edge" },
};

interface Raw {
  readonly id: number;
  readonly name: string;
  readonly targets: readonly { readonly type: string; readonly server?: { readonly id: number } }[];
  readonly services: readonly { readonly listen_port: number; readonly destination_port: number }[];
  readonly load_balancer_type: { readonly name: string };
  readonly private_net: readonly { readonly network: number; readonly ip: string }[];
  readonly location: { readonly name: string };
}

async function furnished(spec: Json = balancer) {
  const lab = await CloudLab.open();
  const certificate = readFileSync(new URL("../../specs/example-certificate.pem", import.meta.url), "utf8");
  const pem = "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n";
  lab.console("POST", "/certificates", { name: "site", certificate, private_key: pem });
  lab.console("POST", "/load_balancers", { name: "somebodys", load_balancer_type: "lb11", location: "fsn1" });
  const server = { server_type: "cx22", image: "debian-12", location: "fsn1" };
  lab.console("POST", "/servers", { ...server, name: "somebodys", labels: { role: "web" } });
  const subnets = [{ range: "10.0.1.0/24", zone: "eu-central" }];
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", range: "10.0.0.0/16", subnets });
  await lab.bench.pass({ minutes: 1 });
  await lab.bench.declare("Host/web-1", { ...host, networks: [{ name: "backend" }] });
  const made = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(made.state, "succeeded", JSON.stringify(made));
  await lab.bench.declare("LoadBalancer/edge", spec);
  await lab.bench.pass({ minutes: 3 });
  const id = () => ours(lab).id;
  return { lab, id };
}

function ours(lab: CloudLab): Raw {
  const [one] = lab.list<Raw>("load_balancers").filter(({ name }) => name !== "somebodys");
  return one ?? assert.fail("no load balancer");
}

/** Everything in the project, without what moves by itself. */
function truth(lab: CloudLab): string {
  const lists = ["load_balancers", "servers", "networks", "certificates"].map((list) => lab.list<Raw>(list));
  const sorted = lists.map((list) => [...list].sort((left, right) => (left.name < right.name ? -1 : 1)));
  const balancers = (sorted[0] ?? []).map((one) => ({
    ...one,
    targets: one.targets.map((target) => JSON.stringify(target)).sort(),
    services: [...one.services].sort((left, right) => left.listen_port - right.listen_port),
  }));
  return JSON.stringify([balancers, ...sorted.slice(1)]).replace(/\\"status\\":\\"\w+\\"/g, "");
}

test("a load balancer is made with its services, targets, network and certificates, and is then left in peace", async () => {
  const { lab } = await furnished();
  assert.match(lab.bench.ready("LoadBalancer/edge"), /^Converged/);
  const { targets, services, private_net } = ours(lab);
  const server = lab.list<Raw>("servers").find(({ name }) => name === "web-1");
  assert.deepEqual(targets.map(({ type }) => type).sort(), ["ip", "label_selector", "server"]);
  assert.deepEqual(
    targets.flatMap((target) => (target.type === "server" ? [target.server?.id] : [])),
    [server?.id],
  );
  const [selected] = targets.filter(({ type }) => type === "label_selector") as unknown as readonly {
    readonly targets: readonly { readonly server: { readonly id: number } }[];
  }[];
  assert.deepEqual(
    selected?.targets.map((each) => each.server.id),
    [server?.id],
    "a server of somebody with the same label is not among them",
  );
  assert.deepEqual(
    services.map(({ listen_port, destination_port }) => [listen_port, destination_port]),
    [
      [80, 8080],
      [443, 8443],
    ],
  );
  assert.equal(private_net.length, 1);
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 30 });
  assert.deepEqual(lab.writes(from), []);
  await lab.bench.stop();
});

describe("what somebody changes at a load balancer is put back, and nothing else is touched", () => {
  const edits: readonly (readonly [string, (lab: CloudLab, id: number) => void, RegExp])[] = [
    [
      "a target is detached",
      (lab, id) => {
        const { server } = ours(lab).targets.find(({ type }) => type === "server") ?? assert.fail();
        lab.console("POST", `/load_balancers/${id}/actions/remove_target`, { type: "server", server });
      },
      /update load-balancer.*\/targets/,
    ],
    [
      "a target is added",
      (lab, id) =>
        void lab.console("POST", `/load_balancers/${id}/actions/add_target`, { type: "ip", ip: { ip: "192.0.2.66" } }),
      /update load-balancer.*\/targets/,
    ],
    [
      "a server that nobody declared is added as a target",
      (lab, id) => {
        const theirs = lab.list<Raw>("servers").find(({ name }) => name === "somebodys") ?? assert.fail();
        const body = { type: "server", server: { id: theirs.id } };
        lab.console("POST", `/load_balancers/${id}/actions/add_target`, body);
      },
      /update load-balancer.*\/targets/,
    ],
    [
      "a service goes elsewhere",
      (lab, id) =>
        void lab.console("POST", `/load_balancers/${id}/actions/update_service`, {
          listen_port: 80,
          destination_port: 9,
          http: { sticky_sessions: false },
          health_check: { protocol: "tcp", port: 9, interval: 20, timeout: 5, retries: 1 },
        }),
      /update load-balancer.*\/services\/80/,
    ],
    [
      "a service is removed and another one opened",
      (lab, id) => {
        lab.console("POST", `/load_balancers/${id}/actions/delete_service`, { listen_port: 443 });
        const check = { protocol: "tcp", port: 22, interval: 15, timeout: 10, retries: 3 };
        const service = { protocol: "tcp", listen_port: 22, destination_port: 22, proxyprotocol: false };
        lab.console("POST", `/load_balancers/${id}/actions/add_service`, { ...service, health_check: check });
      },
      /update load-balancer.*\/services/,
    ],
    [
      "it is renamed, its labels are wiped, its type and algorithm are changed, and it is protected",
      (lab, id) => {
        lab.console("PUT", `/load_balancers/${id}`, { name: "mine-now", labels: {} });
        lab.console("POST", `/load_balancers/${id}/actions/change_type`, { load_balancer_type: "lb21" });
        lab.console("POST", `/load_balancers/${id}/actions/change_algorithm`, { type: "least_connections" });
        lab.console("POST", `/load_balancers/${id}/actions/change_protection`, { delete: true });
      },
      /update load-balancer.*\/name mine-now → edge/,
    ],
    [
      "it is taken out of its network",
      (lab, id) => {
        const { server } = ours(lab).targets.find(({ type }) => type === "server") ?? assert.fail();
        lab.console("POST", `/load_balancers/${id}/actions/remove_target`, { type: "server", server });
        const [at] = ours(lab).private_net;
        lab.console("POST", `/load_balancers/${id}/actions/detach_from_network`, { network: at?.network });
      },
      /update load-balancer.*\/networks/,
    ],
  ];
  for (const [name, edit, explained] of edits) {
    test(name, async () => {
      const { lab, id } = await furnished();
      const before = truth(lab);
      edit(lab, id());
      assert.notEqual(truth(lab), before);
      await lab.bench.pass({ minutes: 3 });
      assert.equal(truth(lab), before);
      assert.match(lab.bench.why("LoadBalancer/edge").join("\n"), explained);
      await lab.bench.stop();
    });
  }
});

test("one that is deleted behind our back is made again, and a spec that changes is followed in place", async () => {
  const { lab, id } = await furnished();
  const first = id();
  lab.console("DELETE", `/load_balancers/${first}`);
  await lab.bench.pass({ minutes: 10 });
  assert.notEqual(id(), first);
  const second = id();
  await lab.bench.declare("LoadBalancer/edge", {
    account: "demo",
    location: "fsn1",
    type: "lb21",
    services: [{ protocol: "tcp", listenPort: 443, targetPort: 8443 }],
    targets: [{ host: "web-1" }],
  });
  await lab.bench.pass({ minutes: 3 });
  assert.match(lab.bench.ready("LoadBalancer/edge"), /^Converged/);
  const { load_balancer_type, targets, services, private_net } = ours(lab);
  assert.deepEqual(
    [id(), load_balancer_type.name, targets.length, services.length, private_net.length],
    [second, "lb21", 1, 1, 0],
  );
  await lab.bench.stop();
});

test("another location is another load balancer, which a person has to approve", async () => {
  const { lab, id } = await furnished();
  const first = id();
  await lab.bench.declare("LoadBalancer/edge", { ...balancer, location: "nbg1" });
  await lab.bench.pass({ minutes: 10 });
  assert.deepEqual([id(), ours(lab).location.name], [first, "fsn1"]);
  assert.deepEqual(
    lab.bench.heldChanges().flatMap(({ items }) => items.map(({ action }) => action)),
    ["replace"],
  );
  await lab.bench.stop();
});

test("one of the same name that somebody made is not taken over by itself", async () => {
  const lab = await CloudLab.open();
  const there = { name: "edge", load_balancer_type: "lb21", location: "nbg1", labels: { theirs: "yes" } };
  lab.console("POST", "/load_balancers", there);
  const before = truth(lab);
  await lab.bench.declare("LoadBalancer/edge", { account: "demo", type: "lb11", location: "fsn1" });
  await lab.bench.pass({ minutes: 10 });
  assert.equal(truth(lab), before);
  await lab.bench.stop();
});

test("a host that has no server yet is added when it has one", async () => {
  const { lab } = await furnished({
    ...balancer,
    targets: [{ host: "web-2" }, { host: "web-1" }, { ip: "192.0.2.1" }],
  });
  assert.deepEqual(ours(lab).targets.length, 2);
  assert.match(lab.bench.ready("LoadBalancer/edge"), /server web-2 is not in the project/);
  await lab.bench.declare("Host/web-2", host);
  await lab.finish(await lab.start("host.create", "Host/web-2"));
  await lab.bench.pass({ minutes: 10 });
  assert.deepEqual(ours(lab).targets.length, 3);
  assert.match(lab.bench.ready("LoadBalancer/edge"), /^Converged/);
  await lab.bench.stop();
});

test("origins that the provider cannot keep apart are refused before anything is made", async () => {
  const lab = await CloudLab.open();
  const services = [{ protocol: "tcp", listenPort: 22, targetPort: 22, allowedOrigins: ["192.0.2.0/24"] }];
  await lab.bench.declare("LoadBalancer/edge", { account: "demo", type: "lb11", location: "fsn1", services });
  await lab.bench.pass({ minutes: 5 });
  assert.deepEqual(lab.list("load_balancers"), []);
  assert.match(
    lab.bench.ready("LoadBalancer/edge"),
    /allowedOrigins: load balancers that let in by origin cannot be had/,
  );
  await lab.bench.stop();
});

describe("what cannot be is refused when it is declared", () => {
  const good = { account: "demo", type: "lb11", location: "fsn1" };
  const service = { protocol: "tcp", listenPort: 443, targetPort: 443 };
  const bad: readonly (readonly [string, object, RegExp])[] = [
    ["a port twice", { services: [service, service] }, /port 443 is listened to twice/],
    [
      "a redirect beside a service of its port",
      {
        services: [
          { ...service, protocol: "https", certificates: ["a"], redirectHttp: true },
          { ...service, listenPort: 80 },
        ],
      },
      /port 80 is listened to twice/,
    ],
    ["https without a certificate", { services: [{ ...service, protocol: "https" }] }, /https needs at least one/],
    ["a certificate of tcp", { services: [{ ...service, certificates: ["a"] }] }, /tcp has none/],
    ["a cookie of tcp", { services: [{ ...service, sticky: {} }] }, /http and https alone/],
    ["a slow check", { services: [{ ...service, check: { timeoutSeconds: 30 } }] }, /not be more than everySeconds/],
    [
      "an origin allowed and blocked",
      { services: [{ ...service, allowedOrigins: ["10.0.0.0/8"], blockedOrigins: ["10.0.0.0/8"] }] },
      /allowed and blocked at once/,
    ],
    ["an origin that is no block", { services: [{ ...service, blockedOrigins: ["10.0.0.1/8"] }] }, /begin/],
    ["a target twice", { targets: [{ host: "a" }, { host: "a", private: false }] }, /is there twice/],
    ["a private target without a network", { targets: [{ host: "a", private: true }] }, /needs spec.network/],
    ["no address at all", { public: false }, /needs public addresses/],
    [
      "a public target of a private one",
      { public: false, network: { name: "n" }, targets: [{ host: "a" }] },
      /must be true/,
    ],
    ["an address that is none", { targets: [{ ip: "1.2.3" }] }, /./],
  ];
  for (const [name, spec, message] of bad)
    test(name, () => {
      const parsed = loadBalancerSchema.safeParse({ ...good, ...spec });
      assert.ok(!parsed.success);
      assert.match(parsed.error.issues.map((issue) => issue.message).join("\n"), message);
    });
});
