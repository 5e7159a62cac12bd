import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { removeOldHistory } from "../../src/store/retention.ts";
import { query } from "../support/postgres.ts";
import { openStores, type StoreServer, startStoreServer } from "./support/stores.ts";
import { changeRecord, grace, heldGroup, makeWorld, outcomeFor, permitFor, settlementFor } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("old changes, verdicts, used grants and closed held changes go; what is current stays", async () => {
  let nowMs = 1_700_000_000_000;
  const url = await server.createDatabase();
  await using stores = openStores(url, { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const input = await world.subject("old");
  const { organizationId } = world;
  const { engine, intent, read } = stores;
  const verdicts = [heldGroup("subject", []).verdict];
  const settle = async (digest: string) =>
    engine.settle(
      settlementFor(world, await world.reload(input), {
        held: { digest, groups: [heldGroup("subject", [digest])] },
        verdicts,
        observation: { hash: digest, completeness: "complete", observedAtMs: nowMs, items: [], truncated: false },
      }),
    );
  await settle("first");
  const [held] = await read.listHeldChanges({ organizationId, states: ["open"], limit: 1 });
  assert.ok(held);
  const approval = { organizationId, heldChangeId: held.id, digest: held.digest, approver: grace, grantForMs: 1_000 };
  assert.equal((await intent.approve(approval)).result, "approved");
  const { grants } = await world.reload(input);
  const permit = permitFor(world, input, { changes: [changeRecord()], grantIds: grants.map(({ id }) => id) });
  assert.deepEqual(await engine.permit(permit), { granted: true });
  assert.ok(await engine.recordOutcome(outcomeFor(world, input, { permitId: permit.permitId })));
  await settle("second");
  await engine.recordIdle({
    holder: "h",
    cycles: [{ kind: "Zone", minuteMs: nowMs, count: 2 }],
    freshness: [],
    seen: [],
    loopsSeen: [],
  });
  assert.equal((await read.history({ organizationId, uid: input.resource.uid, limit: 9 })).length, 3);

  const dayMs = 86_400_000;
  const none = await removeOldHistory({ administration: stores.administration });
  assert.deepEqual(
    Object.values(none),
    Object.values(none).map(() => 0),
  );
  nowMs += 400 * dayMs;
  const removed = await removeOldHistory({ administration: stores.administration });
  assert.deepEqual(removed, {
    log: 0,
    changes: 1,
    verdicts: 2,
    grants: 1,
    heldChanges: 1,
    pauses: 0,
    idleCycles: 1,
    charges: 0,
    idempotencyKeys: 0,
    proposals: 0,
    credentials: 0,
    deliveries: 0,
    notifications: 0,
    governanceChanges: 0,
    operations: 0,
  });
  assert.deepEqual(await read.history({ organizationId, uid: input.resource.uid, limit: 9 }), []);
  const [open, ...others] = await read.listHeldChanges({ organizationId, states: ["open", "approved"], limit: 9 });
  assert.deepEqual([open?.items[0]?.digest, others.length], ["second", 0]);
  assert.equal((await query(url, "select from setpoint.held_item")).length, 1);
  assert.equal((await read.observation({ organizationId, uid: input.resource.uid }))[0]?.hash, "second");
});

test("what is shown of a resource is its declaration, policies, pauses and each subject's last word", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const { organizationId, scope } = world;
  const { engine, intent, read } = stores;
  const author = grace;
  const input = await world.subject("shown", { labels: { team: "red" }, mode: "propose" });
  await world.declare({ name: "other", labels: { team: "blue" } });
  await intent.setPolicy({ organizationId, policy: { scope, mode: "enforce" }, author });
  await intent.setPolicy({ organizationId: undefined, policy: { scope: "platform", fourEyes: true }, author });
  const reason = "r";
  await intent.pause({
    id: "p",
    organizationId,
    scope: `account/${world.accountId}`,
    level: "all",
    author,
    reason,
    forMs: 99,
  });
  const looked = nowMs;
  const status = {
    observedGeneration: 1,
    conditions: [],
    differences: 0,
    owned: 2,
    failing: false,
    lookedAtMs: looked,
  };
  const current = await world.reload(input);
  await engine.settle(settlementFor(world, current, { status }));
  const get = () => read.getResource({ organizationId, scope, kind: "Zone", name: "shown" });
  const view = await get();
  assert.deepEqual(
    view?.policies.map((policy) => [policy.scope.split("/")[0], policy.mode]),
    [
      ["platform", undefined],
      ["organization", "enforce"],
      ["resource", "propose"],
    ],
  );
  assert.deepEqual(
    view.pauses.map(({ id }) => id),
    ["p"],
  );
  assert.deepEqual([view.subjects[0]?.confirmedAtMs, view.subjects[0]?.dueAtMs], [looked, undefined]);

  // A sweep of the shard confirms what it found well, not what fails.
  nowMs += 60_000;
  const shard = input.subject.shard;
  const idle = { holder: "h", cycles: [], freshness: [], seen: [{ shard, sinceMs: looked + 30_000 }] };
  await engine.recordIdle({ ...idle, loopsSeen: [{ shard, kind: "Another", sinceMs: looked + 50_000 }] });
  assert.equal((await get())?.subjects[0]?.confirmedAtMs, looked + 30_000, "another loop says nothing about this one");
  await engine.recordIdle({ ...idle, loopsSeen: [{ shard, kind: "Zone", sinceMs: looked + 45_000 }] });
  assert.equal((await get())?.subjects[0]?.confirmedAtMs, looked + 45_000, "its own loop is younger than its shard");
  await engine.recordIdle({ ...idle, loopsSeen: [{ shard, kind: "Zone", sinceMs: looked + 40_000 }] });
  assert.equal((await get())?.subjects[0]?.confirmedAtMs, looked + 45_000, "an older word changes nothing");
  assert.deepEqual((await get())?.pauses, [], "a pause that ran out is none");
  await engine.settle(settlementFor(world, current, { status: { ...status, failing: true } }));
  assert.equal((await get())?.subjects[0]?.confirmedAtMs, looked);
  assert.equal((await read.summary()).oldestConfirmedAtMs, looked);
});

const wholeList = {
  kind: "Zone",
  namePrefix: undefined,
  mode: undefined,
  deleting: undefined,
  ready: undefined,
  drifted: undefined,
  held: undefined,
  sort: "name",
  descending: false,
} as const;

test("resources are listed by name in pages and found by label, and the summary counts", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const { organizationId, scope } = world;
  const { read } = stores;
  await world.declare({ name: "shown", labels: { team: "red" } });
  await world.declare({ name: "other", labels: { team: "blue" } });
  const list = async (labels: Record<string, string>, afterName?: string) => {
    const requirements = Object.entries(labels).map(([key, value]) => ({ key, op: "in" as const, values: [value] }));
    const after = afterName === undefined ? undefined : { name: afterName, ms: 0, id: "" };
    const page = await read.listPage({ ...wholeList, organizationId, scope, labels: requirements, after, limit: 1 });
    return page.views;
  };
  assert.deepEqual(
    (await list({})).map(({ resource }) => resource.name),
    ["other"],
  );
  assert.deepEqual(
    (await list({}, "other")).map(({ resource }) => resource.name),
    ["shown"],
  );
  assert.deepEqual(
    (await list({ team: "red" })).map(({ resource }) => resource.name),
    ["shown"],
  );
  const figures = await read.summary();
  assert.ok(figures.installationId.length > 0 && figures.schemaVersion > 0);
  assert.deepEqual(figures, {
    ...figures,
    incarnation: 1,
    organizations: 1,
    resources: 2,
    subjects: 2,
    heldOpen: 0,
    pausesActive: 0,
    operationsAttention: 0,
    shardsLeased: 64,
    dueNow: 2,
  });
});
