import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Proposal } from "../../../src/ports/governance-store.ts";
import type { CycleInput, StoredPlan } from "../../../src/ports/records.ts";
import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { PostgresGovernanceStore } from "../../../src/store/governance-store.ts";
import { PostgresNotificationStore } from "../../../src/store/notification-store.ts";
import { Sealer } from "../../../src/store/sealer.ts";
import { type Stores, silentLog } from "./stores.ts";
import { ada, grace, heldGroup, settlementFor, type World } from "./world.ts";

/** Every method of the stores of rules and of notifications, in an order in which each finds rows to work on. */
export async function useGoverning(stores: Stores, world: World, zone: CycleInput): Promise<void> {
  await useRules(stores, world, zone);
  await useNotifications(stores, world);
}

const plan: StoredPlan = {
  hash: "left",
  observedAtMs: 1,
  completeness: "complete",
  summary: { actions: { update: 1 }, held: 0, guards: [], causes: [] },
  items: [],
  truncated: false,
  verdicts: [],
};

async function useRules(stores: Stores, world: World, zone: CycleInput): Promise<void> {
  const { organizationId, scope } = world;
  const { api: database, administration } = stores;
  const store = new PostgresGovernanceStore({ database, administration, ids: createSystemIds() });
  const every = ["open", "approved", "rejected", "withdrawn"] as const;
  const events = [{ type: "subject.stalled", data: { reason: "r", message: "m" } }] as const;
  const held = { digest: "waits", groups: [heldGroup("subject", ["waits"])] };
  const settlement = settlementFor(world, await world.reload(zone), { plan, events, held });
  assert.ok((await stores.engine.settle(settlement)).kept);
  const found = await store.inbox({
    organizationId,
    states: every,
    kind: zone.subject.kind,
    limit: 10,
    itemsAtMost: 5,
  });
  assert.ok(found.length > 0);

  for (const place of [organizationId, undefined]) {
    const where = place === undefined ? "platform" : scope;
    const version = (await store.policy(place, where))?.version ?? 0;
    const asked: Proposal = {
      organizationId: place,
      scope: where,
      type: "policy",
      digest: randomUUID(),
      verdict: heldGroup("subject", []).verdict,
      differences: [],
      body: { scope: where, mode: "enforce" },
      baseVersion: version,
      author: ada,
      reason: "test",
      forMs: 60_000,
    };
    const change = await store.propose(asked);
    assert.equal((await store.propose(asked)).id, change.id);
    const decision = { organizationId: place, id: change.id, digest: asked.digest, comment: "c", approver: grace };
    assert.equal((await store.decide({ ...decision, decision: "approve" })).result, "approved");
    const author = ada;
    const policy = { scope: where, mode: "enforce" as const };
    const set = { organizationId: place, policy, ifVersion: version + 1, author, reason: undefined };
    assert.equal((await store.setPolicy(set)).result, "set");
    assert.equal((await store.policyHistory({ organizationId: place, scope: where, limit: 2 })).length, 2);
    assert.equal((await store.governanceChanges({ organizationId: place, states: every, limit: 5 })).length, 1);

    const id = randomUUID();
    const pause = {
      id,
      organizationId: place,
      scope: where,
      level: "writes" as const,
      author,
      reason: "r",
      forMs: 60_000,
    };
    await stores.intent.pause(pause);
    assert.ok(await store.extendPause({ id, organizationId: place, forMs: 120_000, author }));
    const end: Proposal = { ...asked, type: "pause-end", digest: randomUUID(), body: { id } };
    const ending = await store.propose(end);
    const ended = { ...decision, id: ending.id, digest: end.digest, decision: "approve" } as const;
    assert.equal((await store.decide(ended)).result, "approved");
  }
  await usePlans(stores, world, zone, store);
}

async function usePlans(stores: Stores, world: World, zone: CycleInput, store: PostgresGovernanceStore): Promise<void> {
  const { organizationId } = world;
  const { uid } = zone.resource;
  const open = await store.plans({ organizationId, kind: undefined, after: undefined, limit: 5 });
  assert.ok(open.some((plan) => plan.uid === uid));
  assert.equal((await store.plansOf({ organizationId, uid }))[0]?.plan?.hash, "left");
  const left = { organizationId, under: undefined, kind: undefined, limit: 10 };
  assert.equal((await store.leftToDo(left)).filter(({ summary }) => summary !== undefined).length, 1);
  await stores.engine.settle(settlementFor(world, await world.reload(zone), { plan: "none" }));
  await stores.intent.reconcileNow({ organizationId, uid });
  const due = (await store.leftToDo(left)).find((entry) => entry.uid === uid);
  assert.ok(due !== undefined && due.summary === undefined, "it is due, and was not looked at since");
  await store.leftByOrganization();
  await store.loopActivity();
  assert.equal((await store.waiting()).left, 0);
}

async function useNotifications(stores: Stores, world: World): Promise<void> {
  const { organizationId } = world;
  const { api: database, administration } = stores;
  const ids = createSystemIds();
  const store = new PostgresNotificationStore({ database, administration, ids });
  const sealer = new Sealer({ administration, clock: systemClock, log: silentLog });
  const author = ada;
  const endpoint = { id: "hook", url: "https://hook.example", description: "", events: ["*"] };
  assert.ok(await store.createEndpoint({ organizationId, endpoint, sealedSecret: "s", author, atMost: 5 }));
  assert.ok(await store.updateEndpoint({ organizationId, endpoint: { ...endpoint, state: "enabled" }, author }));
  assert.ok(await store.rotateSecret({ organizationId, id: "hook", sealedSecret: "t", keepForMs: 1_000, author }));
  assert.equal((await store.listEndpoints(organizationId)).length, 1);
  await store.setEmails({ organizationId, addresses: ["a@example.test", "b@example.test"], author });
  await store.setEmails({ organizationId, addresses: ["a@example.test"], author });
  assert.deepEqual(await store.emails(organizationId), ["a@example.test"]);
  await sealer.sealAll();
  await store.gather(10, () => undefined);
  for (const address of ["c@example.test", "a@example.test"]) {
    await store.setEmails({ organizationId, addresses: [address], author });
    await sealer.sealAll();
    const item = { id: "i", text: "t", path: undefined, deadlineMs: undefined };
    const told = { type: "test", cause: "c", summary: "s", item, gatherMs: 0 } as const;
    assert.equal(await store.gather(10, () => told), 1);
  }
  assert.equal(await store.noteOverdue({ undecidedForMs: 7 * 24 * 3_600_000, holdsForMs: 900_000 }), 0);
  assert.equal(await store.tell({ withEmail: true, bodyOf: () => "{}" }), 1);
  assert.equal((await store.listNotifications({ organizationId, limit: 5 }))[0]?.count, 2);
  await store.enqueue({ organizationId, id: "d", target: "hook", type: "test", body: "{}" });
  const due = await store.takeDue(10, 1_000);
  assert.equal(due.length, 3);
  for (const delivery of due)
    await store.recordAnswer({ delivery, answer: { atMs: 1, text: "" }, result: { as: "failed", disable: "test" } });
  assert.ok(await store.replay({ organizationId, target: "hook", id: "d", author }));
  assert.equal((await store.listDeliveries({ organizationId, target: "hook", limit: 5 })).length, 2);
  await store.listMailed({ organizationId, limit: 5 });
  assert.ok(await store.deleteEndpoint({ organizationId, id: "hook", author }));
}
