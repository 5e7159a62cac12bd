import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Accounts } from "../../src/kernel/accounts.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import type { OperationEngine } from "../../src/kernel/operation-scene.ts";
import { kinds } from "../../src/kinds/registry.ts";
import type { Log } from "../../src/ports/log.ts";
import { createHetznerCloudProvider } from "../../src/providers/hetzner-cloud/provider.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { startWorker } from "../../src/worker/worker.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { World } from "../../src/world/world.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { runCommand } from "../support/cli.ts";
import { worldHttp } from "../support/world-http.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const reference = "env:POOL_TOKEN";
const settings = { url: "http://world.test/v1" };
const spec = { account: "cloud", family: "hetzner-cloud", type: "cx22", image: "debian-12", location: "fsn1" };
const host = (name: string, changes: object = {}) => ({
  apiVersion: "setpoint/v1",
  kind: "Host",
  metadata: { name },
  spec: { ...spec, ...changes },
});

let api: TestApi;
let engine: OperationEngine;
const world = new World(systemClock, { accounts: ["operators"], pace: 0 });
const undo = new AsyncDisposableStack();
/** Everything that a caller was ever told. */
const told: string[] = [];

before(async () => {
  api = undo.use(await startTestApi());
  const database = new Database({ url: api.url, role: "setpoint_engine", log: silent, max: 4 });
  undo.defer(() => database.end());
  const provider = createHetznerCloudProvider({
    http: worldHttp(world, systemClock),
    // Whoever reads another reference than the operator's own reads nothing.
    credentials: {
      read: async (asked) =>
        asked === reference ? { found: true, value: worldToken("operators") } : { found: false, message: "none" },
    },
    clock: systemClock,
    log: silent,
    resolver: { nameservers: async () => [] },
  });
  const store = api.engine;
  engine = {
    store,
    operations: new PostgresOperationStore({ database, clock: systemClock }),
    accounts: new Accounts({ providers: new Map([[provider.name, provider]]), store, clock: systemClock }),
    clock: systemClock,
    random: { next: () => 0 },
    ids: createSystemIds(),
    log: silent,
    kinds,
  };
  undo.use(startWorker(engine, { holder: "worker", pollMs: 20, balanceEveryMs: 50, renewEveryMs: 100 }));
  for (const name of ["acme", "beta"]) assert.equal((await send("POST", "/v1/organizations", { name })).status, 201);
});
after(() => undo.disposeAsync());

async function send(...[method, path, body, headers]: Parameters<TestApi["send"]>): ReturnType<TestApi["send"]> {
  const answer = await api.send(method, path, body, headers);
  told.push(JSON.stringify(answer.body ?? null));
  return answer;
}

async function setpoint(...words: readonly string[]) {
  const ran = await runCommand(api.app, words);
  told.push(ran.data, ran.notes);
  return ran;
}

function servers(): readonly string[] {
  const headers = { authorization: `Bearer ${worldToken("operators")}` };
  const query = new URLSearchParams();
  const { answer } = world.handle({ method: "GET", path: "/v1/servers", query, headers, body: "" });
  return (answer.body as { servers: readonly { name: string }[] }).servers.map(({ name }) => name).sort();
}

interface Operation {
  readonly id: string;
  readonly pipeline: string;
  readonly state: string;
  readonly message: string;
}

/** Waits for what becomes true; how long that takes is the machine's business. */
async function until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await systemClock.wait(30);
  }
  assert.fail(`waited in vain for ${what}`);
}

async function operation(organization: string, name: string, is: (one: Operation) => boolean): Promise<Operation> {
  return await until(`an operation on ${organization}/${name}`, async () => {
    const { body } = await send("GET", `/v1/organizations/${organization}/operations`);
    const items = body["items"] as readonly (Operation & { resource: { name: string } })[];
    return items.find((one) => one.resource.name === name && is(one));
  });
}

/** What a scheduler does with a subject that is left alone: here it lets go of what left. */
async function cycles(): Promise<void> {
  const leases = await engine.store.takeShards({ holder: "scheduler", wanted: 64, leaseMs: 600_000 });
  const shards = leases.map(({ shard }) => shard);
  for (const due of await engine.store.dueSubjects({ shards, limit: 100 })) {
    const shard = due.shard;
    const epoch = leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
    await runCycle(engine, {
      subjectId: due.id,
      actor: { holder: "scheduler", shard, epoch },
      quietSinceMonotonicMs: undefined,
      trigger: "event",
      leaseRemainingMs: () => 600_000,
      signal: new AbortController().signal,
    });
  }
}

const stateOf = async (name: string) => {
  const { body } = await send("GET", "/v1/pool");
  return (body["items"] as readonly { name: string; state: string; organization?: string }[]).find(
    (one) => one.name === name,
  );
};

test("what cannot be in the pool is refused, and so is an account that is half of it", async () => {
  const account = { name: "one", provider: "hetzner-cloud", credentialRef: reference, settings };
  const refused: readonly [string, object, RegExp][] = [
    ["/v1/pool", { ...account, provider: "powerdns" }, /provider/],
    ["/v1/pool", { ...account, credentialRef: "the token itself" }, /env:NAME or file:PATH/],
    ["/v1/pool", { ...account, settings: { url: "ftp://x" } }, /settings/],
    ["/v1/pool", { ...account, locations: ["Not A Place"] }, /locations/],
    ["/v1/organizations/acme/accounts", { name: "x", provider: "powerdns", fromPool: true }, /cloud that has a pool/],
    [
      "/v1/organizations/acme/accounts",
      { name: "x", provider: "hetzner-cloud", fromPool: true, settings },
      /is the operator's/,
    ],
    [
      "/v1/organizations/acme/accounts",
      { name: "x", provider: "hetzner-cloud", fromPool: true, credentialRef: reference },
      /is the operator's/,
    ],
  ];
  for (const [path, body, why] of refused) {
    const answer = await api.send("POST", path, body);
    assert.equal(answer.status, 422, JSON.stringify(answer.body));
    assert.match(JSON.stringify(answer.body), why);
  }
  assert.deepEqual((await send("GET", "/v1/pool")).body, { items: [] });
});

test("a host with no account of its own waits for the pool, and claims from it when there is one", async () => {
  const declared = await send("PUT", "/v1/organizations/acme/hosts/web-1", host("web-1"));
  assert.equal(declared.status, 202, JSON.stringify(declared.body));
  const waiting = await operation("acme", "web-1", ({ message }) => message.startsWith("pool:"));
  assert.equal(waiting.state, "running");
  assert.match(waiting.message, /no account of hetzner-cloud for fsn1 is free .*setpoint pool add/);
  assert.deepEqual(servers(), []);

  const words = ["--provider", "hetzner-cloud", "--credential", reference, "--set", `url=${settings.url}`];
  // The test is in no hurry, and the budget of calls is no part of it.
  words.push("--calls-per-second", "1000");
  const added = await setpoint("pool", "add", "hetzner-1", ...words, "--location", "fsn1");
  assert.equal(added.code, 0, added.notes);
  await operation("acme", "web-1", ({ state }) => state === "succeeded");
  assert.deepEqual(servers(), ["web-1"], "the server is in the operator's own project");
  const claimed = await stateOf("hetzner-1");
  assert.deepEqual([claimed?.state, claimed?.organization], ["claimed", "acme"]);

  const { body } = await send("GET", "/v1/organizations/acme/accounts");
  const [account] = body["items"] as readonly { name: string; settings: object; pool?: object }[];
  assert.deepEqual(account?.pool, { account: "hetzner-1", locations: ["fsn1"] });
  assert.deepEqual(account?.settings, {}, "what the operator set is the operator's");
  // A second one is at the same account, and one elsewhere is refused in words.
  await send("PUT", "/v1/organizations/acme/hosts/web-2", host("web-2"));
  await operation("acme", "web-2", ({ state }) => state === "succeeded");
  await send("PUT", "/v1/organizations/acme/hosts/web-3", host("web-3", { location: "nbg1" }));
  const elsewhere = await operation("acme", "web-3", ({ state }) => state === "attention");
  assert.match(elsewhere.message, /is for fsn1, not for nbg1/);
  assert.deepEqual(servers(), ["web-1", "web-2"]);
});

test("another organization cannot claim what somebody has, nor look into it", async () => {
  await send("PUT", "/v1/organizations/beta/hosts/web-1", host("web-1"));
  await operation("beta", "web-1", ({ message }) => message.startsWith("pool:"));
  assert.deepEqual(servers(), ["web-1", "web-2"]);
  const { body } = await send("GET", "/v1/organizations/beta/accounts");
  assert.deepEqual(
    (body["items"] as readonly { pool?: object }[]).map(({ pool }) => pool),
    [{ locations: [] }],
  );
  await api.seal();
  const audit = await send("GET", "/v1/organizations/beta/audit?pageSize=200");
  const types = (audit.body["items"] as readonly { type: string }[]).map(({ type }) => type);
  assert.ok(types.includes("account.created"));
  assert.deepEqual(
    types.filter((type) => type.startsWith("pool.") || type === "account.claimed"),
    [],
  );
});

test("what is in use is neither given back, nor put back, nor taken out, nor given another credential", async () => {
  const kept = [
    await setpoint("account", "release", "cloud", "-O", "acme"),
    await setpoint("pool", "release", "hetzner-1"),
    await setpoint("pool", "remove", "hetzner-1"),
  ];
  assert.match(kept[0]?.notes ?? "", /still named by Host\/web-1, Host\/web-2, Host\/web-3/);
  assert.match(kept[1]?.notes ?? "", /3 resources of organization "acme"/);
  assert.doesNotMatch(kept[1]?.notes ?? "", /web-1/, "what they are is the organization's to see");
  assert.match(kept[2]?.notes ?? "", /claimed by organization "acme"/);
  for (const { code } of kept) assert.notEqual(code, 0);
  const path = "/v1/organizations/acme/accounts/cloud/credential";
  const replaced = await send("PUT", path, { write: "another" });
  assert.deepEqual([replaced.status, replaced.body["code"]], [409, "ENTITY_STATUS"]);
  const own = { name: "own", provider: "hetzner-cloud", settings: {} };
  await send("POST", "/v1/organizations/acme/accounts", own);
  const mine = await send("POST", "/v1/organizations/acme/accounts/own:release");
  assert.deepEqual([mine.status, mine.body["code"]], [409, "ENTITY_STATUS"]);
  assert.equal((await stateOf("hetzner-1"))?.state, "claimed");
});

test("what nothing names any more is given back, and another claims it when an operator says that it is empty", async () => {
  for (const name of ["web-1", "web-2", "web-3"]) {
    const gone = await send("DELETE", `/v1/organizations/acme/hosts/${name}`, undefined, whatever);
    assert.ok(gone.status < 300, JSON.stringify(gone.body));
  }
  const released = await until("the release", async () => {
    await cycles();
    const ran = await setpoint("account", "release", "cloud", "-O", "acme");
    return ran.code === 0 ? ran : undefined;
  });
  assert.match(released.data, /account\/cloud has nothing of the pool any more/);
  assert.deepEqual(servers(), []);
  assert.equal((await stateOf("hetzner-1"))?.state, "returned");
  const waits = await operation("beta", "web-1", ({ message }) => message.startsWith("pool:"));
  assert.equal(waits.state, "running");

  const freed = await setpoint("pool", "release", "hetzner-1");
  assert.equal(freed.data, "pool/hetzner-1 is free\n");
  await operation("beta", "web-1", ({ state }) => state === "succeeded");
  assert.deepEqual(servers(), ["web-1"]);
  assert.equal((await stateOf("hetzner-1"))?.organization, "beta");
  await api.seal();
  const { body } = await send("GET", "/v1/organizations/acme/audit?pageSize=200");
  const entries = body["items"] as readonly { type: string; actor: string; data: { operation?: string } }[];
  for (const type of ["account.claimed", "account.given-back"])
    assert.ok(
      entries.some((entry) => entry.type === type),
      type,
    );
  const claimed = entries.find(({ type }) => type === "account.claimed");
  assert.equal(claimed?.actor, "operator", "it was claimed for who declared the host");
  assert.ok(claimed?.data.operation, "through this operation");
});

test("a host that waits for the pool goes at once, and a group of hosts claims for its members", async () => {
  const spare = { ...spec, account: "spare" };
  await send("PUT", "/v1/organizations/beta/hosts/late-1", { ...host("late-1"), spec: spare });
  await operation("beta", "late-1", ({ message }) => message.startsWith("pool:"));
  await send("DELETE", "/v1/organizations/beta/hosts/late-1", undefined, whatever);
  await until("it is gone", async () => {
    await cycles();
    const { status } = await send("GET", "/v1/organizations/beta/hosts/late-1");
    return status === 404 ? true : undefined;
  });
  const { type, image, location } = spec;
  const group = { mode: "static", min: 1, max: 2, desired: 1, template: { type, image, location } };
  const manifest = { apiVersion: "setpoint/v1", kind: "ScalingGroup", metadata: { name: "web" } };
  const declared = await send("PUT", "/v1/organizations/acme/scalinggroups/web", {
    ...manifest,
    spec: { account: "fleet", family: "hetzner-cloud", ...group },
  });
  assert.equal(declared.status, 201, JSON.stringify(declared.body));
  await cycles();
  const { body } = await send("GET", "/v1/organizations/acme/scalinggroups/web");
  assert.match(JSON.stringify(body["status"]), /no account of hetzner-cloud for fsn1 is free/);
  await setpoint("pool", "add", "hetzner-2", "--provider", "hetzner-cloud", "--credential", reference);
  await cycles();
  const claimed = await stateOf("hetzner-2");
  assert.deepEqual([claimed?.state, claimed?.organization], ["claimed", "acme"]);
});

test("an account that is there is used as it is, and must be of that family", async () => {
  const dns = { name: "dns", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await send("POST", "/v1/organizations/acme/accounts", dns)).status, 201);
  const body = { ...host("odd-1"), spec: { ...spec, account: "dns" } };
  const refused = await send("PUT", "/v1/organizations/acme/hosts/odd-1", body);
  assert.equal(refused.status, 422);
  assert.match(JSON.stringify(refused.body), /\/spec\/family.*provider powerdns/);
  const unknown = { ...host("odd-2"), spec: { ...spec, account: "new", networks: [{ name: "absent" }] } };
  assert.equal((await send("PUT", "/v1/organizations/acme/hosts/odd-2", unknown)).status, 422);
  const { body: listed } = await send("GET", "/v1/organizations/acme/accounts");
  const names = (listed["items"] as readonly { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, ["cloud", "dns", "fleet", "own"], "what was refused left no account behind");
});

test("nobody was ever told the operator's credential, nor where it is", () => {
  const all = told.join("\n");
  assert.ok(all.length > 10_000);
  assert.ok(!all.includes(worldToken("operators")));
  assert.ok(!all.includes(reference), "not in any answer, log or audit trail");
});
