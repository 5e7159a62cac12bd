import assert from "node:assert/strict";
import { test } from "node:test";
import { worldToken } from "../../../src/world/account-book.ts";
import { type ServerBody, smallServer, TestWorld } from "../../support/world.ts";

interface Created {
  readonly server: ServerBody;
  readonly action: { readonly id: number; readonly status: string; readonly progress: number };
}

const statusOf = (world: TestWorld, id: number) =>
  world.take<{ server: ServerBody }>(200, "GET", `/v1/servers/${id}`).server.status;

test("a server comes into being over time, and its action tells how far it is", () => {
  const world = new TestWorld();
  const { server, action } = world.take<Created>(201, "POST", "/v1/servers", smallServer);
  assert.deepEqual([server.status, action.status, action.progress], ["initializing", "running", 0]);
  world.pass(4);
  const { action: midway } = world.take<Created>(200, "GET", `/v1/actions/${action.id}`);
  assert.ok(midway.progress > 20 && midway.progress < 80, String(midway.progress));
  world.pass(60);
  assert.equal(statusOf(world, server.id), "running");
});

test("a name is taken until the server is gone, and a locked server refuses the next action", () => {
  const world = new TestWorld();
  const { server } = world.take<Created>(201, "POST", "/v1/servers", smallServer);
  assert.equal(world.ask("POST", "/v1/servers", smallServer).status, 409);
  assert.equal(world.ask("POST", `/v1/servers/${server.id}/actions/poweroff`).status, 423);
  world.pass(60);
  world.take(201, "POST", `/v1/servers/${server.id}/actions/poweroff`);
  assert.equal(statusOf(world, server.id), "stopping");
  world.pass(60);
  assert.equal(statusOf(world, server.id), "off");
  world.take(200, "DELETE", `/v1/servers/${server.id}`);
  world.pass(60);
  assert.equal(world.ask("GET", `/v1/servers/${server.id}`).status, 404);
  world.take(201, "POST", "/v1/servers", smallServer);
});

test("what was made with a server goes with it, and what was given to it stays", () => {
  const world = new TestWorld({ pace: 0 });
  const kept = world.take<{ primary_ip: { id: number } }>(201, "POST", "/v1/primary_ips", {
    name: "kept",
    type: "ipv4",
    assignee_type: "server",
    location: "nbg1",
  }).primary_ip.id;
  const wanted = { ...smallServer, public_net: { ipv4: kept } };
  const { server } = world.take<Created>(201, "POST", "/v1/servers", wanted);
  const ips = () => world.take<{ primary_ips: { id: number }[] }>(200, "GET", "/v1/primary_ips").primary_ips;
  assert.equal(ips().length, 2);
  world.take(200, "DELETE", `/v1/servers/${server.id}`);
  assert.deepEqual(
    ips().map(({ id }) => id),
    [kept],
  );
});

test("protection, limits, capacity and unknown parts refuse, and leave nothing behind", () => {
  const world = new TestWorld({ pace: 0 });
  const { server } = world.take<Created>(201, "POST", "/v1/servers", smallServer);
  world.take(201, "POST", `/v1/servers/${server.id}/actions/change_protection`, { delete: true, rebuild: true });
  assert.equal(world.ask("DELETE", `/v1/servers/${server.id}`).status, 423);
  world.take(200, "PATCH", "/_world/accounts/hetzner-cloud/demo", { limits: { servers: 1 } });
  const before = world.take<{ clouds: unknown }>(200, "GET", "/_world/state").clouds;
  const refusals: readonly [number, string, Record<string, unknown>][] = [
    [403, "resource_limit_exceeded", { name: "web-2" }],
    [422, "invalid_input", { name: "web-2", server_type: "cx99" }],
    [422, "invalid_input", { name: "web-2", image: "plan9" }],
    [422, "invalid_input", { name: "web-2", location: "mars1" }],
    [422, "invalid_input", { name: "not a name" }],
    [422, "invalid_input", { name: "web-2", ssh_keys: ["nobody"] }],
    [404, "not_found", { name: "web-2", networks: [4711] }],
  ];
  for (const [status, code, change] of refusals) {
    if (status !== 403) world.take(200, "PATCH", "/_world/accounts/hetzner-cloud/demo", { limits: { servers: 9 } });
    const answer = world.ask("POST", "/v1/servers", { ...smallServer, ...change });
    assert.deepEqual([answer.status, (answer.body as { error: { code: string } }).error.code], [status, code]);
  }
  world.take(200, "PATCH", "/_world/accounts/hetzner-cloud/demo", { limits: { servers: 1 } });
  const rows = (clouds: unknown) =>
    JSON.stringify(
      (clouds as { "hetzner-cloud": { projects: { tables: unknown }[] } })["hetzner-cloud"].projects[0]?.tables,
    );
  assert.equal(rows(world.take<{ clouds: unknown }>(200, "GET", "/_world/state").clouds), rows(before));
});

test("a token opens its project alone, and one that only reads writes nothing", () => {
  const world = new TestWorld({ accounts: ["demo", "other"], pace: 0 });
  const { server } = world.take<Created>(201, "POST", "/v1/servers", smallServer);
  assert.equal(world.ask("GET", `/v1/servers/${server.id}`, undefined, worldToken("other")).status, 404);
  assert.equal(world.ask("GET", "/v1/servers", undefined, "nobody").status, 401);
  const reader = worldToken("demo", "read");
  assert.equal(world.ask("GET", "/v1/servers", undefined, reader).status, 200);
  // Whether a token may write is known before the body is looked at: that is how one finds out without writing.
  assert.equal(world.ask("POST", "/v1/servers", {}, reader).status, 403);
  assert.equal(world.ask("POST", "/v1/servers", {}).status, 422);
});

test("pages add up to the whole, in the order that was asked for", () => {
  const world = new TestWorld({ pace: 0 });
  for (let number = 1; number <= 7; number += 1) {
    world.take(201, "POST", "/v1/servers", {
      ...smallServer,
      name: `web-${number}`,
      labels: { odd: String(number % 2) },
    });
  }
  interface Page {
    readonly servers: readonly ServerBody[];
    readonly meta: { readonly pagination: { readonly next_page: number | null; readonly total_entries: number } };
  }
  const names: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const answer: Page = world.take<Page>(200, "GET", `/v1/servers?per_page=2&sort=name:desc&page=${page}`);
    names.push(...answer.servers.map(({ name }) => name));
    assert.equal(answer.meta.pagination.total_entries, 7);
    page = answer.meta.pagination.next_page;
  }
  assert.deepEqual(names, ["web-7", "web-6", "web-5", "web-4", "web-3", "web-2", "web-1"]);
  const count = (selector: string) =>
    world.take<Page>(200, "GET", `/v1/servers?label_selector=${encodeURIComponent(selector)}`).servers.length;
  assert.deepEqual(
    ["odd=1", "odd!=1", "odd", "!odd", "odd in (0,1)", "odd notin (1),odd", "even"].map(count),
    [4, 3, 7, 0, 7, 3, 0],
  );
  assert.equal(world.ask("GET", "/v1/servers?label_selector=%2A%2A").status, 422);
});

test("an hour has so many requests, refilled steadily, and other projects have their own", () => {
  const world = new TestWorld({ accounts: ["demo", "other"] });
  world.take(200, "PATCH", "/_world/accounts/hetzner-cloud/demo", { requestsPerHour: 3 });
  const status = () => world.ask("GET", "/v1/locations").status;
  assert.deepEqual([status(), status(), status(), status()], [200, 200, 200, 429]);
  assert.equal(world.ask("GET", "/v1/locations").headers["RateLimit-Remaining"], "0");
  assert.equal(world.ask("GET", "/v1/locations", undefined, worldToken("other")).status, 200);
  world.pass(1_200);
  assert.deepEqual([status(), status()], [200, 429]);
});
