import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hetznerRoutes } from "../../../src/world/hetzner-cloud/routes.ts";
import { deviations } from "../../specs/deviations.ts";
import { HetznerWalk } from "../../support/hetzner-walk.ts";
import { Specification } from "../../support/specification.ts";
import { smallServer, TestWorld } from "../../support/world.ts";

const specification = new Specification("hetzner-cloud", "hetzner-cloud.openapi.json.gz");
const certificate = {
  certificate: readFileSync(new URL("../../specs/example-certificate.pem", import.meta.url), "utf8"),
  privateKey: "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n",
};

/** What the specification has and the world does not. */
const left = /^\w+ \/storage_box/;

test("every operation of the world is one of the specification's, and only storage boxes are left out", () => {
  const offered = hetznerRoutes.map(({ method, path }) => `${method} ${path}`);
  const wanted = specification.operations().filter((operation) => !left.test(operation));
  assert.deepEqual(offered.toSorted(), wanted.toSorted());
});

test("lists are sorted and filtered by what the specification names, and by nothing else", () => {
  const world = new TestWorld({ pace: 0 });
  const { server } = world.take<{ server: { id: number } }>(201, "POST", "/v1/servers", smallServer);
  const fields = ["id", "name", "created", "command", "status", "started", "finished", "bogus"];
  const sorts = fields.flatMap((field) => ["", ":asc", ":desc", ":up"].map((direction) => `${field}${direction}`));
  const lists = specification
    .operations()
    .filter((operation) => /^GET \/(?!storage)[a-z_]+(\/actions)?$/.test(operation));
  const own = "GET /servers/{id}/actions";
  let tried = 0;
  for (const operation of [...lists, own]) {
    const path = operation.replace("GET ", "/v1").replace("{id}", String(server.id));
    for (const [name, allowed] of Object.entries(specification.choices(operation)))
      for (const value of new Set([...allowed, ...(name === "sort" ? sorts : ["bogus"])])) {
        const answer = world.ask("GET", `${path}?${name}=${value}`);
        assert.equal(answer.status, allowed.includes(value) ? 200 : 422, `${path}?${name}=${value}`);
        tried++;
      }
  }
  assert.ok(tried > 500, String(tried));
});

test("both protections of a server have one value", () => {
  const world = new TestWorld({ pace: 0 });
  const { server } = world.take<{ server: { id: number } }>(201, "POST", "/v1/servers", smallServer);
  const path = `/v1/servers/${server.id}/actions/change_protection`;
  assert.equal(world.ask("POST", path, { delete: true, rebuild: false }).status, 422);
  assert.equal(world.ask("DELETE", `/v1/servers/${server.id}`).status, 200);
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
      const answer = world.ask(method, `/v1${path}`, body);
      faults.push(...specification.answerFaults(operation, answer.status, answer.body));
      if (pace > 0 && method !== "GET") world.pass(60);
      return answer;
    };
    await new HetznerWalk(ask, certificate).all();
    assert.deepEqual(faults, []);
    const unwalked = specification.operations().filter((operation) => !left.test(operation) && !walked.has(operation));
    assert.deepEqual(unwalked, []);
  });
}

test("refusals are as the specification says", () => {
  const world = new TestWorld({ pace: 0 });
  world.take(201, "POST", "/v1/servers", smallServer);
  const asked: readonly [string, string, unknown, number][] = [
    ["POST", "/servers", smallServer, 409],
    ["POST", "/servers", {}, 422],
    ["POST", "/servers", "{", 400],
    ["GET", "/servers/1", undefined, 404],
    ["GET", "/servers?sort=colour", undefined, 422],
    ["GET", "/actions", undefined, 422],
  ];
  for (const [method, path, body, status] of asked) {
    const answer = world.ask(method, `/v1${path}`, body);
    const operation = specification.operationOf(method, path.split("?")[0] ?? "") ?? "";
    assert.equal(answer.status, status, path);
    assert.deepEqual(specification.answerFaults(operation, answer.status, answer.body), []);
  }
});

test("the validator finds what is wrong: a missing field, one too many, a wrong type, a null", () => {
  const world = new TestWorld({ pace: 0 });
  const body = world.take<{ server: Record<string, unknown> }>(201, "POST", "/v1/servers", smallServer);
  const faults = (server: Record<string, unknown>) =>
    specification.answerFaults("POST /servers", 201, { ...body, server: { ...body.server, ...server } }).length;
  assert.equal(faults({}), 0);
  assert.ok(faults({ name: undefined }) > 0);
  assert.ok(faults({ colour: "red" }) > 0);
  assert.ok(faults({ id: "7" }) > 0);
  assert.ok(faults({ name: null }) > 0);
  assert.ok(faults({ created: "yesterday" }) > 0);
});

test("there are at most 10 deviations, each with the provider's own words", () => {
  assert.ok(deviations.length <= 10);
  for (const { documented, what } of deviations) assert.ok(documented.length > 20 && what.length > 10);
});
