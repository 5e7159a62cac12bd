import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resourceSchema, whySchema } from "../../src/control-api/schemas/resource.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { addLab, base, code, declare, type Engine, record, status, takeEngine, zone } from "../support/zones.ts";

let api: TestApi;
let engine: Engine;
before(async () => {
  api = await startTestApi();
  await addLab(api);
  engine = await takeEngine(api);
  for (const name of ["web", "shop"]) await api.send("POST", `${base}/projects`, { name });
  await api.send("POST", `${base}/projects/web/workspaces`, { name: "production" });
  await declare(
    api,
    zone("shared", {
      spec: {
        delegations: [
          { pattern: "*.web", project: "web" },
          { pattern: "api", project: "shop" },
        ],
      },
    }),
  );
});
after(() => api[Symbol.asyncDispose]());

const at = (project: string) => `${base}/projects/${project}/dnsrecords`;
const ofOrganization = (name: string, full: string) =>
  record(name, "shared", { name: full, zoneScope: "organization" });

test("overlapping patterns are refused with both owners", async () => {
  const delegations = [
    { pattern: "*.web", project: "web" },
    { pattern: "www.*", project: "shop" },
  ];
  const refused = await api.send("POST", `${base}/dnszones`, zone("twice", { spec: { delegations } }));
  assert.equal(refused.status, 422);
  assert.match(
    JSON.stringify(refused.body["errors"]),
    /\/spec\/delegations\/1\/pattern.*project .*shop.*project .*web/,
  );
  assert.equal((await api.send("GET", `${base}/dnszones/twice`)).status, 404);
});

test("a delegation to nobody is refused with the name that is missing", async () => {
  for (const [delegation, says] of [
    [{ pattern: "a", project: "webb" }, /\/spec\/delegations\/0\/project.*there is no project \\"webb\\"/],
    [{ pattern: "a", project: "web", workspace: "prod" }, /delegations\/0\/workspace.*workspace \\"prod\\"/],
  ] as const) {
    const refused = await api.send(
      "POST",
      `${base}/dnszones`,
      zone("to-nobody", { spec: { delegations: [delegation] } }),
    );
    assert.equal(code(refused), "FIELDS_INVALID");
    assert.match(JSON.stringify(refused.body["errors"]), says);
    assert.equal((await api.send("GET", `${base}/dnszones/to-nobody`)).status, 404);
  }
});

test("a project declares records of its organization's zone inside its pattern, and nowhere else", async () => {
  const made = await api.send("POST", at("web"), ofOrganization("www", "www.web"));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const below = await api.send("POST", `${base}/projects/web/workspaces/production/dnsrecords`, {
    ...ofOrganization("below", "below.web"),
  });
  assert.equal(below.status, 201, "a workspace of the project");
  for (const [project, name, says] of [
    ["web", "www", /in no pattern that the zone delegates to project \\"web\\"/],
    ["web", "a.b.web", /in no pattern/],
    ["web", "@", /in no pattern/],
    ["web", "api", /delegated to project \\"shop\\"/],
    ["shop", "www.web", /delegated to project \\"web\\"/],
  ] as const) {
    const refused = await api.send("POST", at(project), ofOrganization("outside", name));
    assert.equal(refused.status, 422, `${project} ${name}`);
    assert.equal(code(refused), "FIELDS_INVALID");
    assert.match(JSON.stringify(refused.body["errors"]), says);
    assert.equal((await api.send("GET", `${at(project)}/outside`)).status, 404, "nothing was stored");
  }
  const own = await api.send("POST", `${base}/dnsrecords`, record("own", "shared", { name: "www.web" }));
  assert.match(JSON.stringify(own.body["errors"]), /delegated to project/, "not even the zone's own scope");
  await declare(api, record("mail", "shared"));
});

test("the zone is computed from the records of all scopes, and woken by them", async () => {
  const leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  const due = await api.engine.dueSubjects({ shards: leases.map(({ shard }) => shard), limit: 100 });
  const inputs = await Promise.all(due.map(({ id }) => api.engine.load(id)));
  const [input] = inputs.filter((one) => one?.resource.name === "shared");
  assert.deepEqual(
    new Set(input?.inputs.map(({ scope, name }) => `${scope.split("/")[0]} ${name}`)),
    new Set(["project www", "workspace below", "organization mail"]),
  );
  assert.ok((input?.inputVersion ?? 0) >= 4, "each of them woke it");
});

test("a record of another scope shows how its zone fares, and nothing of what is declared there", async () => {
  await engine.settle("shared", {
    status: status({ result: "failed", message: "secret-name.shared.test. is in the way" }),
  });
  const read = resourceSchema.parse((await api.send("GET", `${at("web")}/www`)).body);
  const ready = read.status.conditions.find(({ type }) => type === "Ready");
  assert.equal(ready?.reason, "LookFailed");
  assert.doesNotMatch(JSON.stringify(read.status), /secret-name/);
  const why = whySchema.parse((await api.send("GET", `${at("web")}/www/why`)).body);
  assert.match(why.summary, /LookFailed|DnsZone\/shared/);
  assert.doesNotMatch(JSON.stringify(why), /secret-name/);
  const mail = await api.send("GET", `${base}/dnsrecords/mail`);
  assert.match(JSON.stringify(mail.body), /secret-name/, "in the zone's own scope it is said");
});

test("a zone that other scopes use is not deleted, and they are listed", async () => {
  const refused = await api.send("DELETE", `${base}/dnszones/shared`, undefined, whatever);
  assert.equal(code(refused), "IN_USE");
  assert.match(JSON.stringify(refused.body["users"]), /"www"/);
});
