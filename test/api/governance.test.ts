import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { heldGroupsDigest } from "../../src/kernel/held-change.ts";
import { emptyMemory } from "../../src/kernel/memory.ts";
import type { Actor } from "../../src/ports/engine-store.ts";
import type {
  HeldGroup,
  StoredPlan,
  SubjectEvent,
  SubjectRef,
  SubjectStatus,
  Verdict,
} from "../../src/ports/records.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";
import { namedCallers } from "../support/named-callers.ts";
import { query } from "../support/postgres.ts";

let api: TestApi;
let subject: SubjectRef;
let actor: Actor;
const base = "/v1/organizations/default";

before(async () => {
  const reader = [{ key: "organization.held_change", actions: ["read"] as const }];
  api = await startTestApi({ authenticator: namedCallers({ reader }) });
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await as("ada", "POST", `${base}/accounts`, account);
  const zone = {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name: "example", mode: "enforce" },
    spec: { account: "lab", zone: "example.test" },
  };
  assert.equal((await as("ada", "PUT", `${base}/dnszones/example`, zone)).status, 201);
  assert.equal((await as("ada", "POST", `${base}/projects`, { name: "web" })).status, 201);
  const leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  const [due] = await api.engine.dueSubjects({ shards: leases.map(({ shard }) => shard), limit: 1 });
  assert.ok(due);
  actor = { holder: "test", shard: due.shard, epoch: leases.find(({ shard }) => shard === due.shard)?.epoch ?? 0 };
  const input = await api.engine.load(due.id);
  assert.ok(input);
  subject = input.subject;
});
after(() => api[Symbol.asyncDispose]());

function as(name: string, method: "GET" | "PUT" | "POST" | "DELETE", url: string, body?: unknown, headers = {}) {
  return api.send(method, url, body, { authorization: `Bearer ${name}`, ...headers });
}

function code(answer: Answer): unknown {
  return answer.body["code"];
}

const reason = "3 deletes, this subject's budget is 1 per cycle";
const budget: Verdict = { guard: "delete-budget", answer: "hold", reason, numbers: { asked: 3 }, keys: [] };

/** What a cycle leaves when something is left to do, or nothing any more. */
async function settle(change: {
  readonly keys?: readonly string[];
  readonly plan?: StoredPlan | "none";
  readonly events?: readonly SubjectEvent[];
}): Promise<void> {
  const { keys, plan, events } = change;
  const items = (keys ?? []).map((key) => ({
    key,
    action: "delete" as const,
    externalId: key,
    digest: `digest-of-${key}`,
    differences: [],
    reason,
  }));
  const groups: readonly HeldGroup[] =
    items.length === 0 ? [] : [{ level: "subject", guard: "delete-budget", verdict: budget, items }];
  const input = await api.engine.load(subject.id);
  const status: SubjectStatus = {
    observedGeneration: 1,
    conditions: [],
    differences: 0,
    owned: 0,
    failing: false,
    lookedAtMs: Date.now(),
    planHash: plan === "none" ? undefined : plan?.hash,
  };
  const settled = await api.engine.settle({
    actor,
    subject,
    inputVersion: input?.inputVersion ?? 0,
    dueSeen: { atMs: input?.dueAtMs },
    memory: emptyMemory,
    ...(plan === undefined ? {} : { plan, status }),
    ...(events === undefined ? {} : { events }),
    ...(keys === undefined ? {} : { held: { digest: heldGroupsDigest(groups), groups } }),
    verdicts: [],
    gone: false,
    forgetSources: [],
    nowOwned: 10,
  });
  assert.ok(settled.kept);
}

const leftPlan: StoredPlan = {
  hash: "left",
  observedAtMs: Date.now() - 5_000,
  completeness: "complete",
  summary: {
    actions: { update: 2, delete: 1 },
    held: 1,
    guards: ["pause", "delete-budget"],
    causes: [
      { action: "update", field: "/ttl", count: 2 },
      { action: "delete", field: "", count: 1 },
    ],
  },
  items: [
    {
      key: "a",
      action: "update",
      externalId: "1",
      differences: [{ field: "/ttl", wanted: 60, seen: 5 }],
      origin: undefined,
      held: false,
    },
    { key: "b", action: "delete", externalId: "2", differences: [], origin: "inferred", held: true },
  ],
  truncated: false,
  verdicts: [budget],
};

test("the plan that is left is shown with its sets, verdicts and age, and is gone when it was carried out", async () => {
  await settle({ plan: leftPlan, keys: ["b"] });
  const [open] = (await as("ada", "GET", `${base}/dnszones/example/plan`)).body["subjects"] as Record<
    string,
    unknown
  >[];
  assert.ok(open);
  assert.equal(open["state"], "open");
  assert.equal(open["account"], "lab");
  assert.deepEqual(open["counts"], { update: 2, delete: 1 });
  assert.deepEqual(
    (open["delete"] as { key: string; held: boolean }[]).map(({ key, held }) => [key, held]),
    [["b", true]],
  );
  assert.equal((open["verdicts"] as Verdict[])[0]?.guard, "delete-budget");
  assert.ok((open["observationAgeSeconds"] as number) >= 5);
  assert.equal((open["heldChanges"] as string[]).length, 1);

  const drift = (await as("ada", "GET", `${base}/drift`)).body;
  const causes = drift["causes"] as { kind: string; field: string; items: number; resources: { link: string }[] }[];
  assert.deepEqual(
    causes.map(({ kind, field, items }) => [kind, field, items]),
    [
      ["DnsZone", "/ttl", 2],
      ["DnsZone", "", 1],
    ],
  );
  assert.equal(causes[0]?.resources[0]?.link, `${base}/dnszones/example`);
  assert.deepEqual((await as("reader", "GET", `${base}/drift`)).status, 404, "whoever sees nothing learns nothing");

  await settle({ plan: "none", keys: [] });
  const [done] = (await as("ada", "GET", `${base}/dnszones/example/plan`)).body["subjects"] as Record<
    string,
    unknown
  >[];
  assert.equal(done?.["state"], "done");
  assert.deepEqual((await as("ada", "GET", `${base}/drift`)).body["causes"], []);
});

test("ending a pause is previewed: what would run, and what something else still holds", async () => {
  const pause = (await as("ada", "POST", `${base}/pauses`, { on: "accounts/lab", reason: "key rotation" })).body;
  const path = `${base}/pauses/${String(pause["id"])}`;
  const runs: StoredPlan = { ...leftPlan, hash: "runs", summary: { ...leftPlan.summary, guards: ["pause"] } };
  await settle({ plan: runs });
  const preview = (await as("ada", "GET", `${path}/preview`)).body["pending"] as Record<string, unknown>;
  assert.deepEqual(preview["totals"], {
    resources: 1,
    wouldRun: 1,
    actions: { update: 2, delete: 1 },
    wouldDo: { update: 2, delete: 1 },
  });
  await settle({ plan: leftPlan });
  const held = (await as("ada", "GET", `${path}/preview`)).body["pending"] as Record<string, unknown>;
  assert.deepEqual((held["items"] as { blockedBy: string[] }[])[0]?.blockedBy, ["delete-budget"]);
  assert.deepEqual(
    held["totals"],
    { resources: 1, wouldRun: 0, actions: { update: 2, delete: 1 }, wouldDo: {} },
    "what something else holds is left to do, and would not be done",
  );
  const elsewhere = (await as("ada", "POST", `${base}/pauses`, { on: "projects/web", reason: "moving" })).body;
  const nothing = await as("ada", "GET", `${base}/pauses/${String(elsewhere["id"])}/preview`);
  assert.deepEqual((nothing.body["pending"] as { items: unknown[] }).items, [], "nothing is left to do there");
  await as("ada", "POST", "/v1/freeze", { reason: "provider incident" });
  const freeze = (await as("ada", "GET", "/v1/freeze/preview")).body;
  assert.deepEqual(
    (freeze["organizations"] as { name: string; leftToDo: number }[]).map(({ name, leftToDo }) => [name, leftToDo]),
    [["default", 1]],
  );
  await as("ada", "DELETE", "/v1/freeze");
  await as("ada", "DELETE", `${base}/pauses/${String(elsewhere["id"])}`);
  await as("ada", "DELETE", path);
  await settle({ plan: "none" });
});

test("a pause can be made longer by anybody who may pause, and never shorter", async () => {
  const pause = (await as("ada", "POST", `${base}/pauses`, { reason: "maintenance", forSeconds: 600 })).body;
  const path = `${base}/pauses/${String(pause["id"])}:extend`;
  const longer = (await as("deploy-bot", "POST", path, { forSeconds: 3_600 })).body;
  assert.ok((longer["remainingSeconds"] as number) > 3_500);
  const shorter = (await as("deploy-bot", "POST", path, { forSeconds: 1 })).body;
  assert.equal(shorter["expiresAt"], longer["expiresAt"]);
  assert.equal((await as("ada", "POST", `${base}/pauses/none:extend`, { forSeconds: 5 })).status, 404);
  assert.equal(code(await as("deploy-bot", "DELETE", `${base}/pauses/${String(pause["id"])}`)), "PRINCIPAL_REFUSED");

  // A machine can ask, and a person ends it.
  const asked = { type: "pause-end", pause: pause["id"], reason: "deployment is through" };
  const held = await as("deploy-bot", "POST", `${base}/held-changes`, asked);
  assert.equal(held.status, 202);
  assert.equal((held.body["approval"] as { you: { may: boolean } }).you.may, false);
  const again = await as("deploy-bot", "POST", `${base}/held-changes`, asked);
  assert.equal(again.body["id"], held.body["id"], "asked twice is one request");
  const approve = `${base}/held-changes/${String(held.body["id"])}:approve`;
  assert.equal(code(await as("deploy-bot", "POST", approve, { digest: held.body["digest"] })), "PRINCIPAL_REFUSED");
  assert.equal((await as("grace", "POST", approve, { digest: held.body["digest"] })).status, 200);
  assert.deepEqual((await as("ada", "GET", `${base}/pauses`)).body["items"], []);
});

test("stricter holds at once, looser waits for a person, beyond the ceiling is refused", async () => {
  const path = `${base}/policy`;
  const strict = { mode: "propose", limits: { changesPerCycle: 10 } };
  const set = await as("ada", "PUT", path, strict);
  assert.equal(set.status, 200);
  assert.equal(set.headers["etag"], '"1"');
  assert.equal(code(await as("ada", "PUT", path, strict)), "PRECONDITION_REQUIRED");
  const stale = await as("ada", "PUT", path, strict, { "if-match": '"7"' });
  assert.equal(code(stale), "REVISION_CONFLICT");
  assert.equal(stale.body["revision"], 1);

  const looser = { mode: "enforce", limits: { changesPerCycle: 20 } };
  const match = { "if-match": '"1"' };
  const held = await as("ada", "PUT", path, looser, match);
  assert.equal(held.status, 202);
  assert.equal(held.body["level"], "scope");
  assert.match(
    (held.body["verdict"] as Verdict).reason,
    /mode from "propose" to "enforce".*changesPerCycle from 10 to 20/,
  );
  assert.deepEqual((await as("ada", "GET", path)).body, strict, "nothing changed yet");
  const listed = (await as("ada", "GET", `${base}/held-changes?level=scope`)).body["items"] as { id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    [held.body["id"]],
  );

  const wrong = await as("ada", "PUT", `${path}?approve=true&digest=00000000`, looser, match);
  assert.equal(code(wrong), "DIGEST_MOVED");
  assert.equal(wrong.body["digest"], held.body["digest"]);
  const digest = String(held.body["digest"]);
  const approved = await as(
    "ada",
    "PUT",
    `${path}?approve=true&digest=${digest}&reason=tested+in+staging`,
    looser,
    match,
  );
  assert.equal(approved.status, 200);
  assert.equal(approved.headers["etag"], '"2"');
  const history = (await as("ada", "GET", `${path}/history`)).body["items"] as Record<string, unknown>[];
  assert.deepEqual(
    history.map(({ version, author, reason: why, policy }) => [version, author, why, policy]),
    [
      [2, "ada", "tested in staging", looser],
      [1, "ada", undefined, strict],
    ],
  );

  assert.equal((await as("ada", "PUT", "/v1/policy", { ceiling: { changesPerCycle: 30 } })).status, 200);
  const beyond = await as("ada", "PUT", `${base}/projects/web/policy`, { limits: { changesPerCycle: 31 } });
  assert.equal(code(beyond), "GUARD_REFUSED");
  assert.match(String(beyond.body["detail"]), /beyond the ceiling of 30 that platform sets/);
  const raised = await as("ada", "PUT", "/v1/policy", { ceiling: { changesPerCycle: 40 } }, { "if-match": '"1"' });
  assert.equal(raised.status, 202, "a ceiling is a rule too");
  const where = `/v1/held-changes/${String(raised.body["id"])}`;
  assert.equal((await as("grace", "POST", `${where}:reject`, { comment: "not before the audit" })).status, 200);
  assert.deepEqual((await as("ada", "GET", "/v1/policy")).body, { ceiling: { changesPerCycle: 30 } });
});

test("what was proposed for an older policy cannot be approved any more", async () => {
  const path = `${base}/projects/web/policy`;
  assert.equal((await as("ada", "PUT", path, { mode: "observe" })).status, 200);
  const held = await as("ada", "PUT", path, { mode: "propose" }, { "if-match": '"1"' });
  assert.equal(held.status, 202);
  const stricter = { mode: "observe", limits: { changesPerCycle: 1 } };
  assert.equal((await as("grace", "PUT", path, stricter, { "if-match": '"1"' })).status, 200);
  const late = await as("grace", "POST", `${base}/held-changes/${String(held.body["id"])}:approve`, {
    digest: held.body["digest"],
  });
  assert.equal(code(late), "HELD_CHANGE_CLOSED");
  assert.deepEqual((await as("ada", "GET", path)).body, stricter);
});

test("four eyes: it takes another person, for rules as for plans, and it says whom", async () => {
  const path = `${base}/policy`;
  const { headers, body } = await as("ada", "GET", path);
  const eyes = { ...body, fourEyes: true };
  assert.equal((await as("ada", "PUT", path, eyes, { "if-match": String(headers["etag"]) })).status, 200);
  const stands = String((await as("ada", "GET", path)).headers["etag"]);
  const held = await as("ada", "PUT", path, body, { "if-match": stands });
  assert.equal(held.status, 202);
  const digest = String(held.body["digest"]);
  const approve = `${base}/held-changes/${String(held.body["id"])}:approve`;
  assert.equal(code(await as("ada", "POST", approve, { digest })), "FOUR_EYES");
  assert.equal(
    code(await as("ada", "PUT", `${path}?approve=true&digest=${digest}`, body, { "if-match": stands })),
    "FOUR_EYES",
  );
  const seen = (await as("ada", "GET", `${base}/held-changes/${String(held.body["id"])}`)).body["approval"];
  assert.deepEqual(seen, {
    fourEyes: true,
    notBy: [{ who: "ada", why: "asked for it" }],
    you: { may: false, because: "policy asks for another person: ada asked for it" },
  });

  await settle({ keys: ["p", "q"] });
  const [plan] = (await as("grace", "GET", `${base}/held-changes?level=subject`)).body["items"] as Record<
    string,
    unknown
  >[];
  assert.ok(plan);
  assert.deepEqual((plan["approval"] as { notBy: unknown[] }).notBy, [
    { who: "ada", why: "declared or deleted part of it" },
  ]);
  assert.deepEqual(plan["blastRadius"], { items: 2, resources: 1, accounts: 1, actions: { delete: 2 } });
  const approvePlan = `${base}/held-changes/${String(plan["id"])}:approve`;
  assert.equal(code(await as("ada", "POST", approvePlan, { digest: plan["digest"] })), "FOUR_EYES");
  const comment = "checked with the owner";
  const granted = await as("grace", "POST", approvePlan, { digest: plan["digest"], comment });
  assert.deepEqual(granted.body, { id: plan["id"], state: "approved", grants: 2 });
  assert.equal((await as("ada", "GET", `${base}/held-changes/${String(plan["id"])}`)).body["comment"], comment);
  assert.equal((await as("grace", "POST", approve, { digest })).status, 200);
});

test("the inbox is filtered by level, guard, kind and age", async () => {
  await settle({ keys: ["s"] });
  const count = async (query: string) =>
    ((await as("ada", "GET", `${base}/held-changes?${query}`)).body["items"] as unknown[]).length;
  assert.equal(await count("guard=delete-budget&kind=DnsZone&level=subject"), 1);
  assert.equal(await count("guard=mode"), 0);
  assert.equal(await count("kind=DnsRecord"), 0);
  assert.equal(await count("level=account"), 0);
  assert.equal(await count("olderThanSeconds=3600"), 0);
  assert.equal(await count("olderThanSeconds=0"), 1);
  assert.equal((await as("ada", "GET", `${base}/held-changes?level=everything`)).status, 422);
  await settle({ keys: [] });
});

test("what begins to wait, what stalls and what is withdrawn stands in the log, written by the cycle that says so", async () => {
  const [before] = await query<{ id: string }>(api.url, "select coalesce(max(id), 0) as id from setpoint.log_entry");
  await settle({
    keys: ["x"],
    events: [{ type: "subject.stalled", data: { message: "NO_RIGHTS: the key may not write" } }],
  });
  await settle({ keys: ["x"] });
  await settle({ keys: [] });
  const entries = await query<{ type: string; uid: string; data: Record<string, unknown> }>(
    api.url,
    `select type, uid, data from setpoint.log_entry where id > ${before?.id ?? 0} order by id`,
  );
  assert.deepEqual(
    entries.map(({ type }) => type).sort(),
    ["held-change.opened", "held-change.withdrawn", "subject.stalled"],
    "an unchanged hold says nothing again",
  );
  const stalled = entries.find(({ type }) => type === "subject.stalled");
  assert.equal(stalled?.uid, subject.resourceUid);
  assert.deepEqual(stalled.data, { kind: "DnsZone", name: "example", message: "NO_RIGHTS: the key may not write" });
  assert.deepEqual(entries.find(({ type }) => type === "held-change.opened")?.data, {
    guard: "delete-budget",
    level: "subject",
    items: 1,
    reason,
  });
});

test("limits say what holds, from which scope, and below which ceiling", async () => {
  const { limits, mode } = (await as("ada", "GET", `${base}/projects/web/limits`)).body as {
    limits: { name: string; value: unknown; default: { from: string }; ceiling?: { from: string; value: unknown } }[];
    mode: { value: string; from: string };
  };
  assert.deepEqual(mode, { value: "observe", from: "project/default:web" });
  const changes = limits.find(({ name }) => name === "changesPerCycle");
  assert.deepEqual(
    [changes?.value, changes?.default.from, changes?.ceiling],
    [1, "project/default:web", { value: 30, from: "platform" }],
  );
  const deletes = limits.find(({ name }) => name === "deletesPerCycle");
  assert.equal(deletes?.default.from, "built in");
  assert.equal(code(await as("ada", "GET", `${base}/limits?kind=Nothing`)), "KIND_UNKNOWN");
});

test("the registry of loops says what has none and why, and how busy it is to those who may know", async () => {
  const full = (await as("ada", "GET", "/v1/loops")).body;
  const zone = (full["kinds"] as { kind: string; activity?: { subjects: number } }[]).find(
    ({ kind }) => kind === "DnsZone",
  );
  assert.equal(zone?.activity?.subjects, 1);
  assert.ok((full["withoutLoop"] as { record: string; why: string }[]).length > 3);
  const some = (await as("reader", "GET", "/v1/loops")).body["kinds"] as { activity?: unknown }[];
  assert.ok(some.every(({ activity }) => activity === undefined));
});
