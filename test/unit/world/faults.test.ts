import assert from "node:assert/strict";
import { test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import { type ServerBody, smallServer, TestWorld } from "../../support/world.ts";

interface Page {
  readonly servers: readonly ServerBody[];
  readonly meta: { readonly pagination: Readonly<Record<string, number | null>> };
}

const list = (world: TestWorld, query = "") => world.take<Page>(200, "GET", `/v1/servers${query}`);
const names = (page: Page) => page.servers.map(({ name }) => name);

function worldWith(servers: number): TestWorld {
  const world = new TestWorld({ accounts: ["demo", "other"], pace: 0 });
  for (let number = 1; number <= servers; number += 1) {
    world.take(201, "POST", "/v1/servers", { ...smallServer, name: `web-${number}` });
  }
  return world;
}

test("before the effect nothing happened, after it everything did, and the caller cannot tell", () => {
  for (const [kind, send] of [
    ["timeout", "nothing"],
    ["cut", "cut"],
    ["error", "answer"],
  ] as const) {
    for (const when of ["before", "after"] as const) {
      const world = worldWith(0);
      world.fault({ kind, when, method: "POST", path: "^/servers$", times: 1 });
      const reaction = world.react("POST", "/v1/servers", smallServer);
      assert.deepEqual([reaction.send, reaction.answer.status >= 500], [send, true]);
      assert.equal(list(world).servers.length, when === "before" ? 0 : 1, `${kind} ${when}`);
      assert.equal(world.ask("GET", "/v1/locations").status, 200, "only what it is aimed at is struck");
    }
  }
});

test("lists can be half, stale, shifted and repeated", () => {
  const world = worldWith(6);
  const half = world.fault({ kind: "half-list" });
  assert.deepEqual(
    [names(list(world)), list(world).meta.pagination["total_entries"]],
    [["web-1", "web-2", "web-3"], 3],
  );
  world.take(204, "DELETE", `/_world/faults/${half}`);
  world.fault({ kind: "half-list", total: "kept", times: 1 });
  const kept = list(world);
  assert.deepEqual([names(kept).length, kept.meta.pagination["total_entries"]], [3, 6]);
  world.fault({ kind: "repeated-page", times: 1 });
  assert.deepEqual(names(list(world, "?per_page=2&page=2")), ["web-1", "web-2"]);
  world.fault({ kind: "reordered-list", times: 1 });
  assert.deepEqual(names(list(world, "?per_page=2&page=2")), ["web-4", "web-3"]);
  world.take(200, "PATCH", "/_world/settings", { pageMax: 4 });
  assert.deepEqual([names(list(world)).length, list(world).meta.pagination["next_page"]], [4, 2]);
  const saved = world.take<{ settings: object }>(200, "GET", "/_world/state");
  world.take(200, "PATCH", "/_world/settings", { pageMax: null });
  assert.equal(names(list(world)).length, 6);
  assert.deepEqual(saved.settings, { pace: 0, listLagSeconds: 0, pageMax: 4 });
  world.fault({ kind: "duplicate-page", times: 1 });
  assert.deepEqual(names(list(world, "?per_page=2&page=2")), ["web-2", "web-3"]);
  assert.deepEqual(names(list(world, "?per_page=2&page=2")), ["web-3", "web-4"]);
  world.pass(100);
  world.take(201, "POST", "/v1/servers", { ...smallServer, name: "late" });
  const first = list(world).servers[0]?.id ?? 0;
  world.take(200, "DELETE", `/v1/servers/${first}`);
  world.fault({ kind: "stale-list", ageSeconds: 50, times: 1 });
  assert.deepEqual(names(list(world)), ["web-1", "web-2", "web-3", "web-4", "web-5", "web-6"]);
  assert.deepEqual(names(list(world)), ["web-2", "web-3", "web-4", "web-5", "web-6", "late"]);
});

test("lists that lag show late what was made, and long what is gone", () => {
  const world = worldWith(1);
  world.pass(60);
  world.take(200, "PATCH", "/_world/settings", { listLagSeconds: 10 });
  const { server } = world.take<{ server: ServerBody }>(201, "POST", "/v1/servers", { ...smallServer, name: "new" });
  assert.deepEqual(names(list(world)), ["web-1"]);
  assert.equal(world.ask("GET", `/v1/servers/${server.id}`).status, 200, "one thing by its id is never stale");
  world.pass(11);
  assert.deepEqual(names(list(world)), ["web-1", "new"]);
});

test("an account is suspended, a token expires or opens another project, and the others go on", () => {
  const world = worldWith(2);
  const other = () => world.ask("GET", "/v1/servers", undefined, worldToken("other")).status;
  for (const [fault, status] of [
    [{ kind: "suspended-account", account: "demo" }, 403],
    [{ kind: "expired-token", account: "demo" }, 401],
    [{ kind: "rate-limit", account: "demo", retryAfterSeconds: 30 }, 429],
  ] as const) {
    const id = world.fault(fault);
    const answer = world.ask("GET", "/v1/servers");
    assert.deepEqual([answer.status, other()], [status, 200]);
    if (status === 429) assert.equal(answer.headers["Retry-After"], "30");
    world.take(204, "DELETE", `/_world/faults/${id}`);
  }
  world.fault({ kind: "other-account", account: "demo", as: "other" });
  assert.deepEqual(names(list(world)), []);
});

test("capacity goes and comes back, and the catalogue says so", () => {
  const world = worldWith(0);
  const id = world.fault({ kind: "no-capacity", location: "nbg1", type: "cx23" });
  interface Datacenters {
    readonly datacenters: readonly { readonly name: string; readonly server_types: { readonly available: number[] } }[];
  }
  const isThere = () =>
    world
      .take<Datacenters>(200, "GET", "/v1/datacenters?name=nbg1-dc3")
      .datacenters[0]?.server_types.available.includes(114);
  assert.equal(isThere(), false);
  assert.equal(world.ask("POST", "/v1/servers", smallServer).status, 412);
  world.take(201, "POST", "/v1/servers", { ...smallServer, location: "fsn1" });
  world.take(204, "DELETE", `/_world/faults/${id}`);
  assert.equal(isThere(), true);
  world.take(201, "POST", "/v1/servers", { ...smallServer, name: "web-2" });
});

test("capacity that is gone by chance, or so often, lets others through, and counts only where it was meant", () => {
  const world = worldWith(0);
  const order = (name: string) => world.ask("POST", "/v1/servers", { ...smallServer, name }).status;
  const elsewhere = world.fault({ kind: "no-capacity", location: "hel1", times: 1 });
  world.fault({ kind: "no-capacity", location: "nbg1", times: 2 });
  assert.deepEqual([order("a"), order("b"), order("c")], [412, 412, 201]);
  world.take(204, "DELETE", `/_world/faults/${elsewhere}`);
  world.fault({ kind: "no-capacity", chance: 0.5 });
  const orders = Array.from({ length: 20 }, (_, index) => order(`by-chance-${index}`));
  assert.deepEqual(new Set(orders), new Set([201, 412]));
});

test("an outage of a region shows its servers as unknown, and makes none there", () => {
  const world = worldWith(1);
  world.fault({ kind: "region-outage", location: "nbg1" });
  const [server] = list(world).servers;
  assert.equal(server?.status, "unknown");
  assert.equal(world.ask("POST", `/v1/servers/${server?.id}/actions/reboot`).status, 503);
  assert.equal(world.ask("POST", "/v1/servers", { ...smallServer, name: "new" }).status, 412);
});

test("actions can take long and fail, and one that fails has had no effect", () => {
  const world = new TestWorld();
  world.fault({ kind: "slow-actions", factor: 100, times: 1 });
  world.take(201, "POST", "/v1/servers", smallServer);
  world.pass(120);
  assert.equal(list(world).servers[0]?.status, "initializing");
  world.fault({ kind: "failed-actions", command: "create_server", code: "server_error", message: "no luck", times: 1 });
  const { server, action } = world.take<{ server: ServerBody; action: { id: number } }>(201, "POST", "/v1/servers", {
    ...smallServer,
    name: "unlucky",
  });
  world.pass(60);
  const ended = world.take<{ action: unknown }>(200, "GET", `/v1/actions/${action.id}`).action as Record<
    string,
    unknown
  >;
  assert.deepEqual([ended["status"], ended["error"]], ["error", { code: "server_error", message: "no luck" }]);
  assert.equal(world.ask("GET", `/v1/servers/${server.id}`).status, 404);
});

test("somebody at the console needs no token, waits for nothing, and is not counted", () => {
  const world = new TestWorld();
  const { server } = world.take<{ server: ServerBody }>(201, "POST", "/v1/servers", smallServer);
  world.pass(60);
  const base = "/_world/console/hetzner-cloud/demo";
  world.fault({ kind: "error" });
  world.fault({ kind: "failed-actions" });
  world.take(200, "PUT", `${base}/servers/${server.id}`, { name: "renamed", labels: {} });
  world.take(201, "POST", `${base}/servers/${server.id}/actions/poweroff`);
  const seen = world.take<{ server: ServerBody }>(200, "GET", `${base}/servers/${server.id}`).server;
  assert.deepEqual([seen.name, seen.status], ["renamed", "off"]);
  assert.equal(world.take<{ total: number }>(200, "GET", "/_world/requests/counts").total, 1);
});

test("a fault that cannot be is refused with what is wrong about it", () => {
  const world = new TestWorld();
  for (const bad of [{ kind: "plague" }, { kind: "latency" }, { kind: "error", path: "(" }, { kind: "cut", time: 1 }]) {
    const answer = world.ask("POST", "/_world/faults", bad);
    assert.equal(answer.status, 422);
    assert.match((answer.body as { detail: string }).detail, /does not fit/);
  }
  assert.equal(world.take<{ faults: unknown[] }>(200, "GET", "/_world/faults").faults.length, 0);
});

test("a fault that is aimed at nothing there is refused with what there is", () => {
  const world = new TestWorld({ accounts: ["demo", "other"] });
  for (const [fault, words] of [
    [{ kind: "latency", ms: 5, account: "nobody" }, /no account "nobody".*There are: demo, other/],
    [{ kind: "other-account", as: "nobody" }, /no account "nobody"/],
    [{ kind: "region-outage", location: "fsn9" }, /no location "fsn9".*fsn1, .*de\/fra/],
    [{ kind: "no-capacity", location: "de/fra", cloud: "hetzner-cloud" }, /no location "de\/fra".*There are: [^/]*$/],
  ] as const) {
    const answer = world.ask("POST", "/_world/faults", fault);
    assert.equal(answer.status, 422, JSON.stringify(fault));
    assert.match((answer.body as { detail: string }).detail, words);
  }
  assert.deepEqual(world.take(200, "GET", "/_world/faults"), { faults: [] });
});

test("what the world itself is asked and cannot understand is refused, and names what is wrong", () => {
  const world = new TestWorld();
  const account = world.ask("POST", "/_world/accounts", { cloud: "ionos", account: "two", acces: "read" });
  assert.equal(account.status, 422);
  assert.match((account.body as { detail: string }).detail, /acces/);
  const requests = world.ask("GET", "/_world/requests?after=yesterday");
  assert.equal(requests.status, 422);
  assert.match((requests.body as { detail: string }).detail, /after=yesterday/);
});
