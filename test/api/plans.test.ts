import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scopePathOf } from "../../src/control-api/access/scope-path.ts";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { planListSchema } from "../../src/control-api/schemas/governance.ts";
import { emptyMemory } from "../../src/kernel/memory.ts";
import type { StoredPlan } from "../../src/ports/records.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { namedCallers } from "../support/named-callers.ts";
import { query } from "../support/postgres.ts";
import { base, code, status, zone } from "../support/zones.ts";

let api: TestApi;
let leases: Awaited<ReturnType<TestApi["engine"]["takeShards"]>>;
/** In the order in which something began to be left to do; two of them at the same moment. */
const waiting = ["web/one", "shop/two", "web/three", "shop/four", "shop/five", "web/six"];

const left: StoredPlan = {
  hash: "left",
  observedAtMs: Date.now(),
  completeness: "complete",
  summary: { actions: { create: 2, delete: 1 }, held: 1, guards: ["delete-budget"], causes: [] },
  items: [],
  truncated: false,
  verdicts: [],
};

before(async () => {
  const reader = [{ key: "project.dns_zone", actions: ["read"] as const }];
  const scope = scopePathOf({ organization: "default", project: "web" }).at(-1) ?? "";
  const places = { reader: { organizationId: organizationIdOf("default"), scope } };
  api = await startTestApi({ authenticator: namedCallers({ reader, stranger: [] }, places) });
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await as("ada", "POST", "/accounts", account)).status, 201);
  for (const name of ["web", "shop"]) assert.equal((await as("ada", "POST", "/projects", { name })).status, 201);
  leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  for (const [index, at] of ["web/done", ...waiting].entries()) {
    const [project = "", name = ""] = at.split("/");
    assert.equal((await as("ada", "POST", `/projects/${project}/dnszones`, zone(name))).status, 201);
    await settle(name, left);
    const sinceMs = 1_000_000 + Math.min(index, 5);
    await query(
      api.url,
      `update setpoint.subject_plan set since_ms = ${sinceMs}
       where subject_id = (select id from setpoint.subject where name = '${name}')`,
    );
  }
  await settle("done", "none");
});
after(() => api[Symbol.asyncDispose]());

function as(name: string, method: "GET" | "POST", path: string, body?: unknown) {
  return api.send(method, `${base}${path}`, body, { authorization: `Bearer ${name}` });
}

/** What a cycle leaves. */
async function settle(name: string, plan: StoredPlan | "none" | undefined): Promise<void> {
  const due = await api.engine.dueSubjects({ shards: leases.map(({ shard }) => shard), limit: 100 });
  const inputs = await Promise.all(due.map(({ id }) => api.engine.load(id)));
  const input = inputs.find((one) => one?.resource.name === name);
  assert.ok(input, `${name} is not due`);
  const { shard } = input.subject;
  const settled = await api.engine.settle({
    actor: { holder: "test", shard, epoch: leases.find((lease) => lease.shard === shard)?.epoch ?? 0 },
    subject: input.subject,
    inputVersion: input.inputVersion,
    memory: emptyMemory,
    plan,
    status: { ...status({}), planHash: plan === "none" ? undefined : plan?.hash },
    verdicts: [],
    gone: false,
    forgetSources: [],
    nowOwned: 0,
    nextInMs: 0,
  });
  assert.ok(settled.kept);
}

async function page(who: string, search: string) {
  const answer = await as(who, "GET", `/plans${search}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return planListSchema.parse(answer.body);
}

/** Everything, page by page. */
async function all(who: string, pageSize: number): Promise<readonly string[]> {
  const found: string[] = [];
  let token: string | undefined;
  do {
    const next = await page(who, `?pageSize=${pageSize}${token === undefined ? "" : `&pageToken=${token}`}`);
    assert.ok(next.items.length <= pageSize);
    found.push(...next.items.map(({ scope, name }) => `${scope}/${name}`));
    token = next.nextPageToken;
  } while (token !== undefined);
  return found;
}

test("every plan that is not carried out is listed once, the oldest first, whatever the size of the pages", async () => {
  for (const pageSize of [1, 2, 3, 4, 6, 7, 100]) assert.deepEqual(await all("ada", pageSize), waiting, `${pageSize}`);
  const [first] = (await page("ada", "")).items;
  assert.deepEqual(first, {
    kind: "DnsZone",
    name: "one",
    scope: "web",
    link: `${base}/projects/web/dnszones/one`,
    account: "lab",
    since: "1970-01-01T00:16:40.001Z",
    madeAt: first?.madeAt,
    lookedAt: first?.lookedAt,
    counts: { create: 2, delete: 1 },
    guards: ["delete-budget"],
    heldItems: 1,
    heldChanges: [],
  });
  assert.equal((await as("ada", "GET", `${first.link.slice(base.length)}/plan`)).status, 200);
});

test("only what the caller may read is listed, and all of it", async () => {
  for (const pageSize of [1, 2, 3, 100])
    assert.deepEqual(await all("reader", pageSize), ["web/one", "web/three", "web/six"], `${pageSize}`);
  assert.equal((await as("stranger", "GET", "/plans")).status, 404);
});

test("a list is of one kind where one is named, and a token belongs to its list", async () => {
  assert.equal((await page("ada", "?kind=DnsZone")).items.length, waiting.length);
  assert.deepEqual((await page("ada", "?kind=DnsRecord")).items, []);
  assert.equal(code(await as("ada", "GET", "/plans?kind=Nothing")), "KIND_UNKNOWN");
  const { nextPageToken } = await page("ada", "?pageSize=2");
  assert.equal(code(await as("ada", "GET", `/plans?kind=DnsZone&pageToken=${nextPageToken}`)), "FIELDS_INVALID");
  assert.equal(code(await as("ada", "GET", "/plans?pageToken=nonsense")), "FIELDS_INVALID");
});

test("who finds nothing left without having known of a plan leaves none behind", async () => {
  await settle("done", left);
  assert.ok((await all("ada", 100)).some((name) => name.endsWith("/done")));
  // An operation brought it about; it began to look before the loop had stored what it saw.
  await settle("done", undefined);
  assert.deepEqual(await all("ada", 100), waiting);
});
