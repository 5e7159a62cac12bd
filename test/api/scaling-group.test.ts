import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { composeChildren } from "../../src/compose/children.ts";
import { accountIdOf, organizationIdOf } from "../../src/control-api/names.ts";
import { childrenOf } from "../../src/kernel/children.ts";
import { EngineError } from "../../src/kernel/errors.ts";
import type { ChildChange, Children } from "../../src/kernel/loop.ts";
import { kinds } from "../../src/kinds/registry.ts";
import type { Log } from "../../src/ports/log.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { Database } from "../../src/store/database.ts";
import { startTestApi, type TestApi } from "../support/api.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const root = "/v1/organizations/default";
const groups = `${root}/scalinggroups`;
const hosts = `${root}/hosts`;
const template = { type: "cx22", image: "debian-12", location: "fsn1" };
const spec = { account: "cloud", mode: "static", min: 0, max: 5, desired: 2, template };
const group = (name: string, changes: object = {}) => ({
  apiVersion: "setpoint/v1",
  kind: "ScalingGroup",
  metadata: { name },
  spec: { ...spec, ...changes },
});

let api: TestApi;
const databases: Database[] = [];
let children: Children;
/** What is known of an organization is kept for two seconds. */
let aheadMs = 0;
const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
before(async () => {
  api = await startTestApi();
  await api.send("POST", `${root}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
  const made = await api.send("POST", groups, group("web"));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const open = (role: "setpoint_api" | "setpoint_admin") => {
    const database = new Database({ url: api.url, role, log: silent, max: 2 });
    databases.push(database);
    return database;
  };
  const roles = { setpoint_api: open("setpoint_api"), setpoint_admin: open("setpoint_admin") };
  const ids = createSystemIds();
  const declaring = composeChildren({ databases: roles, kinds, clock, ids });
  const organizationId = organizationIdOf("default");
  const accounts = await api.context.reads.listAccounts(organizationId);
  const account = accounts.find(({ id }) => id === accountIdOf("default", "cloud")) ?? assert.fail("no account");
  const subject = {
    uid: (made.body["metadata"] as { uid: string }).uid,
    name: "web",
    scope: `organization/${organizationId}`,
    organizationId,
    generation: 1,
    spec,
  };
  const record = { ...account, organizationId, settings: {}, credentialRef: undefined } as never;
  const loop = { kind: "ScalingGroup", declares: "Host" };
  children = childrenOf({ declaring, ids, kinds }, { loop, subject, account: record });
});
after(async () => {
  for (const database of databases) await database.end();
  await api[Symbol.asyncDispose]();
});

function member(name: string, changes: object = {}): ChildChange {
  return { action: "create", name, spec: { account: "cloud", ...template, group: "web", ...changes } };
}

async function names(): Promise<readonly string[]> {
  const { body } = await api.send("GET", hosts);
  return (body["items"] as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort();
}

async function refused(changes: readonly ChildChange[]): Promise<EngineError> {
  const before = await names();
  const thrown: unknown = await children.change(changes).then(
    () => assert.fail("it was not refused"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof EngineError, String(thrown));
  assert.deepEqual(await names(), before, "and nothing was written");
  return thrown;
}

test("members are declared in the group's name, with the operations that make their servers", async () => {
  const made = await children.change([member("web-1"), member("web-2")]);
  assert.deepEqual([...made.keys()], ["web-1", "web-2"]);
  const { body } = await api.send("GET", `${hosts}/web-1`);
  const { uid } = body["metadata"] as { uid: string };
  assert.equal(made.get("web-1"), uid);
  const operations = await api.send("GET", `${root}/operations`);
  const started = (operations.body["items"] as readonly { pipeline: string; startedBy: string }[]).map(
    ({ pipeline, startedBy }) => `${pipeline} by ${startedBy}`,
  );
  assert.deepEqual(started, ["host.create by ScalingGroup/web", "host.create by ScalingGroup/web"]);
  await api.seal();
  const audit = await api.send("GET", `${root}/audit`);
  assert.match(JSON.stringify(audit.body), /ScalingGroup\/web/);
});

test("a quota stops all of them, and a group that could never fit is refused when it is declared", async () => {
  assert.equal((await api.send("PUT", `${root}/quotas/Host`, { limit: 3 })).status, 200);
  const error = await refused([member("web-3"), member("web-4")]);
  assert.match(error.message, /has 3 of 3 Host resources.*raise the quota/);
  const wide = await api.send("POST", groups, group("wide", { max: 4 }));
  assert.equal(wide.status, 422, JSON.stringify(wide.body));
  assert.match(JSON.stringify(wide.body), /\/spec\/max.*may have 3 hosts/);
  assert.equal((await api.send("POST", groups, group("narrow", { max: 3 }))).status, 201);
  assert.equal((await api.send("PUT", `${root}/quotas/Host`, { limit: null })).status, 200);
});

test("what the template names has to be there", async () => {
  const error = await refused([member("web-3", { networks: [{ name: "nowhere" }] })]);
  assert.match(error.message, /CloudNetwork\/nowhere is missing/);
});

test("a child is at its parent's account and in its parent's scope alone", async () => {
  const error = await refused([member("web-3", { account: "other" })]);
  assert.match(error.message, /account is 'other', and not 'cloud'/);
});

test("a member goes only as it was when that was decided", async () => {
  const going = { action: "delete", name: "web-2", spec: {}, generation: 1 } as const;
  const { body, headers } = await api.send("GET", `${hosts}/web-2`);
  const left = { ...(body["spec"] as object), group: undefined, labels: { mine: "now" } };
  const manifest = { apiVersion: "setpoint/v1", kind: "Host", metadata: { name: "web-2" }, spec: left };
  const changed = await api.send("PUT", `${hosts}/web-2`, manifest, { "if-match": String(headers["etag"]) });
  assert.equal(changed.status, 202, JSON.stringify(changed.body));
  assert.match((await refused([going])).message, /changed since that was decided/);
  await children.change([{ ...going, name: "web-1" }]);
  const gone = await api.send("GET", `${hosts}/web-1`);
  assert.ok((gone.body["metadata"] as { deletion?: unknown }).deletion !== undefined, JSON.stringify(gone.body));
});

test("nothing is declared in an organization that is blocked", async () => {
  const put = await api.send("PUT", `${root}/status`, {
    verification: "blocked",
    reason: "unpaid",
  });
  assert.ok(put.status < 300, JSON.stringify(put.body));
  aheadMs = 3_000;
  const error = await refused([member("web-9")]);
  assert.match(error.message, /Nothing can be created in this organization/);
});
