import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { NotificationDispatcher } from "../../src/control-api/notify/dispatcher.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createWebhookSender } from "../../src/runtime/webhook-sender.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { memberOf, type TestPerson } from "../support/people.ts";

const minute = 60_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };
const base = "/v1/organizations/default";
const clock = new ManualClock(Date.now());
const undo = new AsyncDisposableStack();
let api: TestApi;
let workers: PostgresOperationStore;
let dispatcher: NotificationDispatcher;

before(async () => {
  api = undo.use(await startTestApi({ clock }, { storeNowMs: () => clock.nowMs() }));
  const options = { url: api.url, role: "setpoint_engine" as const, log, nowMs: () => clock.nowMs() };
  const database = undo.adopt(new Database(options), (it) => it.end());
  workers = new PostgresOperationStore({ database, clock: systemClock });
  dispatcher = new NotificationDispatcher({
    store: api.context.notifications,
    sender: createWebhookSender({ allowPrivate: [] }),
    mailer: undefined,
    secretBox: api.context.secretBox,
    clock,
    random: { next: () => 0.5 },
    log,
    publicUrl: "https://setpoint.example",
  });
  for (const organization of ["first", "second", "third"]) {
    assert.equal((await api.send("POST", "/v1/organizations", { name: organization })).status, 201);
    await addAccount(organization);
  }
  await addAccount("default");
  for (const project of ["web", "shop"]) await api.send("POST", `${base}/projects`, { name: project });
});
after(() => undo.disposeAsync());

async function addAccount(organization: string, name = "lab"): Promise<void> {
  const account = { name, provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  const { status } = await api.send("POST", `/v1/organizations/${organization}/accounts`, account);
  assert.equal(status, 201);
}

/** A zone that is to be made; nobody runs its operation here. The answer says where to watch it. */
async function declare(scope: string, name: string, by?: TestPerson, account = "lab"): Promise<string> {
  const spec = { account, zone: `${name}.test`, nameservers: ["ns1.example.test"], makesZone: true };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name, mode: "enforce" }, spec };
  const answer = await (by ?? api).send("POST", `${scope}/dnszones`, manifest);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return String(answer.headers["location"]);
}

const itemsOf = ({ body }: Answer) => body["items"] as readonly Readonly<Record<string, unknown>>[];
const namesOf = (answer: Answer) => itemsOf(answer).map(({ resource }) => (resource as { readonly name: string }).name);
const release = (path: string) => api.send("POST", `${path}:release`, { reason: "test" });

async function tell(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  for (const afterMs of [0, 0, 31_000, 0]) {
    clock.advance(afterMs);
    await api.seal();
    await dispatcher.step();
  }
  const told = itemsOf(await api.send("GET", `${base}/notifications`));
  return told.filter(({ type }) => type === "operation.overdue");
}

test("a hold of more than 15 minutes needs somebody: on the list, in the figures, and told once, with its owner", async () => {
  const person = await memberOf(api, "default", "holder@example.test", [{ role: "admin" }]);
  const path = await declare(base, "long", person);
  const attention = () => api.send("GET", `${base}/operations?attention=true`);
  const figure = async () => (await api.send("GET", "/v1/summary")).body["operationsAttention"];
  const page = async () => (await api.app.inject({ method: "GET", url: "/status" })).body;
  const startedAtMs = clock.nowMs();
  clock.advance(14 * minute);
  assert.equal((await tell()).length, 0, "nobody is told before");
  clock.advance(startedAtMs + 15 * minute - clock.nowMs());
  assert.deepEqual([namesOf(await attention()), await figure()], [[], 0], "not before");
  clock.advance(1);
  const [shown] = itemsOf(await attention());
  assert.equal(shown?.["needsAttention"], true);
  assert.match(
    String(shown?.["attentionBecause"]),
    /^holds DnsZone\/long for 1[56] min, started by holder@example\.test$/,
  );
  assert.equal(await figure(), 1);
  assert.match(await page(), /1 operation needs somebody/);
  const status = await runCommand(api.app, ["status"]);
  assert.match(status.data, /operationsAttention +1\b/);
  const listed = await runCommand(api.app, ["ops", "list", "--attention", "--organization", "default"]);
  assert.match(listed.data, /DnsZone\/long .*holder@example\.test .*holds DnsZone\/long for 1[56] min/);
  const told = await tell();
  assert.equal(told.length, 1);
  const text = JSON.stringify(told[0]);
  assert.match(text, /DnsZone\/long: dns-zone\.create started by holder@example\.test: waits for its turn/);
  assert.ok(text.includes(path), "with the link to it");
  for (let times = 0; times < 3; times++) clock.advance(60 * minute);
  assert.equal((await tell()).length, 1, "once");
  assert.equal((await release(path)).status, 202, "a person releases it");
  assert.deepEqual([namesOf(await attention()), await figure()], [[], 0]);
  assert.doesNotMatch(await page(), /needs? somebody<\/strong>/);
  const next = await declare(base, "next");
  clock.advance(16 * minute);
  assert.equal((await tell()).length, 2, "another hold is another word");
  await release(next);
});

test("what needs somebody is found behind any number of newer operations that do not", async () => {
  const path = await declare(base, "old");
  clock.advance(16 * minute);
  const newer = await Promise.all(["n1", "n2", "n3"].map((name) => declare(base, name)));
  assert.deepEqual(namesOf(await api.send("GET", `${base}/operations?attention=true&pageSize=1`)), ["old"]);
  for (const one of [path, ...newer]) await release(one);
});

test("the place in the queue is that of the worker's own order, over all tenants, and says whom it counts only in figures", async () => {
  // Two tenants that queue much, each at two accounts, and one that comes last.
  await addAccount("first", "spare");
  const paths = new Map<string, string>();
  for (const organization of ["first", "second"]) {
    for (let index = 0; index < 6; index++) {
      const account = organization === "first" && index > 3 ? "spare" : "lab";
      const name = `${organization}-${index}`;
      paths.set(name, await declare(`/v1/organizations/${organization}`, name, undefined, account));
      clock.advance(1);
    }
  }
  const waits = async (name: string) => (await api.send("GET", paths.get(name) ?? "")).body;
  assert.match(String((await waits("first-0"))["waitsFor"]), /^a worker: none is running/);
  const leases = await workers.takeWorkerShards({ holder: "w", wanted: 64, leaseMs: 600_000 });
  paths.set("third-0", await declare("/v1/organizations/third", "third-0"));
  const due = await workers.dueOperations({ shards: leases.map(({ shard }) => shard), limit: 100 });
  const order = due.map(({ operationId }) => operationId);
  assert.equal(order.length, 13);
  const seen = await Promise.all([...paths.keys()].map(async (name) => [name, await waits(name)] as const));
  for (const [name, body] of seen) {
    const place = order.indexOf(String(body["id"]));
    const own = order
      .slice(0, place)
      .filter((id) => seen.some(([other, { id: its }]) => its === id && sameTenant(name, other)));
    assert.deepEqual([body["ahead"], body["aheadOwn"]], [place, own.length], name);
  }
  const last = await waits("third-0");
  assert.deepEqual(
    [last["ahead"], last["aheadOwn"]],
    [2, 0],
    "a turn for each tenant: it does not wait for all of them",
  );
  assert.equal(last["waitsFor"], "its turn: 2 before it, 0 of them of this organization");
  assert.doesNotMatch(JSON.stringify(last), /first|second/, "whose they are is not said");
  const words = ["ops", "get", String(last["id"]), "--organization", "third"];
  assert.match((await runCommand(api.app, words)).data, /Queue +2 before it, 0 of them yours/);
  // Two workers share the shards: each takes its own, and so a place is counted among those of one of them.
  const half = leases.filter(({ shard }) => shard % 2 === 0);
  await workers.releaseWorkerShards({ holder: "w", shards: half });
  await workers.takeWorkerShards({ holder: "v", wanted: 32, leaseMs: 600_000 });
  for (const parity of [0, 1]) {
    const shards = leases.map(({ shard }) => shard).filter((shard) => shard % 2 === parity);
    const mine = await workers.dueOperations({ shards, limit: 100 });
    for (const [place, { operationId }] of mine.entries()) {
      const [name = ""] = seen.find(([, { id }]) => id === operationId) ?? [];
      assert.equal((await waits(name))["ahead"], place, name);
    }
  }
  for (const path of paths.values()) await release(path);
});

function sameTenant(left: string, right: string): boolean {
  return left.split("-")[0] === right.split("-")[0];
}

test("members of a project alone read and steer its operations, and others are not there for them", async () => {
  const web = await memberOf(api, "default", "web@example.test", [{ role: "member", project: "web" }]);
  const auditor = await memberOf(api, "default", "eyes@example.test", [{ role: "auditor", project: "web" }]);
  const billing = await memberOf(api, "default", "coins@example.test", [{ role: "billing" }]);
  const rules = [{ key: "project.dns_zone", actions: ["read", "create", "update"] }];
  assert.equal((await api.send("POST", `${base}/roles`, { name: "deployer", rules })).status, 201);
  const deployer = await memberOf(api, "default", "deploys@example.test", [{ role: "deployer", project: "web" }]);
  const mine = await declare(`${base}/projects/web`, "mine", web);
  const ofDeployer = await declare(`${base}/projects/web`, "deployed", deployer);
  const others = [await declare(`${base}/projects/shop`, "shop"), await declare(base, "whole")];
  for (const person of [web, auditor, deployer]) {
    for (const path of [mine, ofDeployer]) {
      assert.equal((await person.send("GET", path)).status, 200, `${person.email} follows ${path}`);
      assert.equal((await person.send("GET", `${path}/steps`)).status, 200);
    }
    for (const path of others) {
      const answer = await person.send("GET", path);
      assert.equal(answer.status, 404, `${person.email} at ${path}`);
      const unknown = await person.send("GET", `${base}/operations/none`);
      const words = ({ code, title, status }: Answer["body"]) => [code, title, status];
      assert.deepEqual(words(answer.body), words(unknown.body), "as if it were not there");
      assert.equal((await person.send("POST", `${path}:cancel`, { reason: "mine?" })).status, 404);
    }
    assert.deepEqual(namesOf(await person.send("GET", `${base}/operations`)).sort(), ["deployed", "mine"]);
  }
  assert.equal((await billing.send("GET", mine)).status, 403, "who may read none is told so, there or not");
  assert.equal((await billing.send("GET", `${base}/operations/none`)).status, 403);
  assert.deepEqual(namesOf(await billing.send("GET", `${base}/operations`)), []);
  assert.equal((await auditor.send("POST", `${mine}:cancel`, { reason: "no" })).status, 403);
  assert.equal((await deployer.send("POST", `${ofDeployer}:cancel`, { reason: "no" })).status, 403);
  assert.equal((await web.send("POST", `${mine}:cancel`, { reason: "mine" })).status, 202);
  // What is gone is still read by those who could read it, and a project that is gone takes nothing to others.
  assert.equal((await web.send("POST", `${mine}:release`, { reason: "mine" })).status, 202);
  assert.equal((await web.send("GET", mine)).body["state"], "cancelled");
  for (const path of [ofDeployer, ...others]) await release(path);
});

test("who watches an operation and loses the right to is no longer told", async () => {
  const person = await memberOf(api, "default", "leaving@example.test", [{ role: "member", project: "web" }]);
  const path = await declare(`${base}/projects/web`, "watched");
  const headers = { authorization: `Bearer ${person.token}` };
  const watching = await api.app.inject({ method: "GET", url: `${path}?watch=true`, headers, payloadAsStream: true });
  assert.equal(watching.statusCode, 200);
  const stream = watching.stream().resume();
  assert.equal((await api.send("DELETE", `${base}/members/${person.id}`)).status, 200);
  for (let turns = 0; turns < 50 && !stream.closed; turns++) {
    clock.advance(500);
    await systemClock.wait(20);
  }
  assert.ok(stream.closed, "within seconds");
  await release(path);
});

test("an input is told on the command line, as it is typed or in a file, and is checked by the pipeline", async () => {
  const account = { name: "cloud", provider: "hetzner-cloud", settings: {} };
  await api.send("POST", `${base}/accounts`, account);
  const spec = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
  const manifest = { apiVersion: "setpoint/v1", kind: "Host", metadata: { name: "web-1" }, spec };
  const made = await api.send("POST", `${base}/hosts`, manifest);
  await release(String(made.headers["location"]));
  const start = (input: string, stdin = "") =>
    runCommand(api.app, ["ops", "start", "host/web-1", "host.power", "--organization", "default", "--input", input], {
      readStdin: () => Promise.resolve(stdin),
    });
  const refused: readonly (readonly [string, RegExp])[] = [
    ['{"power": "sideways"}', /The input of host\.power is not valid: \/input\/power: .*"on"\|"off"\|"reset"/],
    ['{"power": "on", "hard": true}', /The input of host\.power is not valid: \/input: .*hard/],
    ["{}", /The input of host\.power is not valid: \/input\/power/],
    ["power.yaml", /--input must be an object with fields.*a file is named with @/],
    ['{"power": ', /--input is neither JSON nor YAML/],
    ["@/nowhere/power.yaml", /the input \/nowhere\/power\.yaml cannot be read/],
  ];
  for (const [input, words] of refused) {
    const answer = await start(input);
    assert.notEqual(answer.code, 0, input);
    assert.match(answer.notes, words);
  }
  assert.equal(itemsOf(await api.send("GET", `${base}/hosts/web-1/operations`)).length, 1, "nothing was started");
  for (const [input, stdin] of [['{"power": "reset"}'], ["power: reset"], ["-", "power: reset\n"]] as const) {
    const answer = await start(input, stdin);
    assert.equal(answer.code, 0, answer.notes);
    const path = `${base}/operations/${answer.data.trim()}`;
    const id = { organizationId: organizationIdOf("default"), operationId: answer.data.trim() };
    assert.deepEqual((await api.context.operations.findOperation(id))?.input, { power: "reset" });
    await release(path);
  }
});
