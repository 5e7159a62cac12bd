import assert from "node:assert/strict";
import { test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import type { WorldAnswer } from "../../../src/world/exchange.ts";
import { TestWorld } from "../../support/world.ts";

interface Item {
  readonly id: string;
  readonly metadata: { readonly state: string };
  readonly properties: Readonly<Record<string, unknown>>;
}

const base = "/cloudapi/v6";
const small = { cores: 1, ram: 1_024 };

/** A contract with one data center in Frankfurt and so many servers in it. */
class Contract extends TestWorld {
  readonly servers: string;

  constructor(servers: number, pace = 0) {
    super({ accounts: ["demo", "other"], pace });
    this.take(200, "PATCH", "/_world/accounts/ionos/demo", { requestsPerMinute: 600_000 });
    const center = this.make("/datacenters", { name: "main", location: "de/fra" });
    this.pass(60);
    this.servers = `${base}/datacenters/${idOf(center)}/servers`;
    for (let number = 1; number <= servers; number += 1) this.order({ ...small, name: `web-${number}` });
    this.pass(60);
  }

  make(path: string, properties: object): WorldAnswer {
    return this.ask("POST", `${base}${path}`, { properties });
  }

  order(properties: object, entities: object = {}): WorldAnswer {
    return this.ask("POST", this.servers, { properties, entities });
  }

  list(query = "?depth=1"): readonly Item[] {
    return this.take<{ items: readonly Item[] }>(200, "GET", `${this.servers}${query}`).items;
  }

  names(query?: string): readonly unknown[] {
    return this.list(query).map(({ properties }) => properties["name"]);
  }

  end(answer: WorldAnswer): unknown {
    const path = /\/requests\/.*$/.exec(answer.headers["Location"] ?? "")?.[0] ?? "";
    return this.take<{ metadata: unknown }>(200, "GET", `${base}${path}`).metadata;
  }
}

const idOf = (answer: WorldAnswer) => (answer.body as { readonly id: string }).id;

test("before the effect nothing happened, after it everything did, and the caller cannot tell", () => {
  for (const [kind, send] of [
    ["timeout", "nothing"],
    ["cut", "cut"],
    ["error", "answer"],
  ] as const)
    for (const when of ["before", "after"] as const) {
      const world = new Contract(0);
      world.fault({ kind, when, cloud: "ionos", method: "POST", path: "/servers$", times: 1 });
      const reaction = world.react("POST", world.servers, { properties: small });
      assert.deepEqual([reaction.send, reaction.answer.status >= 500], [send, true]);
      assert.equal(world.list().length, when === "before" ? 0 : 1, `${kind} ${when}`);
      assert.equal(world.ask("GET", "/v1/locations").status, 200, "the other cloud is not struck");
    }
});

test("lists can be half, stale, shifted and repeated", () => {
  const world = new Contract(4);
  const everybody = ["web-1", "web-2", "web-3", "web-4"];
  world.fault({ kind: "half-list", times: 1 });
  assert.deepEqual(world.names(), ["web-1", "web-2"]);
  world.fault({ kind: "half-list", total: "kept", times: 1 });
  const kept = world.take<{ items: unknown[]; _links: object }>(200, "GET", `${world.servers}?limit=3`);
  assert.deepEqual([kept.items.length, "next" in kept._links], [2, true], "what is missing is still linked to");
  world.fault({ kind: "repeated-page", times: 1 });
  assert.deepEqual(world.names("?depth=1&offset=2&limit=2"), ["web-1", "web-2"]);
  world.fault({ kind: "duplicate-page", times: 1 });
  assert.deepEqual(world.names("?depth=1&offset=2&limit=2"), ["web-2", "web-3"]);
  world.pass(100);
  world.order({ ...small, name: "late" });
  world.fault({ kind: "stale-list", ageSeconds: 50, times: 1 });
  assert.deepEqual(new Set(world.names()), new Set(everybody));
  assert.deepEqual(world.names(), [...everybody, "late"]);
});

test("pages and depths have their limits", () => {
  const world = new Contract(1);
  const statuses = (queries: readonly string[], path = world.servers) =>
    queries.map((query) => world.ask("GET", `${path}?${query}`).status);
  assert.deepEqual(statuses(["depth=10", "depth=11", "depth=x", "depth=-1"]), [200, 422, 422, 422]);
  assert.deepEqual(statuses(["limit=10000", "limit=10001", "limit=0", "offset=-1"]), [200, 422, 422, 422]);
  // Addresses come in shorter pages than anything else.
  const blocks = `${base}/ipblocks`;
  assert.deepEqual(statuses(["limit=1000", "limit=1001"], blocks), [200, 422]);
  assert.equal(world.take(200, "GET", blocks)["limit"], 100);
});

test("lists are filtered by what they tell of each, whatever its case, and sorted", () => {
  const contract = new Contract(3);
  contract.order({ cores: 4, ram: 2_048, name: "DB-1" });
  contract.pass(60);
  assert.deepEqual(contract.names("?depth=1&filter.name=WEB"), ["web-1", "web-2", "web-3"]);
  assert.deepEqual(contract.names("?depth=1&filter.name=web-1&filter.name=db"), ["web-1", "DB-1"], "any of them");
  assert.deepEqual(contract.names("?depth=1&filter.name=web&filter.cores=4"), [], "all of them");
  assert.deepEqual(contract.names("?depth=1&filter.state=available&orderBy=cores").at(-1), "DB-1");
  assert.deepEqual(contract.names("?depth=1&filter.colour=red"), [], "no server has one");
  assert.deepEqual(contract.names("?depth=1&orderBy=name&limit=2"), ["DB-1", "web-1"], "sorted before it is cut");
  assert.deepEqual(contract.names("?depth=1&orderBy=name&maxResults=1"), ["DB-1"]);
  assert.equal(
    contract.take<{ items: unknown[] }>(200, "GET", `${base}/datacenters?filter.name=other`).items.length,
    0,
  );
  const requests = (query: string) =>
    contract.take<{ items: readonly Item[] }>(200, "GET", `${base}/requests?depth=2&${query}`).items.length;
  assert.deepEqual([requests("filter.status=done"), requests("filter.status=failed")], [5, 0]);
  assert.equal(requests("filter.method=post&filter.body=db-1"), 1);
  assert.deepEqual(
    [requests("filter.createdAfter=2000-01-01%2000:00:00"), requests("filter.createdBefore=2000-01-01%2000:00:00")],
    [5, 0],
  );
  const refused = contract.ask("GET", `${base}/requests?filter.createdAfter=yesterday`);
  assert.equal(refused.status, 422);
  assert.match(JSON.stringify(refused.body), /filter\.createdAfter.*must be a time such as/);
});

test("how many requests may come at once is set for a contract, told in every answer, and saved with it", () => {
  const world = new Contract(0);
  assert.equal(world.ask("GET", world.servers).headers["X-RateLimit-Burst"], "50");
  world.take(200, "PATCH", "/_world/accounts/ionos/demo", { requestsPerMinute: 60, requestsAtOnce: 70 });
  const again = new TestWorld({ accounts: [] });
  again.world.load(JSON.parse(JSON.stringify(world.world.save())));
  again.pass(3_600);
  const answers = Array.from({ length: 71 }, () => again.ask("GET", world.servers));
  assert.equal(answers[0]?.headers["X-RateLimit-Burst"], "70");
  assert.deepEqual([answers[69]?.status, answers[70]?.status], [200, 429]);
});

test("a page holds no more than is set, whatever is asked for, and links to the next", () => {
  const world = new Contract(5);
  world.take(200, "PATCH", "/_world/settings", { pageMax: 2 });
  const pages = [0, 2, 4].map((offset) =>
    world.take<{ items: unknown[]; _links: object }>(200, "GET", `${world.servers}?offset=${offset}&limit=1000`),
  );
  assert.deepEqual(
    pages.map(({ items, _links }) => [items.length, "next" in _links]),
    [
      [2, true],
      [2, true],
      [1, false],
    ],
  );
  world.fault({ kind: "reordered-list", times: 1 });
  assert.deepEqual(world.names("?depth=1&offset=2"), ["web-3", "web-2"]);
  world.take(200, "PATCH", "/_world/settings", { pageMax: null });
  assert.equal(world.list().length, 5);
});

test("the list of labels is as old and as short as any other, and one fault strikes it once", () => {
  const world = new Contract(2);
  for (const { id } of world.list())
    for (const key of ["role", "tier"]) {
      const body = { properties: { key, value: "x" } };
      assert.equal(world.ask("POST", `${world.servers}/${id}/labels`, body).status, 201);
    }
  const labels = () => world.take<{ items: unknown[] }>(200, "GET", `${base}/labels?depth=1`).items.length;
  assert.equal(labels(), 4);
  world.fault({ kind: "half-list", path: "^/labels$", times: 1 });
  assert.deepEqual([labels(), labels()], [2, 4]);
  world.fault({ kind: "stale-list", ageSeconds: 50, times: 1 });
  assert.deepEqual([labels(), labels()], [0, 4]);
});

test("lists that lag show late what was made", () => {
  const world = new Contract(1);
  world.take(200, "PATCH", "/_world/settings", { listLagSeconds: 10 });
  const made = world.order({ ...small, name: "new" });
  assert.deepEqual(world.names(), ["web-1"]);
  assert.equal(world.ask("GET", `${world.servers}/${idOf(made)}`).status, 200, "one thing by its id is never stale");
  world.pass(11);
  assert.deepEqual(world.names(), ["web-1", "new"]);
});

test("a contract is locked, a token expires or opens another contract, and the others go on", () => {
  const world = new Contract(1);
  const other = () => world.ask("GET", `${base}/datacenters`, undefined, worldToken("other")).status;
  for (const [fault, status] of [
    [{ kind: "suspended-account", account: "demo" }, 403],
    [{ kind: "expired-token", account: "demo" }, 401],
    [{ kind: "rate-limit", account: "demo", retryAfterSeconds: 30 }, 429],
  ] as const) {
    const id = world.fault(fault);
    const answer = world.ask("GET", world.servers);
    assert.deepEqual([answer.status, other()], [status, 200]);
    if (status === 429) assert.equal(answer.headers["Retry-After"], "30");
    world.take(204, "DELETE", `/_world/faults/${id}`);
  }
  world.fault({ kind: "other-account", account: "demo", as: "other" });
  assert.equal(world.ask("GET", world.servers).status, 404, "what is ours is not there");
});

test("capacity goes in one place or of one family, and comes back", () => {
  const world = new Contract(0);
  for (const fault of [{ location: "us/las" }, { type: "cx23" }]) world.fault({ kind: "no-capacity", ...fault });
  assert.equal(world.order({ ...small, name: "elsewhere" }).status, 202, "neither is meant");
  const id = world.fault({ kind: "no-capacity", location: "de/fra", type: "INTEL_ICELAKE" });
  const refused = world.order({ ...small, name: "none" });
  assert.equal(refused.status, 503);
  assert.match(JSON.stringify(refused.body), /currently not available/);
  world.take(204, "DELETE", `/_world/faults/${id}`);
  assert.equal(world.order({ ...small, name: "again" }).status, 202);
  assert.deepEqual(world.names(), ["elsewhere", "again"]);
});

test("in an outage of a region the state of its servers is not known, and nothing can be done or had there", () => {
  const world = new Contract(1);
  const elsewhere = world.make("/datacenters", { name: "far", location: "us/las" });
  const id = world.fault({ kind: "region-outage", location: "de/fra" });
  const [server] = world.list();
  assert.equal(server?.properties["vmState"], "NOSTATE");
  const one = `${world.servers}/${server?.id}`;
  assert.equal(world.ask("POST", `${one}/stop`).status, 503);
  assert.equal(world.ask("PATCH", one, { name: "other" }).status, 503);
  assert.equal(world.ask("DELETE", one).status, 503);
  assert.equal(world.order(small).status, 503);
  const far = `${base}/datacenters/${idOf(elsewhere)}/servers`;
  assert.equal(world.ask("POST", far, { properties: small }).status, 202, "other regions go on");
  world.take(204, "DELETE", `/_world/faults/${id}`);
  assert.deepEqual(
    world.list().map(({ properties }) => [properties["name"], properties["vmState"]]),
    [["web-1", "RUNNING"]],
  );
});

test("requests can take long and fail, and one that fails has had no effect", () => {
  const world = new Contract(1, 1);
  world.fault({ kind: "slow-actions", factor: 100, times: 1 });
  const slow = world.order({ ...small, name: "slow" });
  world.pass(300);
  assert.deepEqual(
    [(world.end(slow) as { status: string }).status, world.list()[1]?.metadata.state],
    ["RUNNING", "BUSY"],
  );
  world.pass(10_000);
  world.fault({ kind: "failed-actions", command: "create_server" });
  const other = world.order({ ...small, name: "fine" });
  world.fault({ kind: "failed-actions", method: "POST", path: "/stop$", code: "VDC-5-1", message: "no luck" });
  const stopped = world.ask("POST", `${world.servers}/${world.list()[0]?.id}/stop`);
  world.pass(300);
  assert.equal((world.end(other) as { status: string }).status, "DONE", "a command of the other cloud is none here");
  const { status, message } = world.end(stopped) as { readonly status: string; readonly message: string };
  assert.deepEqual([status, message], ["FAILED", "[VDC-5-1] no luck"]);
  assert.equal(world.list()[0]?.properties["vmState"], "RUNNING");
});

test("what cannot be made leaves nothing behind, whichever part of it is wrong", () => {
  const world = new Contract(0);
  const disk = { size: 10, type: "SSD" };
  const bad: readonly object[] = [
    { volumes: { items: [{ properties: { ...disk, imageAlias: "windows:95" } }] } },
    { volumes: { items: [{ properties: disk }] } },
    { nics: { items: [{ properties: { lan: 1 } }] }, volumes: { items: [{ properties: { size: "big" } }] } },
  ];
  for (const entities of bad) assert.equal(world.order({ ...small, name: "half" }, entities).status, 422);
  const at = world.servers.replace(/servers$/, "");
  for (const segment of ["servers", "volumes", "lans"])
    assert.deepEqual(world.take(200, "GET", `${at}${segment}`)["items"], [], segment);
});

test("somebody at the console needs no token, waits for nothing, and is not counted", () => {
  const world = new Contract(1, 1);
  const before = world.take<{ total: number }>(200, "GET", "/_world/requests/counts").total;
  for (const kind of ["error", "failed-actions"] as const) world.fault({ kind });
  const path = `/_world/console/ionos/demo${world.servers.slice(base.length)}`;
  const { items } = world.take<{ items: readonly Item[] }>(200, "GET", path);
  world.take(202, "PATCH", `${path}/${items[0]?.id}`, { name: "renamed" });
  world.take(202, "POST", `${path}/${items[0]?.id}/stop`);
  const { properties } = world.take<Item>(200, "GET", `${path}/${items[0]?.id}`);
  assert.deepEqual([properties["name"], properties["vmState"]], ["renamed", "SHUTOFF"]);
  assert.equal(world.take<{ total: number }>(200, "GET", "/_world/requests/counts").total, before);
});

test("servers that were there before anybody looked carry the labels that were asked for", () => {
  const world = new TestWorld({ pace: 0 });
  world.take(201, "POST", "/_world/fill", { cloud: "ionos", account: "demo", servers: 3, labels: { role: "old" } });
  const { items } = world.take<{ items: { properties: { value: string } }[] }>(200, "GET", `${base}/labels?depth=1`);
  assert.deepEqual(
    items.map(({ properties }) => properties.value),
    ["old", "old", "old"],
  );
});
