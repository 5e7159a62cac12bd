import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { worldToken } from "../../../src/world/account-book.ts";
import { serveWorld } from "../../../src/world/http-server.ts";
import { World } from "../../../src/world/world.ts";
import { type ServerBody, smallServer, TestWorld } from "../../support/world.ts";

/** Where nobody can know the id before: the first thing of the contract of that type. */
const firstOf = (type: string) => `FIRST-${type}`;
const center = `/cloudapi/v6/datacenters/${firstOf("datacenter")}`;

const ionosRequests = [
  fc.record({
    method: fc.constant("POST"),
    path: fc.constant("/cloudapi/v6/datacenters"),
    body: fc.constantFrom({ properties: { location: "de/fra" } }, { properties: { location: "mars" } }),
  }),
  fc.record({
    method: fc.constant("POST"),
    path: fc.constant(`${center}/servers`),
    body: fc.record({
      properties: fc.record({ name: fc.constantFrom("a", "b"), cores: fc.constant(1), ram: fc.constant(1_024) }),
      entities: fc.constantFrom(
        {},
        { nics: { items: [{ properties: { lan: 1 } }] } },
        { volumes: { items: [{ properties: { size: 10, type: "SSD", imageAlias: "nobody:1" } }] } },
      ),
    }),
  }),
  fc.record({
    method: fc.constantFrom("PATCH", "DELETE"),
    path: fc.constant(`${center}/servers/${firstOf("server")}`),
    body: fc.constant({ name: "renamed" }),
  }),
  fc.record({
    method: fc.constant("GET"),
    path: fc.constantFrom(`${center}/servers?depth=2&limit=2`, "/cloudapi/v6/requests?depth=2"),
    body: fc.constant(undefined),
  }),
];

/** The same request, with the id that was meant. */
function resolved(world: TestWorld, path: string): string {
  return path.replaceAll(/FIRST-([a-z]+)/g, (_, type: string) => {
    const state = world.world.save() as {
      clouds: { ionos: { contracts: readonly { elements: readonly { id: string; type: string }[] }[] } };
    };
    return state.clouds.ionos.contracts[0]?.elements.find((element) => element.type === type)?.id ?? "nothing";
  });
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

function reactions(world: TestWorld, list: readonly Asked[]) {
  return list.map(({ method, path, body }) => world.react(method, resolved(world, path), body));
}

/** Requests of all sorts to both clouds, good ones and bad ones, with faults among them. */
const requests = fc.array(
  fc.oneof(
    ...ionosRequests,
    fc.record({
      method: fc.constant("POST"),
      path: fc.constant("/v1/servers"),
      body: fc.record({
        name: fc.constantFrom("web-1", "web-2", "web-3", "not a name"),
        server_type: fc.constantFrom("cx23", "cax11", "cx99"),
        image: fc.constant("debian-13"),
        location: fc.constantFrom("nbg1", "fsn1"),
      }),
    }),
    fc.record({
      method: fc.constantFrom("GET", "DELETE"),
      path: fc.integer({ min: 1_000_001, max: 1_000_009 }).map((id) => `/v1/servers/${id}`),
      body: fc.constant(undefined),
    }),
    fc.record({
      method: fc.constant("POST"),
      path: fc
        .tuple(fc.integer({ min: 1_000_001, max: 1_000_009 }), fc.constantFrom("poweroff", "poweron", "reboot"))
        .map(([id, verb]) => `/v1/servers/${id}/actions/${verb}`),
      body: fc.constant(undefined),
    }),
    fc.record({
      method: fc.constant("GET"),
      path: fc.constant("/v1/servers?per_page=2"),
      body: fc.constant(undefined),
    }),
    fc.record({
      method: fc.constant("POST"),
      path: fc.constant("/_world/faults"),
      body: fc.constantFrom(
        { kind: "half-list", chance: 0.5, times: 1 },
        { kind: "timeout", when: "after", chance: 0.3, method: "POST", times: 2 },
        { kind: "failed-actions", chance: 0.3, times: 1 },
      ),
    }),
  ),
  { maxLength: 30 },
);

test("the same seed and the same requests give the same answers, to the last header", () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 0, max: 1_000 }), (list, seed) => {
      const run = () => {
        const world = new TestWorld({ seed, stepMs: 700 });
        return reactions(world, list);
      };
      assert.deepEqual(run(), run());
    }),
    { numRuns: 50 },
  );
});

test("a world that was saved and loaded goes on as the one it was saved from", () => {
  fc.assert(
    fc.property(requests, requests, (before, after) => {
      const first = new TestWorld({ seed: 7, stepMs: 700 });
      reactions(first, before);
      const second = new TestWorld({ seed: 1, stepMs: 700, accounts: [] });
      second.world.load(JSON.parse(JSON.stringify(first.world.save())));
      // Lists of the past are not saved, and no fault here asks for one.
      const go = (world: TestWorld) => reactions(world, after);
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
      assert.deepEqual(plain(go(second)), plain(go(first)));
    }),
    { numRuns: 50 },
  );
});

test("a state that does not fit is refused with the reason, and nothing of it is taken over", () => {
  const world = new TestWorld({ pace: 0 });
  world.take(201, "POST", "/v1/servers", smallServer);
  const before = world.take(200, "GET", "/_world/state");
  const bad: readonly unknown[] = [
    {},
    { ...before, format: "other" },
    { ...before, clouds: { "hetzner-cloud": { projects: 1 } } },
  ];
  for (const state of bad) assert.equal(world.ask("PUT", "/_world/state", state).status, 422);
  assert.equal(world.ask("PUT", "/_world/state", "{").status, 400);
  assert.deepEqual(world.take(200, "GET", "/_world/state")["clouds"], before["clouds"]);
  const text = JSON.stringify(before);
  const without = (field: RegExp) => world.ask("PUT", "/_world/state", text.replace(field, ""));
  world.take(202, "POST", "/cloudapi/v6/datacenters", { properties: { location: "de/fra" } });
  const edited = JSON.stringify(world.take(200, "GET", "/_world/state")).replace('"shownId":', '"shownid":');
  assert.notEqual(edited, JSON.stringify(world.take(200, "GET", "/_world/state")));
  for (const answer of [world.ask("PUT", "/_world/state", edited), without(/"labels":\{\},/)]) {
    assert.equal(answer.status, 422, JSON.stringify(answer.body).slice(0, 300));
    assert.match((answer.body as { detail: string }).detail, /does not fit: .*(shownId|labels)/s);
  }
});

test("names and ids stay unique whatever is asked in whatever order", () => {
  fc.assert(
    fc.property(requests, (list) => {
      const world = new TestWorld({ stepMs: 700 });
      for (const { method, path, body } of list) world.react(method, path, body);
      world.world.core.tray.clear();
      const { servers } = world.take<{ servers: readonly ServerBody[] }>(200, "GET", "/v1/servers?per_page=50");
      assert.equal(new Set(servers.map(({ name }) => name)).size, servers.length);
      const ips = servers.flatMap((server) => JSON.stringify(server).match(/198\.18\.\d+\.\d+"/g) ?? []);
      assert.equal(new Set(ips).size, ips.length, "no address is given twice");
    }),
    { numRuns: 50 },
  );
});

test("over HTTP: answers with their headers, silence, a cut, and nothing for strangers", async () => {
  await using server = await serveWorld(new World(systemClock, { pace: 0 }), systemClock, 0);
  const headers = { authorization: `Bearer ${worldToken("demo")}` };
  const ask = (path: string, options: RequestInit = {}) => fetch(`${server.url}${path}`, { headers, ...options });
  const answer = await ask("/v1/locations");
  assert.equal(answer.headers.get("ratelimit-limit"), "3600");
  assert.match(answer.headers.get("x-correlation-id") ?? "", /^[0-9a-f]{16}$/);
  const fault = (body: unknown) => ask("/_world/faults", { method: "POST", body: JSON.stringify(body) });
  await fault({ kind: "cut", path: "^/locations", times: 1 });
  await assert.rejects(ask("/v1/locations"));
  await fault({ kind: "timeout", path: "^/locations", times: 1 });
  await assert.rejects(ask("/v1/locations", { signal: AbortSignal.timeout(50) }), /timeout/i);
  await fault({ kind: "latency", ms: 1, times: 1 });
  assert.equal((await ask("/v1/locations")).status, 200);
  assert.equal((await ask("/elsewhere")).status, 404);
  assert.match(await rawRequest(server.port, "GET /_world HTTP/1.1\r\nHost: evil.example\r\n\r\n"), /^HTTP\/1\.1 421 /);
});

/** The first bytes of what comes back. */
function rawRequest(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.once("data", (bytes) => {
      resolve(bytes.toString("utf8"));
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
