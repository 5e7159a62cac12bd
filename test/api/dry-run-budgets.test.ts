import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dryRunSchema } from "../../src/control-api/schemas/dry-run.ts";
import { emptyMemory } from "../../src/kernel/memory.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { query } from "../support/postgres.ts";
import { addLab, base, declare, type Engine, observed, owning, record, takeEngine, zone } from "../support/zones.ts";

let api: TestApi;
let engine: Engine;
const zones = ["first", "second"];
const perZone = 40;

before(async () => {
  api = await startTestApi();
  await addLab(api);
  engine = await takeEngine(api);
  for (const name of zones) {
    await declare(api, zone(name));
    const hosts = Array.from({ length: perZone }, (_, index) => `${name}-${index}`);
    const made = await Promise.all(hosts.map((host) => declare(api, record(host, name, { name: host }))));
    const keys = hosts.map((host) => `${host}.${name}.test. A`);
    // Each declared by its own record: without it, the deletion is declared too.
    const owned = keys.flatMap((key, index) => owning([key], [made[index]?.metadata.uid ?? ""]).owned);
    await engine.settle(name, {
      memory: { ...emptyMemory, owned },
      observation: observed(Object.fromEntries(keys.map((key) => [key, ["192.0.2.1"]])), Date.now()),
      nowOwned: perZone,
    });
  }
});
after(() => api[Symbol.asyncDispose]());

/** 80 things of ours: 20 % of them are 16, which the account and the organization allow, and the platform 10. */
const allowed = { account: 16, organization: 16, platform: 10 };

async function charges(): Promise<unknown> {
  return await query(
    api.url,
    "select level, sum(count) as count from setpoint.delete_charge group by level order by level",
  );
}

async function deletion(host: string) {
  const answer = await api.send("DELETE", `${base}/dnsrecords/${host}?dryRun=true`, undefined, whatever);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [subject] = dryRunSchema.parse(answer.body).subjects;
  assert.ok(subject);
  return subject;
}

/** The plan of deleting the first so many records of each zone. */
async function proposed(count: number) {
  const changes = zones.flatMap((name) =>
    Array.from({ length: count }, (_, index) => ({ delete: { kind: "DnsRecord", name: `${name}-${index}` } })),
  );
  const answer = await api.send("POST", `${base}/proposals`, { reason: "tidy up", changes });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return dryRunSchema.parse(answer.body["plan"]).subjects;
}

test("what all of a set would delete together is judged, one subject after the other", async () => {
  const within = await proposed(5);
  assert.deepEqual(
    within.map(({ sizes, held }) => [sizes.delete, held]),
    [
      [5, []],
      [5, []],
    ],
    "ten are what the platform allows",
  );
  assert.deepEqual(await charges(), [], "and nothing was charged for it");
  assert.equal((await engine.reserve("first", { granted: 0, ungranted: 1 })).ungrantedPass, true);
  const beyond = await proposed(5);
  const held = beyond.flatMap((subject) => subject.held);
  assert.deepEqual(
    held.map(({ guard, level, keys }) => [guard, level, keys.length]),
    [["delete-budget", "platform", 5]],
  );
  assert.equal(beyond.filter(({ items }) => items.every(({ passes }) => passes)).length, 1);
});

test("a delete that no hourly budget has room for would be held, as it would be when it runs", async () => {
  assert.deepEqual((await deletion("first-0")).held, []);
  await engine.reserve("first", { granted: allowed.platform, ungranted: 0 });
  const before = await charges();
  const subject = await deletion("first-0");
  assert.deepEqual(
    subject.items.map(({ action, passes }) => [action, passes]),
    [["delete", false]],
  );
  const [held] = subject.held;
  assert.deepEqual([held?.guard, held?.level, held?.keys], ["delete-budget", "platform", ["first-0.first.test. A"]]);
  const verdict = subject.verdicts.find(({ guard }) => guard === "delete-budget");
  assert.deepEqual(verdict?.numbers, { asked: 1, used: 11, allowed: allowed.platform, owned: 2 * perZone });
  assert.deepEqual(await charges(), before, "looking takes nothing out of them");
  assert.equal((await engine.reserve("first", { granted: 0, ungranted: 1 })).ungrantedPass, false);
});

test("the strictest level that refuses is named", async () => {
  await engine.reserve("first", { granted: allowed.account, ungranted: 0 });
  assert.equal((await deletion("first-0")).held[0]?.level, "account");
});

test("another account's deletes do not use up this account's budget", async () => {
  const account = { name: "other", provider: "powerdns", settings: { url: "http://127.0.0.1:8082" } };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
  await query(api.url, "delete from setpoint.delete_charge where level <> 'account'");
  await declare(api, zone("third", { spec: { account: "other" } }));
  const { uid } = (await declare(api, record("third-0", "third", { name: "third-0" }))).metadata;
  const key = "third-0.third.test. A";
  const seen = observed({ [key]: ["192.0.2.1"] }, Date.now());
  await engine.settle("third", { memory: owning([key], [uid]), observation: seen, nowOwned: 1 });
  assert.deepEqual((await deletion("third-0")).held, []);
  assert.equal((await deletion("first-0")).held[0]?.level, "account");
});
