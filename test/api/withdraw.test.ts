import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, startTestApi, type TestApi, whatever } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { memberOf, type TestPerson } from "../support/people.ts";
import { addLab, base, code, declare, record, zone } from "../support/zones.ts";

type Sender = Pick<TestPerson, "send">;
type Item = Readonly<Record<string, unknown>>;
let api: TestApi;
/** A member may propose and not decide; an admin may do both; an auditor only reads. */
let ada: TestPerson;
let other: TestPerson;
let admin: TestPerson;
let auditor: TestPerson;

before(async () => {
  api = await startTestApi();
  await addLab(api);
  await declare(api, zone("one"));
  ada = await memberOf(api, "default", "ada@example.test", [{ role: "member" }]);
  other = await memberOf(api, "default", "other@example.test", [{ role: "member" }]);
  admin = await memberOf(api, "default", "admin@example.test", [{ role: "admin" }]);
  auditor = await memberOf(api, "default", "eyes@example.test", [{ role: "auditor" }]);
});
after(() => api[Symbol.asyncDispose]());

const rights = [
  { key: "organization.proposal", actions: ["read", "create"] },
  { key: "organization.held_change", actions: ["read"] },
  { key: "project.dns_record", actions: ["read"] },
  { key: "project.dns_zone", actions: ["read"] },
];

/** A token that its maker gave the right to propose. */
async function tokenOf(type: "service-token" | "assistant-token"): Promise<Sender> {
  const body = { name: `of ${type}`, type, access: [{ rules: rights }] };
  const made = await admin.send("POST", `${base}/tokens`, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const authorization = `Bearer ${String(made.body["token"])}`;
  return { send: (method, url, sent) => api.send(method, url, sent, { authorization }) };
}

async function proposed(by: Sender, name: string): Promise<{ readonly path: string; readonly digest: string }> {
  const changes = [{ manifest: record(name, "one") }];
  const made = await by.send("POST", `${base}/proposals`, { reason: `because of ${name}`, changes });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { path: `${base}/proposals/${String(made.body["id"])}`, digest: String(made.body["digest"]) };
}

const withdraw = (by: Sender, path: string, body: object = {}) => by.send("POST", `${path}:withdraw`, body);
const stateOf = async (path: string) => (await api.send("GET", path)).body["state"];
const declared = async (name: string) => (await api.send("GET", `${base}/dnsrecords/${name}`)).status;

async function lastEntry(type: string): Promise<Item> {
  await api.seal();
  const [entry] = (await api.send("GET", `${base}/audit?type=${type}`)).body["items"] as readonly Item[];
  return entry ?? assert.fail(`there is no ${type}`);
}

test("who proposed it takes it back; nothing of it is declared, and nobody can approve or apply it any more", async () => {
  const { path, digest } = await proposed(ada, "mine");
  const taken = await withdraw(ada, path, { comment: "found a better way" });
  assert.equal(taken.status, 200, JSON.stringify(taken.body));
  const { state, decidedBy, comment } = taken.body;
  assert.deepEqual([state, decidedBy, comment], ["withdrawn", "ada@example.test", "found a better way"]);
  for (const [verb, body] of [
    ["approve", { digest }],
    ["reject", { digest, comment: "no" }],
    ["withdraw", {}],
  ] as const)
    assert.equal(code(await admin.send("POST", `${path}:${verb}`, body)), "HELD_CHANGE_CLOSED", verb);
  assert.equal(code(await admin.send("POST", `${path}:apply`)), "HELD_CHANGE_CLOSED");
  assert.equal(await declared("mine"), 404);
  const open = (await api.send("GET", `${base}/proposals`)).body["items"] as readonly Item[];
  assert.deepEqual(open, [], "it waits for nobody");
  const { actor, actorType, resource, data } = await lastEntry("proposal.withdrawn");
  assert.deepEqual([actor, actorType], ["ada@example.test", "person"]);
  assert.equal(path.endsWith(String(resource)), true);
  assert.deepEqual(data, { digest, comment: "found a better way" });
});

test("also after it was approved, as long as it is not applied; then it is too late", async () => {
  const approved = await proposed(ada, "approved");
  assert.equal((await admin.send("POST", `${approved.path}:approve`, { digest: approved.digest })).status, 200);
  assert.equal((await withdraw(ada, approved.path)).status, 200);
  assert.equal(code(await admin.send("POST", `${approved.path}:apply`)), "HELD_CHANGE_CLOSED");
  assert.equal(await declared("approved"), 404);
  const applied = await proposed(ada, "applied");
  assert.equal((await admin.send("POST", `${applied.path}:approve`, { digest: applied.digest })).status, 200);
  assert.equal((await admin.send("POST", `${applied.path}:apply`)).status, 200);
  assert.equal(code(await withdraw(ada, applied.path)), "HELD_CHANGE_CLOSED");
  assert.deepEqual([await stateOf(applied.path), await declared("applied")], ["applied", 200]);
});

test("others cannot, unless they could approve it", async () => {
  const { path } = await proposed(ada, "contested");
  for (const person of [other, auditor]) assert.equal(code(await withdraw(person, path)), "FORBIDDEN", person.email);
  const stranger = await memberOf(api, "default", "coins@example.test", [{ role: "billing" }]);
  assert.equal((await withdraw(stranger, path)).status, 403, "nobody takes back what they may not see");
  assert.equal(await stateOf(path), "open");
  assert.equal((await withdraw(admin, path)).status, 200);
  assert.equal((await lastEntry("proposal.withdrawn"))["actor"], "admin@example.test");
});

test("a machine takes back what it proposed, and nothing of people or other machines", async () => {
  const assistant = await tokenOf("assistant-token");
  const service = await tokenOf("service-token");
  const own = await proposed(assistant, "suggested");
  assert.equal(code(await withdraw(service, own.path)), "PRINCIPAL_REFUSED", "a program is no assistant");
  const makers = await proposed(admin, "makers");
  assert.equal(code(await withdraw(assistant, makers.path)), "PRINCIPAL_REFUSED", "its maker is not it");
  assert.deepEqual([await stateOf(own.path), await stateOf(makers.path)], ["open", "open"]);
  assert.equal((await withdraw(assistant, own.path)).status, 200);
  assert.equal((await lastEntry("proposal.withdrawn"))["actorType"], "assistant");
  const another = await proposed(assistant, "another");
  assert.equal((await withdraw(admin, another.path)).status, 200, "its maker takes it back, as a person");
  assert.equal((await withdraw(admin, makers.path)).status, 200);
});

/** A limit that somebody asks to raise; it waits. */
async function looser(by: Sender, changesPerCycle: number): Promise<Answer> {
  const policy = { limits: { changesPerCycle } };
  const made = await by.send("POST", `${base}/held-changes`, { type: "policy", policy, reason: "a large move" });
  assert.equal(made.status, 202, JSON.stringify(made.body));
  return made;
}

test("a rule that was asked for is taken back by who asked, and what holds stays", async () => {
  const limit = async () => (await api.send("GET", `${base}/policy`)).body["limits"];
  const before = await limit();
  const { body } = await looser(ada, 9_000);
  const path = `${base}/held-changes/${String(body["id"])}`;
  for (const person of [other, auditor]) assert.equal(code(await withdraw(person, path)), "FORBIDDEN", person.email);
  assert.equal(await stateOf(path), "open");
  const taken = await withdraw(ada, path, { comment: "no longer needed" });
  assert.deepEqual([taken.status, taken.body["state"]], [200, "withdrawn"]);
  const { state, decidedBy, comment } = (await api.send("GET", path)).body;
  assert.deepEqual([state, decidedBy, comment], ["withdrawn", "ada@example.test", "no longer needed"]);
  const digest = String(body["digest"]);
  assert.equal(code(await admin.send("POST", `${path}:approve`, { digest })), "HELD_CHANGE_CLOSED");
  assert.equal(code(await withdraw(ada, path)), "HELD_CHANGE_CLOSED");
  assert.deepEqual(await limit(), before);
  assert.equal((await lastEntry("governance.withdrawn"))["actor"], "ada@example.test");
  const again = await looser(ada, 9_000);
  assert.notEqual(again.body["id"], body["id"], "it can be asked for again");
  assert.equal((await withdraw(admin, `${base}/held-changes/${String(again.body["id"])}`)).status, 200);
});

test("unknown ids, fields and empty comments are refused with the reason", async () => {
  for (const list of ["proposals", "held-changes"]) {
    assert.equal(code(await withdraw(ada, `${base}/${list}/nothing`)), "NOT_FOUND");
    const made = list === "proposals" ? (await proposed(ada, "strict")).path : `${base}/held-changes/x`;
    assert.equal(code(await withdraw(ada, made, { digest: "x" })), "FIELDS_INVALID");
    assert.equal(code(await withdraw(ada, made, { comment: " " })), "FIELDS_INVALID");
  }
});

test("the command line takes back both", async () => {
  const { path } = await proposed(api, "typed");
  const id = path.split("/").at(-1) ?? "";
  const at = ["--organization", "default"];
  const plan = await runCommand(api.app, ["plans", "withdraw", id, "--comment", "not now", ...at]);
  assert.deepEqual([plan.code, plan.notes], [0, `withdrawn: ${id}\n`]);
  assert.equal(await stateOf(path), "withdrawn");
  const listed = await runCommand(api.app, ["plans", "list", "--state", "withdrawn", ...at]);
  assert.ok(listed.data.includes(id), listed.data);
  const held = await api.send("PUT", `${base}/policy`, { limits: { changesPerCycle: 8_000 } }, whatever);
  const heldId = String(held.body["id"]);
  const rule = await runCommand(api.app, ["withdraw", heldId, ...at]);
  assert.deepEqual([rule.code, rule.notes], [0, `withdrawn: ${heldId}\n`]);
  assert.equal(await stateOf(`${base}/held-changes/${heldId}`), "withdrawn");
});
