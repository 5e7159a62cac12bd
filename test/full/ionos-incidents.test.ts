import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorldOptions } from "../../src/world/world.ts";
import { IonosLab } from "../support/ionos-lab.ts";

/**
 * What happened to others at their cloud, at a contract of IONOS: a firewall on the cards of three hosts, a load balancer before
 * them, two networks, and things of somebody else. Each incident lasts an hour and goes away. A page of a list holds two
 * entries meanwhile, so that every list has several.
 */
const rules = [
  { protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] },
  { protocol: "tcp", port: "22", cidrs: ["192.0.2.0/24"] },
];
const hosts = ["web-1", "web-2", "web-3"];
const networks = ["CloudNetwork/backend", "CloudNetwork/storage"];
const balancer = {
  account: "demo",
  type: "nlb",
  location: "main",
  network: { name: "backend" },
  services: [443, 80].map((port) => ({ protocol: "tcp", listenPort: port, targetPort: port })),
  targets: [{ labels: { role: "web" }, private: true }],
};
const everything = ["Firewall/web", "LoadBalancer/edge", ...networks, ...hosts.map((name) => `Host/${name}`)];

async function furnished(options: WorldOptions = {}): Promise<IonosLab> {
  const lab = await IonosLab.open(options);
  await lab.theirServer("theirs");
  lab.make("lans", { name: "theirs-too", public: false });
  for (const name of networks) await lab.bench.declare(name, { account: "demo", location: "main" });
  await lab.bench.declare("Firewall/web", { account: "demo", applies: "scope", rules });
  await lab.bench.pass({ minutes: 2 });
  lab.theirBalancer("somebodys");
  for (const name of hosts) await lab.host(name, { networks: [{ name: "backend" }], labels: { role: "web" } });
  await lab.bench.declare("LoadBalancer/edge", balancer);
  await lab.bench.pass({ minutes: 12 });
  requireConverged(lab);
  return lab;
}

function requireConverged(lab: IonosLab): void {
  for (const name of everything)
    assert.match(lab.bench.ready(name), /^Converged/, `${name}\n${lab.bench.why(name).join("\n")}`);
}

const whyAll = (lab: IonosLab): readonly string[] =>
  everything.flatMap((name) => lab.bench.why(name).map((line) => `${name} ${line}`));

function requireNothingSaid(lab: IonosLab, news: readonly string[]): void {
  requireConverged(lab);
  assert.deepEqual(news, []);
}

const truth = (lab: IonosLab): string =>
  JSON.stringify([
    ...["servers", "lans", "volumes", "networkloadbalancers"].map((segment) => lab.all(segment)),
    lab.console("GET", "/ipblocks?depth=1"),
  ]);

const listed = "/(servers|lans|networkloadbalancers|ipblocks)$";
const single = "/(servers|lans|networkloadbalancers|ipblocks)/[^/]+$";

interface Incident {
  readonly title: string;
  readonly faults: readonly object[];
  /** What stood in the way of the damage, as the record of that hour says it; or nothing, because nothing seemed to differ. */
  readonly said: RegExp | "nothing";
  readonly requestsMax?: number;
}

const incidents: readonly Incident[] = [
  {
    title: "lists end half-way",
    faults: [{ kind: "half-list", path: listed }],
    said: /guard evidence said wait: not in the listing, but there when read by its id/,
  },
  {
    title: "the list of labels ends half-way",
    faults: [{ kind: "half-list", path: "^/labels$" }],
    said: /guard fights said trim: .*\/labels\/role: we write "web", somebody writes nothing/,
  },
  {
    title: "lists end half-way and link to more",
    faults: [{ kind: "half-list", total: "kept", path: listed }],
    said: /guard complete-reads said wait: .*with nothing, after it had linked to it/,
  },
  {
    title: "every page is the first",
    faults: [{ kind: "repeated-page" }],
    said: /guard complete-reads said wait: .*with the page from 0/,
  },
  {
    title: "every page begins with the last entry of the one before",
    faults: [{ kind: "duplicate-page" }],
    said: /guard complete-reads said wait: .*entry \S+ was listed twice/,
  },
  {
    title: "every page is cut from another order",
    faults: [{ kind: "reordered-list" }],
    said: /guard complete-reads said wait: .*entry \S+ was listed twice/,
  },
  {
    title: "everything answers 404",
    faults: [{ kind: "error", status: 404, code: "309", message: "Resource does not exist", method: "GET" }],
    said: /guard complete-reads said wait: nothing could be seen \(NOT_FOUND: IONOS answered 404/,
  },
  {
    title: "lists are empty, and reads by id fail",
    faults: [
      { kind: "half-list", share: 0, path: listed },
      { kind: "error", status: 503, method: "GET", path: single },
    ],
    said: /guard too-many-at-once said hold: \d of 7 subjects of this account went bad together/,
  },
  {
    title: "the contract is locked",
    faults: [{ kind: "suspended-account" }],
    said: /guard complete-reads said wait: nothing could be seen \(CREDENTIAL_REFUSED: .*contract is locked/,
    requestsMax: 200,
  },
  {
    title: "the token has expired",
    faults: [{ kind: "expired-token" }],
    said: /guard complete-reads said wait: nothing could be seen \(CREDENTIAL_REFUSED: .*Unauthorized/,
    requestsMax: 200,
  },
  {
    title: "the token is another contract's",
    faults: [{ kind: "other-account", as: "other" }],
    said: /guard account-identity said refuse: account 'demo' answers as another account/,
  },
  {
    title: "lists are a quarter of an hour old",
    faults: [{ kind: "stale-list", ageSeconds: 900 }],
    said: /guard derived-emptiness said wait: .*the list of servers does not show \S+, which is in network backend/,
  },
  {
    title: "nine of ten requests fail",
    faults: [{ kind: "error", status: 503, chance: 0.9 }],
    said: /guard complete-reads said wait: nothing could be seen \(PROVIDER_UNAVAILABLE/,
  },
  { title: "a whole location is out", faults: [{ kind: "region-outage", location: "de/fra" }], said: "nothing" },
];

describe("an hour of trouble at IONOS: nothing is made, opened or deleted, and work resumes", () => {
  for (const { title, faults, said, requestsMax } of incidents)
    test(title, async () => {
      const lab = await furnished({ pageMax: 2 });
      const before = truth(lab);
      const from = lab.lastRequest;
      for (const fault of faults) lab.fault({ account: "demo", ...fault });
      const known = new Set(whyAll(lab));
      await lab.bench.pass({ hours: 1 });
      const requests = lab.lastRequest - from;
      const news = whyAll(lab).filter((line) => !known.has(line));
      if (said === "nothing") requireNothingSaid(lab, news);
      else assert.match(news.join("\n"), said);
      lab.heal();
      assert.equal(truth(lab), before, lab.writes(from).join("\n"));
      assert.deepEqual(
        lab.writes(from).filter((line) => line.startsWith("DELETE")),
        [],
      );
      if (requestsMax !== undefined) assert.ok(requests <= requestsMax, `${requests} requests in an hour`);
      await lab.bench.pass({ minutes: 75 });
      requireConverged(lab);
      assert.equal(truth(lab), before);
      assert.deepEqual(lab.bench.heldChanges(), []);
      await lab.bench.stop();
    });
});

test("requests that fail behind their answer are seen, said and tried again, and end as declared", async () => {
  const lab = await furnished();
  lab.fault({ kind: "failed-actions", code: "VDC-5-1", message: "no luck", path: "/firewallrules" });
  await lab.bench.declare("Firewall/web", { account: "demo", applies: "scope", rules: rules.slice(0, 1) });
  await lab.bench.pass({ minutes: 20 });
  assert.match(lab.bench.why("Firewall/web").join("\n"), /could not carry out.*no luck/);
  lab.heal();
  await lab.bench.pass({ minutes: 75 });
  for (const name of hosts) assert.equal(lab.card(name).rules.length, 1);
  requireConverged(lab);
  await lab.bench.stop();
});

test("the contract's limit is reached half-way: what fits is made, the rest says so and does not go on trying", async () => {
  const lab = await IonosLab.open();
  lab.world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { limits: { coresPerContract: 4 } });
  const from = lab.lastRequest;
  const ended: string[] = [];
  for (const name of ["web-1", "web-2", "web-3", "web-4"]) {
    await lab.redeclare(name, {});
    const { state, message } = await lab.finish(await lab.start("host.create", `Host/${name}`), 600);
    ended.push(state);
    if (state === "attention") assert.match(message, /coresPerContract would be exceeded.*have the limit raised/s);
  }
  assert.deepEqual(ended, ["succeeded", "succeeded", "attention", "attention"]);
  await lab.bench.pass({ hours: 1 });
  assert.equal(lab.writes(from).filter((line) => /^POST .*\/servers$/.test(line)).length, 4);
  assert.equal(lab.all("servers").length, 2);
  assert.equal(lab.all("volumes").length, 2, "no disk is left of what was refused");
  await lab.bench.stop();
});

test("a storm of 429 at one contract leaves the others alone, and is not answered by another storm", async () => {
  const lab = await furnished();
  lab.world.clouds.find(({ name }) => name === "ionos")?.configure("other", { requestsPerMinute: 1_000_000 });
  lab.console("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } }, "other");
  lab.fault({ kind: "rate-limit", retryAfterSeconds: 120, account: "demo" });
  await lab.bench.declare("Firewall/web", { account: "demo", applies: "scope", rules: rules.slice(0, 1) });
  await lab.bench.declare("CloudNetwork/elsewhere", { account: "other", location: "main" });
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 30 });
  const asked = lab.world.log.after(from).filter(({ account }) => account === "demo").length;
  assert.ok(asked <= 60, `${asked} requests in half an hour of 429`);
  assert.match(lab.bench.ready("CloudNetwork/elsewhere"), /^Converged/);
  assert.match(lab.bench.ready("Firewall/web"), /RATE_LIMITED|rate limit/i);
  lab.heal();
  await lab.bench.pass({ minutes: 75 });
  for (const name of hosts) assert.equal(lab.card(name).rules.length, 1);
  requireConverged(lab);
  await lab.bench.stop();
});

test("a load balancer whose making or changing fails behind its answer is seen, tried again, and ends as declared", async () => {
  const lab = await furnished();
  lab.fault({ kind: "failed-actions", code: "VDC-5-1", message: "no luck", path: "/networkloadbalancers" });
  await lab.bench.declare("LoadBalancer/edge", { ...balancer, services: balancer.services.slice(0, 1) });
  await lab.bench.declare("LoadBalancer/second", balancer);
  await lab.bench.pass({ minutes: 20 });
  assert.match(lab.bench.why("LoadBalancer/edge").join("\n"), /could not carry out.*no luck/);
  lab.heal();
  await lab.bench.pass({ minutes: 75 });
  assert.match(lab.bench.why("LoadBalancer/second").join("\n"), /could not carry out.*no luck/);
  assert.deepEqual(
    ["edge", "second"].map((name) => lab.one("networkloadbalancers", name).entities?.["forwardingrules"]?.items.length),
    [1, 2],
  );
  requireConverged(lab);
  await lab.bench.stop();
});
