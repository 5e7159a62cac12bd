import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { DeclareChange } from "../../../src/ports/declaring-store.ts";
import type { ListRequest } from "../../../src/ports/read-store.ts";
import type { CycleInput, SubjectStatus } from "../../../src/ports/records.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { PostgresDeclaringStore } from "../../../src/store/declaring-store.ts";
import { PostgresIdempotencyStore } from "../../../src/store/idempotency-store.ts";
import { PostgresProposalStore } from "../../../src/store/proposal-store.ts";
import { lastStatements, pageStatements } from "../../../src/store/sql/listing.ts";
import type { Stores } from "./stores.ts";
import { ada, grace, settlementFor, type World } from "./world.ts";

const condition = { status: "False", message: "", sinceMs: 1 } as const;
const held: SubjectStatus = {
  observedGeneration: 1,
  conditions: [
    { ...condition, type: "Ready", reason: "WaitingForApproval" },
    { ...condition, type: "Synced", reason: "Differs" },
  ],
  differences: 1,
  owned: 1,
  failing: false,
};

/** Everything the Control API does beside declaring. */
export async function useDeclaring(stores: Stores, world: World, zone: CycleInput): Promise<void> {
  await stores.engine.settle(settlementFor(world, await world.reload(zone), { status: held }));
  const options = { database: stores.api, administration: stores.administration };
  const { organizationId } = world;
  const uids = await useChanges(new PostgresDeclaringStore(options), world);
  await useCreatesTogether(new PostgresDeclaringStore({ ...options, clock: systemClock }), world);
  // Those refer to the zone and are a part of it, so that what it shows wakes itself.
  const shows = { status: { ...held, values: { ipv4: ["192.0.2.1"] } }, publishes: true };
  await stores.engine.settle(settlementFor(world, await world.reload(zone), shows));
  await useLists(stores, world);
  const { read } = stores;
  const { scope } = world;
  await read.getResources({ organizationId, names: [{ scope, kind: "Zone", name: "zone" }] });
  assert.equal((await read.resourcesByUid({ organizationId, uids })).length, uids.length);
  await read.resourceEntries({
    organizationId,
    uid: zone.resource.uid,
    types: undefined,
    beforePosition: undefined,
    limit: 5,
  });
  await read.tailEntries({ afterPosition: 0, limit: 5 });
  await read.tailOfTenant({ organizationId, afterPosition: 0, untilPosition: 100, limit: 5 });
  await read.sealedTimeMs({ organizationId, position: 100 });
  const after = { changedAtMs: 0, subjectId: 0 };
  await read.changedStatus({ organizationId, scope, kind: "Zone", after, limit: 5 });
  const lists = [{ scope, kind: "Zone" }];
  await read.changedInLists({ organizationId, lists, after, limit: 5 });
  await read.filledLists({ organizationId, lists });
  await read.figures(organizationId);
  await read.relationsFrom({ organizationId, uids, each: 5 });
  await read.relationsTo({ organizationId, names: [{ scope, kind: "Zone", name: "zone" }], each: 5 });
  await read.relationsOfLists({ organizationId, lists, first: 5 });
  await useKeys(new PostgresIdempotencyStore(options), organizationId);
  await useProposals(new PostgresProposalStore(options), organizationId);
}

/** A record that refers to these zones. */
function changeIn({ organizationId, scope }: World, name: string, references: readonly string[]): DeclareChange {
  return {
    action: "declare",
    declare: {
      uid: randomUUID(),
      organizationId,
      kind: "Record",
      name,
      scope,
      spec: { size: references.length },
      labels: { team: "web" },
      author: ada,
      ifRevision: undefined,
      mode: undefined,
      protect: undefined,
      accounts: [],
      links: [],
    },
    references: references.map((target) => ({ scope, kind: "Zone", name: target, pointer: "/spec", part: false })),
  };
}

/** What is created at the same moment shares a transaction. */
async function useCreatesTogether(declaring: PostgresDeclaringStore, world: World): Promise<void> {
  const { organizationId } = world;
  const created = await Promise.all(
    ["left", "middle", "right"].map((name) => {
      const change = changeIn(world, `together-${name}`, ["zone"]);
      const links = [{ kind: "Zone", name: "zone" }];
      const declare = { ...change.declare, ifRevision: 0, accounts: [undefined], links };
      return declaring.change({ organizationId, changes: [{ ...change, declare }] });
    }),
  );
  assert.ok(created.every(({ made }) => made));
}

async function useChanges(declaring: PostgresDeclaringStore, world: World): Promise<readonly string[]> {
  const { organizationId, scope } = world;
  const change = (name: string, references: readonly string[]) => changeIn(world, name, references);
  const deletion = {
    action: "delete",
    scope,
    kind: "Record",
    name: "referring",
    ifRevision: undefined,
    author: ada,
  } as const;
  const changes = [change("referring", ["zone"])];
  assert.equal((await declaring.plan({ organizationId, changes })).made, true);
  assert.equal((await declaring.change({ organizationId, changes })).made, true);
  const used = { ...deletion, kind: "Zone", name: "zone", orphan: true, confirmedCount: undefined };
  const refused = await declaring.change({ organizationId, changes: [used] });
  assert.ok(!refused.made && refused.refusal.result === "in-use", "a reference is no part");
  assert.equal((await declaring.change({ organizationId, changes: [change("referring", [])] })).made, true);
  const conflict = change("referring", []);
  const stale = { ...conflict, declare: { ...conflict.declare, ifRevision: 9 } };
  assert.equal((await declaring.change({ organizationId, changes: [stale] })).made, false);
  // Nothing asks for four eyes here; that it was asked is what matters.
  const govern = (mode: "observe" | "enforce"): DeclareChange => ({
    ...conflict,
    declare: { ...conflict.declare, mode },
  });
  for (const mode of ["observe", "enforce"] as const)
    assert.equal((await declaring.change({ organizationId, changes: [govern(mode)] })).made, true);
  const proposal = { id: randomUUID(), digest: "none", author: ada };
  const unknown = await declaring.apply({ organizationId, changes: [conflict], proposal });
  assert.ok(!unknown.made && unknown.refusal.result === "not-approved");
  const several = [change("one", []), { ...deletion, orphan: false, confirmedCount: undefined }];
  const both = await declaring.change({ organizationId, changes: several });
  assert.ok(both.made);
  await world.subject("going");
  const going = [{ ...used, name: "going" }];
  assert.equal((await declaring.plan({ organizationId, changes: going })).made, true);
  assert.equal((await declaring.change({ organizationId, changes: going })).made, true);
  assert.equal((await declaring.deleteBudgets({ organizationId, accountId: world.accountId })).length, 3);
  await declaring.quotas(organizationId);
  await declaring.setQuota({ organizationId, kind: "Record", most: 5, author: ada });
  await declaring.setQuota({ organizationId, kind: "Record", most: undefined, author: ada });
  return both.done.flatMap((done) => ("resource" in done ? [done.resource.uid] : []));
}

/** Every list there is, forwards and backwards, each with something in it. */
async function useLists({ read }: Stores, { organizationId, scope }: World): Promise<void> {
  const plain: ListRequest = {
    organizationId,
    scope,
    kind: "Zone",
    labels: [],
    namePrefix: undefined,
    mode: undefined,
    deleting: undefined,
    ready: undefined,
    drifted: undefined,
    held: undefined,
    sort: "name",
    descending: false,
    after: undefined,
    limit: 5,
  };
  const variants: readonly Partial<ListRequest>[] = [
    { deleting: false },
    { kind: "Record", labels: [{ key: "team", op: "exists", values: [] }] },
    { kind: "Record", labels: [{ key: "team", op: "in", values: ["web", "ops"] }] },
    { deleting: true },
    { ready: "Unknown" },
    { drifted: true },
    { held: true },
    { sort: "declaredAt" },
    { sort: "updated" },
  ];
  assert.equal(variants.length * 2, pageStatements.size);
  assert.equal(pageStatements.size, lastStatements.size);
  for (const variant of variants) {
    for (const descending of [false, true]) await read.listPage({ ...plain, ...variant, descending });
  }
}

async function useKeys(keys: PostgresIdempotencyStore, organizationId: string): Promise<void> {
  for (const place of [organizationId, undefined]) {
    const scope = { organizationId: place, principal: "ada", key: "key" };
    await keys.begin({ scope, fingerprint: "f", forMs: 60_000, keepMs: 60_000 });
    await keys.forget(scope);
    await keys.begin({ scope, fingerprint: "f", forMs: 60_000, keepMs: 60_000 });
    await keys.finish({ scope, answer: { status: 201, headers: {}, body: {} } });
  }
}

async function useProposals(proposals: PostgresProposalStore, organizationId: string): Promise<void> {
  const computed = { revisions: [0], plan: {}, digest: "d" };
  const id = randomUUID();
  await proposals.propose({ organizationId, id, author: ada, reason: "test", changes: [], computed });
  await proposals.list({ organizationId, states: ["open"], limit: 5 });
  await proposals.get({ organizationId, id });
  await proposals.askAgain({ organizationId, id, author: ada, computed });
  const decision = { organizationId, id, digest: "d", from: ["open"], author: grace, comment: undefined } as const;
  assert.equal((await proposals.decide({ ...decision, to: "approved" }))?.state, "approved");
}
