import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ComparisonDocument, comparisonSchema } from "../../src/control-api/schemas/comparison.ts";
import { digestOf } from "../../src/kernel/hash.ts";
import type { StoredWanted } from "../../src/ports/records.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { addLab, base, declare, type Engine, observed, owning, record, takeEngine, zone } from "../support/zones.ts";

let api: TestApi;
let engine: Engine;
before(async () => {
  api = await startTestApi();
  await addLab(api);
  engine = await takeEngine(api);
});
after(() => api[Symbol.asyncDispose]());

type Item = ComparisonDocument["subjects"][number]["items"][number];

async function comparison(name: string) {
  const answer = await api.send("GET", `${base}/dnszones/${name}/comparison`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [subject] = comparisonSchema.parse(answer.body).subjects;
  assert.ok(subject);
  return subject;
}

const itemOf = (items: readonly Item[], key: string): Item => {
  const found = items.find((item) => item.key === key);
  assert.ok(found, `${key} is among ${items.map((item) => item.key).join(", ")}`);
  return found;
};

const setOf = (key: string, values: readonly string[], ttlSeconds = 300) => {
  const [name = "", type = ""] = key.split(" ");
  return { name, type, ttlSeconds, values: [...values] };
};

/** A zone with two records, and what a cycle remembers of them when it had last wanted and written these values. */
async function settled(name: string, change: { readonly seen: Readonly<Record<string, readonly string[]>> }) {
  const keys = { www: `www.${name}.test. A`, api: `api.${name}.test. A` };
  await declare(api, zone(name));
  const www = await declare(api, record(`${name}-www`, name, { name: "www" }));
  const other = await declare(api, record(`${name}-api`, name, { name: "api" }));
  const sources = [www.metadata.uid, other.metadata.uid].map((uid) => [{ uid, generation: 1 }]);
  const lastDesired = Object.values(keys).map(
    (key, index): StoredWanted => ({ key, item: setOf(key, ["192.0.2.1"]), sources: sources[index] ?? [] }),
  );
  const owned = Object.values(keys).flatMap((key, index) =>
    owning([key], [sources[index]?.[0]?.uid ?? ""]).owned.map((item) => ({
      ...item,
      wantedHash: digestOf(setOf(key, ["192.0.2.1"])),
      writtenAtMs: 1_700_000_000_000,
    })),
  );
  await engine.settle(name, {
    memory: { ...owning([], []), owned, lastDesired },
    observation: observed(change.seen, Date.now()),
    nowOwned: 2,
  });
  return keys;
}

test("before anything was looked at there is nothing to compare, and no item is called missing", async () => {
  await declare(api, zone("blank"));
  await declare(api, record("blank-www", "blank", { name: "www" }));
  const { completeness, items } = await comparison("blank");
  assert.equal(completeness, undefined);
  assert.deepEqual(items, []);
});

test("what is declared, was last written and was seen stand side by side, what differs first", async () => {
  const keys = await settled("three", {
    seen: {
      "www.three.test. A": ["192.0.2.66"],
      "api.three.test. A": ["192.0.2.1"],
      "other.three.test. A": ["192.0.2.9"],
    },
  });
  const link = `${base}/dnsrecords/three-www`;
  const changed = record("three-www", "three", { name: "www", values: ["192.0.2.2"] });
  assert.equal((await api.send("PUT", link, changed, whatever)).status, 200);
  const { items, same } = await comparison("three");
  assert.equal(same, 1);
  assert.deepEqual(
    items.map(({ key, state }) => [key, state]),
    [
      [keys.www, "differs"],
      [keys.api, "same"],
      ["other.three.test. A", "stranger"],
    ],
  );
  const www = itemOf(items, keys.www);
  assert.deepEqual(www.fields, [
    { field: "/values", declared: ["192.0.2.2"], last: ["192.0.2.1"], seen: ["192.0.2.66"] },
  ]);
  assert.deepEqual(www.declaredBy, [{ kind: "DnsRecord", name: "three-www" }]);
  assert.deepEqual(
    { ...www.last, item: undefined },
    { item: undefined, written: true, at: "2023-11-14T22:13:20.000Z" },
  );
  assert.deepEqual(www.asSeen, {
    ok: true,
    kind: "DnsRecord",
    name: "three-www",
    link,
    spec: { values: ["192.0.2.66"] },
  });
});

test("what is declared as it was seen no longer differs", async () => {
  const keys = await settled("kept", {
    seen: { "www.kept.test. A": ["192.0.2.66"], "api.kept.test. A": ["192.0.2.1"] },
  });
  const { asSeen } = itemOf((await comparison("kept")).items, keys.www);
  assert.ok(asSeen?.ok);
  const { body } = await api.send("GET", asSeen.link);
  const { spec, metadata } = body as { spec: object; metadata: { name: string } };
  const manifest = {
    apiVersion: "setpoint/v1",
    kind: asSeen.kind,
    metadata: { name: metadata.name },
    spec: { ...spec, ...asSeen.spec },
  };
  assert.equal((await api.send("PUT", asSeen.link, manifest, whatever)).status, 200);
  assert.equal(itemOf((await comparison("kept")).items, keys.www).state, "same");
});

test("an ignored field is shown with the rule that ignores it", async () => {
  const keys = await settled("left", {
    seen: { "www.left.test. A": ["192.0.2.66"], "api.left.test. A": ["192.0.2.1"] },
  });
  const rule = { kind: "DnsZone", name: "left", field: "/values", reason: "a canary" };
  const etag = { "if-match": String((await api.send("GET", `${base}/policy`)).headers["etag"]) };
  const put = await api.send("PUT", `${base}/policy`, { ignore: [rule] }, etag);
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const www = itemOf((await comparison("left")).items, keys.www);
  assert.equal(www.state, "ignored");
  assert.equal(www.fields[0]?.ignored?.reason, "a canary");
  assert.match(www.fields[0]?.ignored?.from ?? "", /^organization/);
});

test("what is gone outside is missing, and what is ours and no longer declared is extra", async () => {
  const keys = await settled("gone", { seen: { "api.gone.test. A": ["192.0.2.1"] } });
  assert.equal((await api.send("DELETE", `${base}/dnsrecords/gone-api`, undefined, whatever)).status, 202);
  const { items } = await comparison("gone");
  assert.equal(itemOf(items, keys.www).state, "missing");
  assert.equal(itemOf(items, keys.api).state, "extra");
});
