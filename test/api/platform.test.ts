import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api[Symbol.asyncDispose]());

const base = "/v1/organizations/default";

function code(answer: Answer): unknown {
  return answer.body["code"];
}

test("every /v1 route asks for the token, whatever is sent instead", async () => {
  const attempts = [
    undefined,
    "",
    "Bearer ",
    "Bearer wrong",
    "Basic dGVzdA==",
    "test-token-of-the-operator",
    "Bearer test-token-of-the-operato",
    "Bearer test-token-of-the-operator2",
  ];
  for (const url of [
    "/v1/organizations",
    "/v1/openapi.json",
    `${base}/dnszones/x`,
    "/v1/freeze",
    "/v1/nothing",
    "/v1",
  ]) {
    for (const authorization of attempts) {
      const answer = await api.app.inject({
        method: "GET",
        url,
        headers: authorization === undefined ? {} : { authorization },
      });
      assert.equal(answer.statusCode, 401, `${url} with ${String(authorization)}`);
      assert.equal(answer.headers["www-authenticate"], 'Bearer realm="setpoint"');
    }
  }
});

test("health, metrics and the status page need no token and tell nothing about tenants", async () => {
  for (const url of ["/healthz", "/readyz"]) {
    const answer = await api.app.inject({ method: "GET", url });
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(answer.json(), { status: "ok", database: "ok" });
  }
  assert.equal((await api.app.inject({ method: "GET", url: "/metrics" })).statusCode, 200);
  const page = await api.app.inject({ method: "GET", url: "/" });
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-/);
  assert.doesNotMatch(page.body, /<script|src=|https?:\/\//, "nothing is loaded from anywhere");
});

test("organizations, projects and workspaces are created once", async () => {
  assert.equal((await api.send("POST", "/v1/organizations", { name: "acme" })).status, 201);
  assert.equal(code(await api.send("POST", "/v1/organizations", { name: "acme" })), "ALREADY_EXISTS");
  const listed = (await api.send("GET", "/v1/organizations")).body["items"] as { name: string }[];
  assert.deepEqual(listed.map(({ name }) => name).sort(), ["acme", "default"]);
  for (const name of ["", "Acme", "-a", "a b", "a/b", "x".repeat(64)]) {
    assert.equal((await api.send("POST", "/v1/organizations", { name })).status, 422, name);
  }
  assert.equal((await api.send("POST", "/v1/organizations/acme/projects", { name: "web" })).status, 201);
  assert.equal(code(await api.send("POST", "/v1/organizations/acme/projects", { name: "web" })), "ALREADY_EXISTS");
  assert.equal(
    (await api.send("POST", `${base}/projects`, { name: "web" })).status,
    201,
    "another organization may use the same name",
  );
  assert.equal(
    code(await api.send("POST", "/v1/organizations/acme/projects/none/workspaces", { name: "w" })),
    "SCOPE_UNKNOWN",
  );
});

test("two requests that create the same organization at once make one", async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => api.send("POST", "/v1/organizations", { name: "raced" })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).sort((left, right) => left - right),
    [201, 409, 409, 409, 409],
  );
});

test("an account keeps where its credential is, and never the credential", async () => {
  const account = {
    name: "lab",
    provider: "powerdns",
    settings: { url: "http://127.0.0.1:8081" },
    credentialRef: "env:LAB_KEY",
  };
  const added = await api.send("POST", `${base}/accounts`, account);
  assert.equal(added.status, 201);
  assert.equal(code(await api.send("POST", `${base}/accounts`, account)), "ALREADY_EXISTS");
  const [listed] = (await api.send("GET", `${base}/accounts`)).body["items"] as Record<string, unknown>[];
  assert.equal(listed?.["name"], "lab");
  assert.deepEqual(listed?.["settings"], { url: "http://127.0.0.1:8081", server: "localhost", sentinel: "tsig-key" });
  const pasted = await api.send("POST", `${base}/accounts`, { ...account, name: "pasted", credentialRef: "hunter2" });
  assert.equal(pasted.status, 422);
  assert.ok(!JSON.stringify(pasted.body).includes("hunter2"));
  const badSettings = await api.send("POST", `${base}/accounts`, {
    ...account,
    name: "bad",
    settings: { url: "nonsense", more: 1 },
  });
  assert.equal(badSettings.status, 422);
  assert.ok((badSettings.body["errors"] as { pointer: string }[]).some(({ pointer }) => pointer === "/settings/url"));
  assert.equal(
    code(await api.send("POST", `${base}/accounts`, { ...account, name: "other", provider: "route66" })),
    "PROVIDER_UNKNOWN",
  );
});

test("a pause covers what it names, is listed with who and why, and ends", async () => {
  const made = await api.send("POST", `${base}/pauses`, {
    on: "projects/web",
    level: "deletes",
    reason: "moving house",
    forSeconds: 600,
  });
  assert.equal(made.status, 201);
  assert.equal(made.body["scope"], "project/default:web");
  const [listed] = (await api.send("GET", `${base}/pauses`)).body["items"] as Record<string, unknown>[];
  assert.deepEqual(
    [listed?.["level"], listed?.["author"], listed?.["reason"]],
    ["deletes", "operator", "moving house"],
  );
  const id = String(made.body["id"]);
  assert.deepEqual((await api.send("DELETE", `${base}/pauses/${id}`)).body, { ended: [id] });
  assert.equal(code(await api.send("DELETE", `${base}/pauses/${id}`)), "NOT_FOUND");
  assert.equal((await api.send("POST", `${base}/pauses`, { on: "accounts/lab", reason: "key rotation" })).status, 201);
});

test("a pause that says nothing, or names nothing, is refused", async () => {
  assert.equal((await api.send("POST", `${base}/pauses`, { reason: "" })).status, 422);
  assert.equal((await api.send("POST", `${base}/pauses`, {})).status, 422);
  assert.equal((await api.send("POST", `${base}/pauses`, { reason: "because", level: "some" })).status, 422);
  assert.equal((await api.send("POST", `${base}/pauses`, { reason: "because", forSeconds: 1e9 })).status, 422);
  for (const on of [
    "",
    "everything",
    "accounts/none",
    "dnszones/none",
    "projects/none",
    "projects",
    "accounts/",
    "dnszones/a/b",
  ]) {
    const { status } = await api.send("POST", `${base}/pauses`, { on, reason: "because" });
    assert.ok(status === 422 || status === 404, `${on}: ${status}`);
  }
});

test("a freeze is a pause of the platform, seen by every organization, and ends as a whole", async () => {
  const frozen = await api.send("POST", "/v1/freeze", { level: "all", reason: "provider incident", forSeconds: 60 });
  assert.equal(frozen.status, 201);
  for (const organization of ["default", "acme"]) {
    const items = (await api.send("GET", `/v1/organizations/${organization}/pauses`)).body["items"] as {
      scope: string;
    }[];
    assert.ok(items.some(({ scope }) => scope === "platform"));
  }
  const id = String(frozen.body["id"]);
  assert.equal(code(await api.send("DELETE", `${base}/pauses/${id}`)), "GUARD_REFUSED");
  assert.deepEqual((await api.send("DELETE", "/v1/freeze")).body, { ended: [id] });
  assert.deepEqual((await api.send("GET", "/v1/freeze")).body, { items: [] });
});

test("policies are set per scope and replaced as a whole", async () => {
  const limits = { deletesPerCycle: { count: 2, percent: 10, atLeast: 1 } };
  assert.equal((await api.send("PUT", `${base}/policy`, { mode: "propose", limits })).status, 200);
  assert.deepEqual((await api.send("GET", `${base}/policy`)).body, { mode: "propose", limits });
  assert.equal((await api.send("PUT", `${base}/projects/web/policy`, { fourEyes: true })).status, 200);
  assert.deepEqual((await api.send("GET", `${base}/projects/web/policy`)).body, { fourEyes: true });
  assert.equal((await api.send("PUT", "/v1/policy", { ceiling: { changesPerCycle: 10 } })).status, 200);
  assert.deepEqual((await api.send("GET", "/v1/policy")).body, { ceiling: { changesPerCycle: 10 } });
  assert.equal((await api.send("PUT", `${base}/policy`, { mode: "yolo" })).status, 422);
  assert.equal((await api.send("PUT", `${base}/policy`, { limits: { deletesPerCycle: { count: -1 } } })).status, 422);
});

test("held changes that do not exist cannot be decided", async () => {
  assert.deepEqual((await api.send("GET", `${base}/held-changes`)).body, { items: [], truncated: false });
  assert.equal(code(await api.send("GET", `${base}/held-changes/none`)), "NOT_FOUND");
  assert.equal(
    code(await api.send("POST", `${base}/held-changes/none:approve`, { digest: "0123456789" })),
    "NOT_FOUND",
  );
  assert.equal((await api.send("POST", `${base}/held-changes/none:approve`, {})).status, 422);
  const comment = "not wanted";
  assert.equal(code(await api.send("POST", `${base}/held-changes/none:reject`, { comment })), "NOT_FOUND");
  assert.equal((await api.send("GET", `${base}/held-changes?state=lost`)).status, 422);
});

test("the registry of loops names every kind, and why some have none", async () => {
  const kinds = (await api.send("GET", "/v1/loops")).body["kinds"] as Record<string, unknown>[];
  const zone = kinds.find(({ kind }) => kind === "DnsZone");
  assert.equal(zone?.["everySeconds"], 300);
  assert.deepEqual(zone?.["inputs"], ["DnsRecord"]);
  assert.match(String(kinds.find(({ kind }) => kind === "DnsRecord")?.["withoutLoop"]), /DnsZone/);
  const summary = (await api.send("GET", "/v1/summary")).body;
  assert.equal(summary["incarnation"], 1);
});

test("without the database, health says so and requests are told to come back", async () => {
  const lost = () => Promise.reject(new Error("connection refused"));
  await using cut = await startTestApi({ checkDatabase: lost });
  const health = await cut.app.inject({ method: "GET", url: "/healthz" });
  assert.equal(health.statusCode, 503);
  assert.doesNotMatch(health.body, /connection refused/);
});

test("the OpenAPI document describes every route that is served", async () => {
  const document = (await api.send("GET", "/v1/openapi.json")).body;
  assert.equal(document["openapi"], "3.1.0");
  const paths = Object.keys(document["paths"] as object);
  for (const path of [
    "/v1/organizations",
    `/v1/organizations/{organization}/dnszones/{name}`,
    "/v1/freeze",
    "/v1/organizations/{organization}/held-changes/{id}:approve",
  ]) {
    assert.ok(paths.includes(path), path);
  }
  const text = JSON.stringify(document);
  const components = (document["components"] as { schemas: object }).schemas;
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    assert.ok(name in components, `${name} is referred to and not defined`);
  assert.doesNotMatch(text, /\$defs/);
});
