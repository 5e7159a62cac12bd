import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";
import { memberOf, signedIn, type TestPerson } from "../support/people.ts";

let api: TestApi;
let owner: TestPerson;
let operator: TestPerson;
const base = "/v1/organizations/acme";

before(async () => {
  api = await startTestApi({ verifyOrganizations: true });
  owner = await signedIn(api, "owner@acme.test");
  operator = await signedIn(api, "operator@platform.test", { platformRole: "operator" });
  assert.equal((await owner.send("POST", "/v1/organizations", { name: "acme" })).status, 201);
});
after(() => api[Symbol.asyncDispose]());

function code(answer: Answer): unknown {
  return answer.body["code"];
}

const zone = {
  apiVersion: "setpoint/v1",
  kind: "DnsZone",
  metadata: { name: "example", mode: "observe" },
  spec: { zone: "example.test", account: "lab" },
};
const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };

function status(change: object): Promise<Answer> {
  return operator.send("PUT", `${base}/status`, { reason: "test", ...change });
}

test("an organization that somebody makes for themselves creates nothing before it is verified", async () => {
  assert.equal((await owner.send("GET", base)).body["verification"], "in_setup");
  const refused = await owner.send("POST", `${base}/projects`, { name: "web" });
  assert.equal(code(refused), "ENTITY_STATUS");
  assert.equal(refused.status, 409);
  assert.match(
    String(refused.body["detail"]),
    /verification is "in_setup" and its state is "active".*setpoint org submit/,
  );
  assert.equal((await owner.send("POST", `${base}:submit`)).body["verification"], "pending");
  assert.equal(
    (await owner.send("POST", `${base}:submit`)).body["verification"],
    "pending",
    "asking twice changes nothing",
  );
  assert.equal(code(await owner.send("POST", `${base}/projects`, { name: "web" })), "ENTITY_STATUS");
  assert.equal(
    code(await owner.send("PUT", `${base}/status`, { verification: "verified", reason: "me" })),
    "FORBIDDEN",
  );
  assert.equal((await status({ verification: "verified" })).status, 200);
  assert.equal((await owner.send("POST", `${base}/projects`, { name: "web" })).status, 201);
  assert.equal((await owner.send("POST", `${base}/accounts`, account)).status, 201);
});

test("blocked, queued or inactive: everything that creates is refused, and reads and deletes go on", async () => {
  await owner.send("POST", `${base}/projects`, { name: "old" });
  const creating: readonly (readonly [Parameters<TestPerson["send"]>[0], string, unknown])[] = [
    ["POST", `${base}/projects`, { name: "more" }],
    ["POST", `${base}/projects/web/workspaces`, { name: "live" }],
    ["POST", `${base}/accounts`, { ...account, name: "more" }],
    ["POST", `${base}/invites`, { email: "more@acme.test" }],
    ["POST", `${base}/roles`, { name: "more", rules: [{ key: "organization", actions: ["read"] }] }],
    ["POST", `${base}/members/${owner.id}/bindings`, { role: "admin" }],
  ];
  const changes = [
    { verification: "blocked" },
    { verification: "waitlist" },
    { verification: "verified", state: "inactive" },
  ];
  for (const change of changes) {
    assert.equal((await status(change)).status, 200);
    for (const [method, url, body] of creating) {
      const refused = await owner.send(method, url, body);
      assert.equal(code(refused), "ENTITY_STATUS", `${JSON.stringify(change)}: ${method} ${url}`);
    }
    assert.equal((await owner.send("GET", `${base}/projects`)).status, 200);
  }
  assert.equal((await owner.send("DELETE", `${base}/projects/old`)).status, 200);
  assert.equal((await status({ state: "active" })).status, 200);
});

test("an operator of the platform sees which organizations there are, and nothing in them", async () => {
  const listed = (await operator.send("GET", "/v1/organizations")).body["items"] as { name: string }[];
  assert.ok(listed.some(({ name }) => name === "acme"));
  for (const path of ["/members", "/accounts", "/dnszones", "/held-changes"])
    assert.equal(code(await operator.send("GET", `${base}${path}`)), "FORBIDDEN", path);
  assert.equal(code(await operator.send("GET", `${base}/projects/web`)), "SCOPE_UNKNOWN");
  const administrator = await signedIn(api, "admin@platform.test", { platformRole: "administrator" });
  assert.equal((await administrator.send("GET", `${base}/accounts`)).status, 200);
  assert.equal(
    (await administrator.send("POST", "/v1/organizations", { name: "theirs" })).body["verification"],
    "verified",
  );
});

test("a project, a workspace and an organization are deleted only when nothing is in them", async () => {
  await owner.send("POST", `${base}/projects`, { name: "full" });
  await owner.send("POST", `${base}/projects/full/workspaces`, { name: "live" });
  const headers = { authorization: `Bearer ${owner.token}`, "if-none-match": "*" };
  const declared = await api.send("PUT", `${base}/projects/full/dnszones/example`, zone, headers);
  assert.equal(declared.status, 201, JSON.stringify(declared.body));
  const refused = await owner.send("DELETE", `${base}/projects/full`);
  assert.equal(code(refused), "IN_USE");
  assert.match(String(refused.body["detail"]), /workspace live.*DnsZone\/example/);
  assert.equal((await owner.send("DELETE", `${base}/projects/full/workspaces/live`)).status, 200);
  assert.equal(code(await owner.send("GET", `${base}/projects/full/workspaces/live`)), "SCOPE_UNKNOWN");
  const last = await owner.send("DELETE", base);
  assert.equal(code(last), "IN_USE");
  assert.match(String(last.body["detail"]), /project full/);
});

test("a deleted organization is invisible to everybody, and its name is not given to somebody else", async () => {
  const boss = await signedIn(api, "boss@gone.test");
  await boss.send("POST", "/v1/organizations", { name: "gone" });
  assert.equal((await boss.send("DELETE", "/v1/organizations/gone")).status, 200);
  for (const person of [boss, operator])
    assert.equal(code(await person.send("GET", "/v1/organizations/gone")), "ORGANIZATION_UNKNOWN");
  assert.equal(code(await api.send("GET", "/v1/organizations/gone/projects")), "ORGANIZATION_UNKNOWN");
  assert.equal(
    code(await api.send("PUT", "/v1/organizations/gone/status", { state: "active", reason: "back" })),
    "ORGANIZATION_UNKNOWN",
  );
  const listed = (await api.send("GET", "/v1/organizations")).body["items"] as { name: string }[];
  assert.ok(!listed.some(({ name }) => name === "gone"));
  const thief = await signedIn(api, "thief@gone.test");
  assert.equal(code(await thief.send("POST", "/v1/organizations", { name: "gone" })), "ALREADY_EXISTS");
});

test("what was given in a project that is gone does not come back with a project of the same name", async () => {
  await owner.send("POST", `${base}/projects`, { name: "phoenix" });
  const ada = await memberOf(api, "acme", "ada@acme.test", [{ role: "member", project: "phoenix" }]);
  const late = await signedIn(api, "late@acme.test");
  const invite = { email: late.email, bindings: [{ role: "member", project: "phoenix" }] };
  const { secret } = (await owner.send("POST", `${base}/invites`, invite)).body as { secret: string };
  await owner.send("PUT", `${base}/projects/phoenix/policy`, { mode: "enforce" });
  assert.equal((await ada.send("GET", `${base}/projects/phoenix`)).status, 200);
  assert.equal((await owner.send("DELETE", `${base}/projects/phoenix`)).status, 200);
  await owner.send("POST", `${base}/projects`, { name: "phoenix" });
  assert.equal(code(await ada.send("GET", `${base}/projects/phoenix`)), "SCOPE_UNKNOWN");
  assert.equal(code(await late.send("POST", "/v1/invites/accept", { secret })), "NOT_FOUND");
  const policy = (await owner.send("GET", `${base}/projects/phoenix/policy`)).body;
  assert.equal(policy["mode"], undefined);
});

test("a role of one's own holds what its author has, and what is in it is what its members may do", async () => {
  const rules = [{ key: "project.dns_zone", actions: ["read"] }];
  assert.equal((await owner.send("POST", `${base}/roles`, { name: "reader", rules })).status, 201);
  assert.equal(code(await owner.send("POST", `${base}/roles`, { name: "reader", rules })), "ALREADY_EXISTS");
  assert.equal(code(await owner.send("POST", `${base}/roles`, { name: "owner", rules })), "ALREADY_EXISTS");
  for (const bad of [
    { key: "*", actions: ["read"] },
    { key: "project.nothing", actions: ["read"] },
    { key: "platform.freeze", actions: ["create"] },
    { key: "organization.billing", actions: ["execute"] },
    { key: "organization", actions: [] },
    { key: "organization", actions: ["approve"] },
  ])
    assert.equal(
      (await owner.send("POST", `${base}/roles`, { name: "bad", rules: [bad] })).status,
      422,
      JSON.stringify(bad),
    );
  const rita = await memberOf(api, "acme", "rita@acme.test", [{ role: "reader", project: "web" }]);
  assert.equal((await rita.send("GET", `${base}/projects/web/dnszones`)).status, 200);
  assert.equal(code(await rita.send("GET", `${base}/projects/web/dnsrecords`)), "FORBIDDEN");
  const changed = { rules: [{ key: "project.dns_record", actions: ["read"] }] };
  assert.equal((await owner.send("PUT", `${base}/roles/reader`, changed)).body["revision"], 2);
  assert.equal((await rita.send("GET", `${base}/projects/web/dnsrecords`)).status, 200);
  assert.equal(code(await rita.send("GET", `${base}/projects/web/dnszones`)), "FORBIDDEN");
  const used = await owner.send("DELETE", `${base}/roles/reader`);
  assert.equal(code(used), "IN_USE");
  assert.match(String(used.body["detail"]), /member rita@acme\.test/);
  assert.equal((await owner.send("DELETE", `${base}/members/${rita.id}`)).status, 200);
  assert.equal((await owner.send("DELETE", `${base}/roles/reader`)).status, 200);
  assert.equal(code(await owner.send("DELETE", `${base}/roles/admin`)), "ALREADY_EXISTS");
});

test("explain says yes with the role and where it is bound, and no with what is missing", async () => {
  const sven = await memberOf(api, "acme", "sven@acme.test", [{ role: "member", project: "web" }]);
  const ask = (person: TestPerson, query: string) => person.send("GET", `/v1/access/explain?${query}`);
  const yes = await ask(sven, "permission=project.dns_zone&action=create&organization=acme&project=web");
  assert.deepEqual([yes.body["allowed"], yes.body["role"], yes.body["boundAt"]], [true, "member", "project/acme:web"]);
  const no = await ask(sven, "permission=organization.account&action=create&organization=acme");
  assert.equal(no.body["allowed"], false);
  assert.match(String(no.body["because"]), /no role here allows organization\.account\.create/);
  const hidden = await ask(sven, "permission=project.dns_zone&action=read&organization=acme&project=phoenix");
  assert.equal(code(hidden), "SCOPE_UNKNOWN");
  assert.equal(code(await ask(sven, "permission=nothing&action=read")), "FIELDS_INVALID");
  const about = "permission=project.dns_zone&action=create&organization=acme&project=web&as=sven@acme.test";
  assert.equal((await ask(owner, about)).body["allowed"], true);
  assert.equal(code(await ask(sven, about.replace("sven", "owner"))), "FORBIDDEN");
  assert.equal(code(await ask(owner, about.replace("sven@acme.test", "operator@platform.test"))), "NOT_FOUND");
  assert.equal((await ask(operator, "permission=platform.freeze&action=create")).body["allowed"], true);
});

test("the rights of somebody who is disabled end, and so do those of a membership in doubt", async () => {
  const tom = await memberOf(api, "acme", "tom@acme.test", [{ role: "member" }]);
  const author = { name: "test", type: "person" } as const;
  assert.equal((await api.context.members.bindingsOfPerson(tom.id)).length, 1);
  await api.context.identity.store.changePerson({ id: tom.id, state: "disabled", author });
  assert.deepEqual(await api.context.members.bindingsOfPerson(tom.id), []);
});
