import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dryRunSchema } from "../../src/control-api/schemas/dry-run.ts";
import { resourceSchema } from "../../src/control-api/schemas/resource.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { query } from "../support/postgres.ts";
import {
  addLab,
  base,
  code,
  declare,
  type Engine,
  observed,
  owning,
  record,
  takeEngine,
  zone,
} from "../support/zones.ts";

let api: TestApi;
let engine: Engine;
before(async () => {
  api = await startTestApi();
  await addLab(api);
  engine = await takeEngine(api);
});
after(() => api[Symbol.asyncDispose]());

test("what a resource refers to must exist and not be on its way out", async () => {
  const stray = await api.send("POST", `${base}/dnsrecords`, record("stray", "nowhere"));
  assert.equal(stray.status, 422);
  assert.equal(code(stray), "REFERENCE_INVALID");
  assert.deepEqual(stray.body["errors"], [
    { pointer: "/spec/zone", message: "there is no DnsZone/nowhere in its scope: declare it first" },
  ]);
  assert.equal((await api.send("GET", `${base}/dnsrecords/stray`)).status, 404, "nothing was stored");
  await declare(api, zone("leaving"));
  await engine.settle("leaving", { memory: owning(["a.leaving.test. A"], []) });
  assert.equal((await api.send("DELETE", `${base}/dnszones/leaving`, undefined, whatever)).status, 202);
  const late = await api.send("POST", `${base}/dnsrecords`, record("late", "leaving"));
  assert.equal(code(late), "REFERENCE_INVALID");
  assert.match(JSON.stringify(late.body["errors"]), /is being deleted/);
  await api.send("POST", `${base}/projects`, { name: "elsewhere" });
  await declare(api, zone("here"));
  const foreign = await api.send("POST", `${base}/projects/elsewhere/dnsrecords`, record("far", "here"));
  assert.equal(code(foreign), "REFERENCE_INVALID", "a zone of another scope is not this one");
});

test("what others refer to is not deleted, and they are listed", async () => {
  await declare(api, zone("used"));
  await declare(api, record("user-a", "used"));
  await declare(api, record("user-b", "used"));
  const refused = await api.send("DELETE", `${base}/dnszones/used`, undefined, whatever);
  assert.equal(refused.status, 409);
  assert.equal(code(refused), "IN_USE");
  assert.deepEqual(refused.body["users"], [
    { kind: "DnsRecord", name: "user-a", scope: "" },
    { kind: "DnsRecord", name: "user-b", scope: "" },
  ]);
  const read = resourceSchema.parse((await api.send("GET", `${base}/dnszones/used`)).body);
  assert.equal(read.metadata.deletion, undefined, "nothing happened");
  const orphaned = await api.send("DELETE", `${base}/dnszones/used?orphan=true`, undefined, whatever);
  assert.equal(orphaned.status, 202, "who leaves what is outside alone may leave the records too");
});

test("a reference and a deletion at the same moment never both succeed", async () => {
  for (let round = 0; round < 10; round++) {
    const name = `raced-${round}`;
    await declare(api, zone(name));
    await engine.settle(name, { memory: owning([`a.${name}.test. A`], []) });
    const [made, deleted] = await Promise.all([
      api.send("POST", `${base}/dnsrecords`, record(`of-${name}`, name)),
      api.send("DELETE", `${base}/dnszones/${name}`, undefined, whatever),
    ]);
    const outcome = [made.status, deleted.status].join(" ");
    assert.ok(outcome === "201 409" || outcome === "422 202", outcome);
  }
});

test("a quota refuses the one that is too many, with its numbers", async () => {
  await api.send("POST", "/v1/organizations", { name: "small" });
  const path = "/v1/organizations/small";
  await api.send("POST", `${path}/accounts`, {
    name: "lab",
    provider: "powerdns",
    settings: { url: "http://127.0.0.1:8081" },
  });
  assert.equal((await api.send("PUT", `${path}/quotas/DnsZone`, { limit: 3 })).status, 200);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => api.send("POST", `${path}/dnszones`, zone(`zone-${index}`))),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 3, "also when they come at once");
  const refused = answers.find(({ status }) => status === 409);
  assert.ok(refused);
  assert.equal(code(refused), "QUOTA_EXCEEDED");
  assert.deepEqual(refused.body["quota"], { kind: "DnsZone", limit: 3, used: 3 });
  const created = answers.findIndex(({ status }) => status === 201);
  const changed = zone(`zone-${created}`, { metadata: { mode: "observe" } });
  const edit = await api.send("PUT", `${path}/dnszones/zone-${created}`, changed, whatever);
  assert.equal(edit.status, 200, "what is there may still be changed");
  const { items } = (await api.send("GET", `${path}/quotas`)).body as { items: { kind: string }[] };
  assert.deepEqual(
    items.find(({ kind }) => kind === "DnsZone"),
    { kind: "DnsZone", limit: 3, used: 3, own: true },
  );
  await api.send("DELETE", `${path}/dnszones/zone-${created}?orphan=true`, undefined, whatever);
  assert.equal(code(await api.send("PUT", `${path}/quotas/Nothing`, { limit: 3 })), "KIND_UNKNOWN");
  assert.equal((await api.send("PUT", `${path}/quotas/DnsZone`, { limit: null })).status, 200);
  assert.equal((await api.send("POST", `${path}/dnszones`, zone("one-more"))).status, 201);
});

test("the counts behind the quotas are what is there", async () => {
  const rows = await query<{ kind: string; counted: string; there: string }>(
    api.url,
    `select kind, sum(count) as counted,
       (select count(*) from setpoint.resource r where r.kind = c.kind and r.organization_id = c.organization_id) as there
     from setpoint.resource_count c group by organization_id, kind`,
  );
  assert.ok(rows.length > 0);
  for (const row of rows) assert.equal(row.counted, row.there, row.kind);
});

test("a dry run shows the plan over what was last seen, and writes nothing", async () => {
  await declare(api, zone("planned"));
  const { metadata } = await declare(api, record("kept", "planned"));
  const key = "kept.planned.test. A";
  await engine.settle("planned", {
    memory: owning([key], [metadata.uid]),
    observation: observed({ [key]: ["192.0.2.1"] }, Date.now() - 60_000),
  });
  const countAll = () =>
    query(
      api.url,
      "select (select count(*) from setpoint.resource) as r, (select count(*) from setpoint.log_entry) as l",
    );
  const before = await countAll();
  const added = await api.send("POST", `${base}/dnsrecords?dryRun=true`, record("added", "planned"));
  assert.equal(added.status, 200);
  const plan = dryRunSchema.parse(added.body);
  assert.equal(plan.changes[0]?.action, "create");
  const [subject] = plan.subjects;
  assert.equal(subject?.name, "planned");
  assert.ok((subject.observation?.ageSeconds ?? 0) >= 59, "it says how old what it rests on is");
  assert.deepEqual(subject.sizes, { create: 1, update: 0, replace: 0, delete: 0 });
  assert.deepEqual(
    subject.items.map(({ action, key: at, passes }) => ({ action, at, passes })),
    [{ action: "create", at: "added.planned.test. A", passes: true }],
  );
  const changedRecord = record("kept", "planned", { values: ["192.0.2.9"] });
  const changed = await api.send("PUT", `${base}/dnsrecords/kept?dryRun=true`, changedRecord, whatever);
  const update = dryRunSchema.parse(changed.body);
  assert.deepEqual(update.changes[0]?.fields, [
    { pointer: "/spec/values", before: ["192.0.2.1"], after: ["192.0.2.9"] },
  ]);
  assert.equal(update.subjects[0]?.items[0]?.action, "update");
  const deleted = await api.send("DELETE", `${base}/dnsrecords/kept?dryRun=true`, undefined, whatever);
  const removal = dryRunSchema.parse(deleted.body);
  assert.equal(removal.subjects[0]?.items[0]?.action, "delete");
  assert.deepEqual(await countAll(), before);
  const read = resourceSchema.parse((await api.send("GET", `${base}/dnsrecords/kept`)).body);
  assert.deepEqual([read.metadata.revision, read.metadata.deletion], [1, undefined]);
  const refused = await api.send("POST", `${base}/dnsrecords?dryRun=true`, record("stray", "nowhere"));
  assert.equal(code(refused), "REFERENCE_INVALID", "what would be refused is refused");
});

test("a dry run says what guards would hold, and what it cannot know", async () => {
  await declare(api, zone("guarded"));
  const names = Array.from({ length: 9 }, (_, index) => `host-${index}`);
  const uids = [];
  for (const name of names) uids.push((await declare(api, record(name, "guarded"))).metadata.uid);
  const keys = names.map((name) => `${name}.guarded.test. A`);
  const seen = Object.fromEntries(keys.map((key) => [key, ["192.0.2.1"]]));
  await engine.settle("guarded", { memory: owning(keys, uids), observation: observed(seen, Date.now()) });
  const answer = await api.send(
    "DELETE",
    `${base}/dnszones/guarded?dryRun=true&orphan=false&confirm=0`,
    undefined,
    whatever,
  );
  const plan = dryRunSchema.parse(answer.body);
  assert.equal(plan.subjects[0]?.sizes.delete, 9);
  assert.deepEqual(
    plan.subjects[0].held.map(({ guard }) => guard),
    ["delete-budget"],
  );
  assert.ok(plan.notes.some((note) => /hourly budgets/.test(note)));
  const fresh = dryRunSchema.parse((await api.send("POST", `${base}/dnszones?dryRun=true`, zone("unseen"))).body);
  assert.equal(fresh.subjects[0]?.observation, undefined);
  assert.ok(fresh.notes.some((note) => /never looked at/.test(note)));
});

test("declarations are kept, shown with what they changed, and can be gone back to", async () => {
  const path = `${base}/dnszones/back`;
  await declare(api, zone("back"));
  await api.send("PUT", path, zone("back", { spec: { nameservers: ["ns1.test"] } }), whatever);
  await api.send(
    "PUT",
    path,
    zone("back", { spec: { nameservers: ["ns2.test"] }, metadata: { mode: "observe" } }),
    whatever,
  );
  await api.seal();
  const { items } = (await api.send("GET", `${path}/declarations`)).body as { items: Record<string, unknown>[] };
  assert.deepEqual(
    items.map(({ revision, generation, by }) => [revision, generation, by]),
    [
      [3, 3, "operator"],
      [2, 2, "operator"],
      [1, 1, "operator"],
    ],
  );
  assert.deepEqual(items[1]?.["changes"], [{ pointer: "/spec/nameservers", after: ["ns1.test"] }]);
  const dry = await api.send("POST", `${path}:rollback?dryRun=true`, { toGeneration: 1 });
  assert.deepEqual(
    dryRunSchema.parse(dry.body).changes[0]?.fields.map(({ pointer }) => pointer),
    ["/metadata/mode", "/spec/nameservers"],
  );
  const back = await api.send("POST", `${path}:rollback`, { toRevision: 2 });
  assert.equal(back.status, 200);
  const now = resourceSchema.parse(back.body);
  assert.deepEqual(now.spec, {
    account: "lab",
    zone: "back.test",
    nameservers: ["ns1.test"],
    ownership: "records",
    registryOwner: "setpoint",
  });
  assert.deepEqual([now.metadata.generation, now.metadata.revision, now.metadata.mode], [4, 4, "enforce"]);
  assert.equal((await api.send("POST", `${path}:rollback`, { toRevision: 99 })).status, 404);
  assert.equal(code(await api.send("POST", `${path}:rollback`, {})), "FIELDS_INVALID");
  const stale = await api.send("POST", `${path}:rollback`, { toRevision: 1 }, { "if-match": '"3"' });
  assert.equal(code(stale), "REVISION_CONFLICT");
  await api.seal();
  const history = (await api.send("GET", `${path}/history`)).body as { items: { type: string; words: string }[] };
  assert.equal(history.items.filter(({ type }) => type === "declaration").length, 4);
  const events = (await api.send("GET", `${path}/events`)).body as { items: { type: string }[] };
  assert.deepEqual(events.items.map(({ type }) => type).at(-1), "resource.created");
  const status = await api.send("GET", `${path}/status`);
  assert.equal((status.body["status"] as { conditions: unknown[] }).conditions.length > 0, true);
});

const proposalsPath = `${base}/proposals`;

test("a set of changes is proposed with its plan, approved by digest, and applied whole", async () => {
  await declare(api, zone("proposed"));
  await declare(api, record("going", "proposed"));
  const changes = [
    { delete: { kind: "DnsRecord", name: "going" } },
    { manifest: record("in-new", "brand-new") },
    { manifest: zone("brand-new") },
    { manifest: zone("proposed", { metadata: { mode: "observe" } }) },
  ];
  const made = await api.send("POST", proposalsPath, { reason: "tidy up", changes });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, digest } = made.body as { id: string; digest: string };
  assert.equal((made.body["plan"] as { changes: unknown[] }).changes.length, 4);
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:apply`)), "HELD_CHANGE_CLOSED");
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:approve`, { digest: "other" })), "DIGEST_MOVED");
  assert.equal((await api.send("POST", `${proposalsPath}/${id}:approve`, { digest })).status, 200);
  const applied = await api.send("POST", `${proposalsPath}/${id}:apply`);
  assert.equal(applied.body["state"], "applied", JSON.stringify(applied.body));
  assert.equal((await api.send("GET", `${base}/dnsrecords/in-new`)).status, 200);
  const gone = resourceSchema.parse((await api.send("GET", `${base}/dnsrecords/going`)).body);
  assert.ok(gone.metadata.deletion);
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:apply`)), "HELD_CHANGE_CLOSED");
  const all = (await api.send("GET", `${proposalsPath}?state=applied`)).body as { items: { id: string }[] };
  assert.ok(all.items.some((proposal) => proposal.id === id));
});

test("what moved since the approval asks again, and nothing of it is applied", async () => {
  await declare(api, zone("moving"));
  const changes = [{ manifest: zone("fresh-one") }, { manifest: zone("moving", { metadata: { mode: "observe" } }) }];
  const made = await api.send("POST", proposalsPath, { reason: "slow down", changes });
  const { id, digest } = made.body as { id: string; digest: string };
  await api.send("POST", `${proposalsPath}/${id}:approve`, { digest });
  await api.send("PUT", `${base}/dnszones/moving`, zone("moving", { metadata: { mode: "propose" } }), whatever);
  const moved = await api.send("POST", `${proposalsPath}/${id}:apply`);
  assert.equal(code(moved), "DIGEST_MOVED");
  assert.equal((await api.send("GET", `${base}/dnszones/fresh-one`)).status, 404, "all of them or none");
  const again = await api.send("GET", `${proposalsPath}/${id}`);
  assert.equal(again.body["state"], "open");
  assert.notEqual(again.body["digest"], digest);
  assert.equal(again.body["digest"], moved.body["digest"]);
  const rejected = await api.send("POST", `${proposalsPath}/${id}:reject`, {
    digest: again.body["digest"],
    comment: "no",
  });
  assert.equal(rejected.body["state"], "rejected");
  assert.equal(
    code(await api.send("POST", `${proposalsPath}/${id}:approve`, { digest: again.body["digest"] })),
    "HELD_CHANGE_CLOSED",
  );
});

test("a proposal that makes no sense is refused before anybody is asked", async () => {
  const propose = (changes: unknown[]) => api.send("POST", proposalsPath, { reason: "why not", changes });
  assert.equal(code(await propose([])), "FIELDS_INVALID");
  assert.equal(code(await propose([{ manifest: zone("dup") }, { manifest: zone("dup") }])), "FIELDS_INVALID");
  assert.equal(code(await propose([{ manifest: record("lost", "nowhere") }])), "REFERENCE_INVALID");
  assert.equal(code(await propose([{ delete: { kind: "DnsZone", name: "never" } }])), "NOT_FOUND");
  assert.equal(code(await propose([{ manifest: { ...zone("odd"), kind: "Odd" } }])), "KIND_UNKNOWN");
});

test("an answer with a secret is not kept for a repeated request", async () => {
  const headers = { "idempotency-key": "makes-a-secret" };
  const webhook = { url: "https://127.0.0.1:1/hook" };
  const made = await api.send("POST", `${base}/webhooks`, webhook, headers);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const again = await api.send("POST", `${base}/webhooks`, webhook, headers);
  assert.equal(code(again), "IDEMPOTENCY_REUSED");
  const text = "select status, body from setpoint.idempotency_key where key = $1";
  assert.deepEqual(await query(api.url, text, [headers["idempotency-key"]]), [{ status: 201, body: null }]);
});

test("an assistant may propose, and neither approve nor apply what it may not do itself", async () => {
  const rules = [
    { key: "organization.proposal", actions: ["read", "create", "update", "execute"] },
    { key: "project.dns_zone", actions: ["read"] },
  ];
  const made = await api.send("POST", `${base}/tokens`, {
    type: "assistant-token",
    name: "helper",
    expiresInDays: 1,
    access: [{ rules }],
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const as = { authorization: `Bearer ${String(made.body["token"])}` };
  const body = { reason: "it seems right", changes: [{ manifest: zone("suggested") }] };
  const proposed = await api.send("POST", proposalsPath, body, as);
  assert.equal(proposed.status, 201, JSON.stringify(proposed.body));
  assert.equal(proposed.body["authorType"], "assistant");
  const { id, digest } = proposed.body as { id: string; digest: string };
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:approve`, { digest }, as)), "PRINCIPAL_REFUSED");
  const reject = { digest, comment: "no" };
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:reject`, reject, as)), "PRINCIPAL_REFUSED");
  assert.equal((await api.send("POST", `${proposalsPath}/${id}:approve`, { digest })).status, 200);
  assert.equal(code(await api.send("POST", `${proposalsPath}/${id}:apply`, undefined, as)), "FORBIDDEN");
  assert.equal((await api.send("GET", `${base}/dnszones/suggested`)).status, 404);
  const quota = await api.send("PUT", `${base}/quotas/DnsZone`, { limit: 9 }, as);
  assert.equal(code(quota), "FORBIDDEN");
});
