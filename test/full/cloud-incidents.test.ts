import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CloudLab } from "../support/cloud-lab.ts";

/**
 * What happened to others at their cloud, on the production client, kernel and scheduler over the world. Each incident strikes a
 * project with six firewalls, two networks and three hosts of ours, lasts an hour, and goes away. A page of a list holds two entries
 * there, so that every list has several.
 */
const rules = [{ protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] }];
const host = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
const firewalls = Array.from({ length: 6 }, (_, index) => `Firewall/f-${index}`);
const networks = ["CloudNetwork/backend", "CloudNetwork/storage"];
const hosts = ["web-1", "web-2", "web-3"];
const everything = [...firewalls, ...networks, ...hosts.map((name) => `Host/${name}`)];
const collections = ["firewalls", "networks", "servers", "ssh_keys"] as const;

async function furnished(): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0.1, pageMax: 2 });
  lab.console("POST", "/firewalls", { name: "theirs", rules: [] });
  lab.console("POST", "/networks", { name: "theirs", ip_range: "10.9.0.0/16" });
  for (const name of firewalls) await lab.bench.declare(name, { account: "demo", rules });
  for (const [index, name] of networks.entries())
    await lab.bench.declare(name, { account: "demo", range: `10.${index}.0.0/16` });
  for (const name of hosts) {
    await lab.bench.declare(`Host/${name}`, host);
    assert.equal((await lab.finish(await lab.start("host.create", `Host/${name}`))).state, "succeeded");
  }
  await lab.bench.pass({ minutes: 12 });
  requireConverged(lab);
  return lab;
}

function requireConverged(lab: CloudLab): void {
  for (const name of everything) assert.match(lab.bench.ready(name), /^Converged/, name);
}

const truth = (lab: CloudLab): unknown =>
  JSON.parse(JSON.stringify(collections.map((name) => lab.list(name)))) as unknown;
const whyAll = (lab: CloudLab): readonly string[] =>
  everything.flatMap((name) => lab.bench.why(name).map((line) => `${name} ${line}`));

function requireNothingSaid(lab: CloudLab, news: readonly string[]): void {
  requireConverged(lab);
  assert.deepEqual(news, []);
}

interface CloudIncident {
  readonly title: string;
  readonly faults: readonly object[];
  /** What stood in the way of the damage, as the record of that hour says it; or nothing, because nothing seemed to differ. */
  readonly said: RegExp | "nothing";
  /** How many requests an hour of it may cost at most: no retry storm. */
  readonly requestsMax?: number;
  /** Creates that may be tried, and fail, before so many are bad together that the observer is the suspect. */
  readonly attemptsMax?: number;
}

const incidents: readonly CloudIncident[] = [
  {
    title: "lists end after half a page",
    faults: [{ kind: "half-list", total: "kept" }],
    said: /guard complete-reads said wait: not seen, and the look was partial \(\d+ entries read, the provider counts \d+\)/,
  },
  {
    title: "lists end half-way and count themselves",
    faults: [{ kind: "half-list" }],
    said: /guard evidence said wait: not in the listing, but there when read by its id/,
  },
  {
    title: "every page is the first",
    faults: [{ kind: "repeated-page" }],
    said: /Host\/web-3 .*guard complete-reads said wait: not seen, and the look was partial \(page 2 failed: .*with page 1/,
  },
  {
    title: "every page begins with the last entry of the one before",
    faults: [{ kind: "duplicate-page" }],
    said: /guard complete-reads said wait: not seen, and the look was partial \(entry \d+ was listed twice\)/,
  },
  {
    title: "every page is cut from another order",
    faults: [{ kind: "reordered-list" }],
    said: /guard complete-reads said wait: not seen, and the look was partial \(entry \d+ was listed twice\)/,
  },
  {
    title: "everything answers 404",
    faults: [{ kind: "error", status: 404, code: "not_found", message: "not found", method: "GET" }],
    said: /guard complete-reads said wait: nothing could be seen \(NOT_FOUND: Hetzner Cloud answered 404/,
  },
  {
    title: "lists are empty, and reads by id fail",
    faults: [
      { kind: "half-list", share: 0, path: "^/(firewalls|networks|servers)$" },
      { kind: "error", status: 503, method: "GET", path: "^/(firewalls|networks|servers)/" },
    ],
    said: /guard too-many-at-once said hold: \d+ of 11 subjects of this account went bad together/,
  },
  {
    title: "lists are empty, and every thing is said to be absent",
    faults: [
      { kind: "half-list", share: 0, path: "^/(firewalls|networks|servers)$" },
      { kind: "error", status: 404, code: "not_found", method: "GET", path: "^/(firewalls|networks|servers)/" },
    ],
    said: /guard too-many-at-once said hold: \d+ of 11 subjects of this account went bad together/,
    attemptsMax: 4,
  },
  {
    title: "the account is suspended",
    faults: [{ kind: "suspended-account" }],
    said: /guard complete-reads said wait: nothing could be seen \(CREDENTIAL_REFUSED/,
    requestsMax: 200,
  },
  {
    title: "the token has expired",
    faults: [{ kind: "expired-token" }],
    said: /guard complete-reads said wait: nothing could be seen \(CREDENTIAL_REFUSED: .*unable to authenticate/,
    requestsMax: 200,
  },
  {
    title: "the token is another project's",
    faults: [{ kind: "other-account", as: "other" }],
    said: /guard account-identity said refuse: account 'demo' answers as another account/,
  },
  {
    title: "lists are a quarter of an hour old",
    faults: [{ kind: "stale-list", ageSeconds: 900 }],
    said: /guard evidence said wait: not in the listing, but there when read by its id/,
  },
  {
    title: "nine of ten requests fail",
    faults: [{ kind: "error", status: 503, chance: 0.9 }],
    said: /guard complete-reads said wait: nothing could be seen \(PROVIDER_UNAVAILABLE/,
  },
  {
    title: "a whole location is out",
    faults: [{ kind: "region-outage", location: "fsn1" }],
    said: "nothing",
  },
];

describe("an hour of trouble at the cloud: nothing is made, replaced or deleted, and work resumes", () => {
  for (const { title, faults, said, requestsMax, attemptsMax = 0 } of incidents) {
    test(title, async () => {
      const lab = await furnished();
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
      assert.deepEqual(withoutState(truth(lab)), withoutState(before), lab.writes(from).join("\n"));
      const tried = lab.writes(from).filter((line) => /^(DELETE|POST \/(servers|firewalls|networks)$)/.test(line));
      assert.ok(tried.length <= attemptsMax && !tried.some((line) => line.startsWith("DELETE")), tried.join("\n"));
      assert.deepEqual(lab.list("servers", "other").length + lab.list("firewalls", "other").length, 0);
      if (requestsMax !== undefined) assert.ok(requests <= requestsMax, `${requests} requests in an hour`);
      await lab.bench.pass({ minutes: 75 });
      requireConverged(lab);
      assert.deepEqual(truth(lab), before);
      assert.deepEqual(lab.bench.heldChanges(), []);
      await lab.bench.stop();
    });
  }
});

/** A server of a location that is out is shown as unknown by the provider itself. */
function withoutState(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state).replaceAll(/"status":"[a-z]+"/g, '"status":""')) as unknown;
}

test("the limit of servers is reached half-way: what fits is made, the rest says so and does not go on trying", async () => {
  const lab = await CloudLab.open({ pace: 0.1 });
  const cloud = lab.world.clouds[0] ?? assert.fail("no cloud");
  cloud.configure("demo", { limits: { servers: 2 } });
  const from = lab.lastRequest;
  const ended: string[] = [];
  for (const name of ["web-1", "web-2", "web-3", "web-4"]) {
    await lab.bench.declare(`Host/${name}`, host);
    const { state, message } = await lab.finish(await lab.start("host.create", `Host/${name}`), 300);
    ended.push(state);
    if (state === "attention") assert.match(message, /server_limit exceeded.*limit raised/s);
  }
  assert.deepEqual(ended, ["succeeded", "succeeded", "attention", "attention"]);
  await lab.bench.pass({ hours: 1 });
  assert.equal(lab.writes(from).filter((line) => line === "POST /servers").length, 4);
  assert.equal(lab.list("servers").length, 2);
  await lab.bench.stop();
});

test("a storm of 429 at one account leaves the others alone, and is not answered by another storm", async () => {
  const lab = await furnished();
  await lab.bench.declare("Firewall/elsewhere", { account: "other", rules });
  await lab.bench.pass({ minutes: 2 });
  lab.fault({ kind: "rate-limit", retryAfterSeconds: 120, account: "demo" });
  for (const name of firewalls) await lab.bench.declare(name, { account: "demo", rules: [] });
  await lab.bench.declare("Firewall/elsewhere", { account: "other", rules: [] });
  const from = lab.lastRequest;
  await lab.bench.pass({ minutes: 30 });
  const asked = lab.world.log.after(from).filter(({ account }) => account === "demo").length;
  assert.ok(asked <= 60, `${asked} requests in half an hour of 429`);
  assert.match(lab.bench.ready("Firewall/elsewhere"), /^Converged/);
  assert.equal(lab.list<{ rules: readonly object[] }>("firewalls", "other")[0]?.rules.length, 0);
  lab.heal();
  await lab.bench.pass({ minutes: 40 });
  requireConverged(lab);
  await lab.bench.stop();
});

test("groups in a location that is out stay as they are: nobody is replaced, and nobody is added", async () => {
  const lab = await CloudLab.open({ pace: 0 });
  const template = { type: "cx22", image: "debian-12", location: "fsn1" };
  const group = { account: "demo", min: 2, max: 6, desired: 3, template, drainSeconds: 0 };
  const metrics = { cpuPercent: { upAbove: 80, downBelow: 30 } };
  const setLoad = (cpu: number | null) => lab.world.clouds[0]?.configure("demo", { load: { "*": { cpu } } });
  setLoad(50);
  await lab.bench.declare("ScalingGroup/fixed", { ...group, mode: "static" });
  await lab.bench.declare("ScalingGroup/busy", { ...group, mode: "metric", metrics });
  await lab.passWorking(300);
  const members = () =>
    [...lab.bench.store.state.tables.resources.values()]
      .filter(({ kind, deletion }) => kind === "Host" && deletion === undefined)
      .map(({ name, uid }) => `${name} ${uid}`)
      .sort();
  const [before, servers] = [members(), truth(lab)];
  assert.equal(before.length, 6);
  lab.fault({ kind: "region-outage", location: "fsn1" });
  // Servers that nobody can reach report nothing.
  setLoad(null);
  const from = lab.lastRequest;
  await lab.passWorking(3_600, 30);
  assert.deepEqual(members(), before);
  assert.deepEqual(
    lab.writes(from).filter((line) => /^(DELETE|POST \/servers$)/.test(line)),
    [],
  );
  assert.match(lab.bench.why("ScalingGroup/busy").join("\n"), /derived-emptiness|did not report/);
  lab.heal();
  setLoad(50);
  await lab.passWorking(900, 30);
  assert.deepEqual(truth(lab), servers);
  assert.deepEqual(members(), before);
  await lab.bench.stop();
});

test("somebody's script clears a firewall every few seconds: the fight is named and ended, and the rest is still kept", async () => {
  const lab = await furnished();
  const name = "f-0";
  const one = lab.list<{ id: number; name: string }>("firewalls").find((firewall) => firewall.name === name);
  for (let round = 0; round < 120; round++) {
    lab.console("POST", `/firewalls/${one?.id}/actions/set_rules`, { rules: [] });
    await lab.bench.pass({ seconds: 4 });
  }
  assert.match(lab.bench.why(`Firewall/${name}`).join("\n"), /guard fights said/);
  const from = lab.lastRequest;
  lab.console("PUT", `/firewalls/${one?.id}`, { labels: {} });
  await lab.bench.pass({ minutes: 5 });
  assert.deepEqual(
    lab.writes(from).filter((line) => line.includes("set_rules")),
    [],
  );
  assert.ok(lab.writes(from).includes(`PUT /firewalls/${one?.id}`), "the labels are put back all the same");
  await lab.bench.stop();
});
