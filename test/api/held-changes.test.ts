import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { heldGroupsDigest } from "../../src/kernel/held-change.ts";
import { emptyMemory } from "../../src/kernel/memory.ts";
import type { Actor } from "../../src/ports/engine-store.ts";
import type { HeldGroup, SubjectRef, Verdict } from "../../src/ports/records.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";

let api: TestApi;
let subject: SubjectRef;
let actor: Actor;
const base = "/v1/organizations/default";

before(async () => {
  api = await startTestApi();
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await api.send("POST", `${base}/accounts`, account);
  const zone = {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name: "example", mode: "enforce" },
    spec: { account: "lab", zone: "example.test" },
  };
  assert.equal((await api.send("PUT", `${base}/dnszones/example`, zone)).status, 201);
  const leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  const [due] = await api.engine.dueSubjects({ shards: leases.map(({ shard }) => shard), limit: 1 });
  assert.ok(due);
  const lease = leases.find(({ shard }) => shard === due.shard);
  actor = { holder: "test", shard: due.shard, epoch: lease?.epoch ?? 0 };
  const input = await api.engine.load(due.id);
  assert.ok(input);
  subject = input.subject;
});
after(() => api[Symbol.asyncDispose]());

/** What a cycle would leave waiting. */
async function hold(keys: readonly string[]): Promise<void> {
  const reason = `${keys.length} deletes, this subject's budget is 1 per cycle`;
  const verdict: Verdict = {
    guard: "delete-budget",
    answer: "hold",
    reason,
    numbers: { asked: keys.length, allowed: 1 },
    keys,
  };
  const items = keys.map((key) => ({
    key,
    action: "delete" as const,
    externalId: key,
    digest: `digest-of-${key}`,
    differences: [{ field: "/values", wanted: undefined, seen: ["192.0.2.1"] }],
    reason,
  }));
  const groups: readonly HeldGroup[] =
    keys.length === 0 ? [] : [{ level: "subject", guard: "delete-budget", verdict, items }];
  const input = await api.engine.load(subject.id);
  const settled = await api.engine.settle({
    actor,
    subject,
    inputVersion: input?.inputVersion ?? 0,
    memory: emptyMemory,
    held: { digest: heldGroupsDigest(groups), groups },
    verdicts: [verdict],
    gone: false,
    forgetSources: [],
    nowOwned: 10,
  });
  assert.ok(settled.kept);
}

async function open(): Promise<Record<string, unknown>> {
  const [held] = (await api.send("GET", `${base}/held-changes`)).body["items"] as Record<string, unknown>[];
  assert.ok(held);
  return held;
}

function code(answer: Answer): unknown {
  return answer.body["code"];
}

test("what waits is listed with everything it would do, and why names the command that answers it", async () => {
  await hold(["a", "b", "c"]);
  const held = await open();
  assert.equal(held["guard"], "delete-budget");
  assert.deepEqual((held["verdict"] as Verdict).numbers, { asked: 3, allowed: 1 });
  assert.deepEqual(
    (held["items"] as { key: string; action: string; kind: string; name: string }[]).map(
      ({ key, action, kind, name }) => [key, action, kind, name],
    ),
    [
      ["a", "delete", "DnsZone", "example"],
      ["b", "delete", "DnsZone", "example"],
      ["c", "delete", "DnsZone", "example"],
    ],
  );
  const one = await api.send("GET", `${base}/held-changes/${String(held["id"])}`);
  assert.deepEqual(one.body, held);
  const why = await api.send("GET", `${base}/dnszones/example/why`);
  const reason = (why.body["chain"] as { topic: string; command?: string }[]).find(
    ({ topic }) => topic === "held-change",
  );
  assert.equal(reason?.command, `setpoint approve ${String(held["id"])} --digest ${String(held["digest"])}`);
  assert.match(String(why.body["summary"]), /held change .* waits for a person/);
});

test("a digest of anything else approves nothing, and the answer names the current one", async () => {
  await hold(["a", "b"]);
  const held = await open();
  const path = `${base}/held-changes/${String(held["id"])}`;
  await hold(["a", "b", "c"]);
  const stale = await api.send("POST", `${path}:approve`, { digest: held["digest"] });
  assert.equal(stale.status, 409);
  assert.equal(code(stale), "DIGEST_MOVED");
  assert.equal(stale.body["digest"], (await open())["digest"]);
  assert.equal((await open())["state"], "open");
});

test("the digest that was seen approves, once", async () => {
  await hold(["a", "b"]);
  const held = await open();
  const path = `${base}/held-changes/${String(held["id"])}`;
  const approved = await api.send("POST", `${path}:approve`, { digest: held["digest"] });
  assert.deepEqual(approved.body, { id: held["id"], state: "approved", grants: 2 });
  assert.equal(code(await api.send("POST", `${path}:approve`, { digest: held["digest"] })), "HELD_CHANGE_CLOSED");
  const input = await api.engine.load(subject.id);
  assert.deepEqual(input?.grants.map(({ itemDigest }) => itemDigest).sort(), ["digest-of-a", "digest-of-b"]);
  const after = await api.send("GET", path);
  assert.equal(after.body["decidedBy"], "operator");
});

test("what is rejected stays undone and is still explained", async () => {
  await hold(["x", "y"]);
  const held = await open();
  const path = `${base}/held-changes/${String(held["id"])}`;
  assert.equal((await api.send("POST", `${path}:reject`)).status, 422, "whoever asked must learn why");
  const comment = "these are still used";
  assert.deepEqual((await api.send("POST", `${path}:reject`, { comment })).body, { id: held["id"], state: "rejected" });
  assert.equal(code(await api.send("POST", `${path}:reject`, { comment })), "HELD_CHANGE_CLOSED");
  assert.equal((await api.send("GET", path)).body["comment"], comment);
  assert.deepEqual((await api.send("GET", `${base}/held-changes`)).body["items"], []);
  const why = await api.send("GET", `${base}/dnszones/example/why`);
  assert.match(JSON.stringify(why.body["chain"]), /was rejected by operator/);
});

test("four eyes: whoever declared or deleted it cannot approve it", async () => {
  await api.send("PUT", `${base}/policy`, { fourEyes: true });
  await hold(["p", "q"]);
  const held = await open();
  const answer = await api.send("POST", `${base}/held-changes/${String(held["id"])}:approve`, {
    digest: held["digest"],
  });
  assert.equal(answer.status, 403);
  assert.equal(code(answer), "FOUR_EYES");
});

test("another organization sees and decides nothing of it", async () => {
  await api.send("POST", "/v1/organizations", { name: "other" });
  await hold(["s", "t"]);
  const held = await open();
  const foreign = "/v1/organizations/other/held-changes";
  assert.deepEqual((await api.send("GET", foreign)).body["items"], []);
  assert.equal((await api.send("GET", `${foreign}/${String(held["id"])}`)).status, 404);
  assert.equal(
    (await api.send("POST", `${foreign}/${String(held["id"])}:approve`, { digest: held["digest"] })).status,
    404,
  );
  const comment = "not ours";
  assert.equal((await api.send("POST", `${foreign}/${String(held["id"])}:reject`, { comment })).status, 404);
});
