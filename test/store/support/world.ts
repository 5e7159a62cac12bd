import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { shardOf } from "../../../src/kernel/hash.ts";
import { emptyMemory } from "../../../src/kernel/memory.ts";
import type { Actor, OutcomeRecord, PermitRequest, Settlement } from "../../../src/ports/engine-store.ts";
import type { DeclareRequest } from "../../../src/ports/intent-store.ts";
import type { ChangeRecord, CycleInput, HeldGroup, Principal } from "../../../src/ports/records.ts";
import type { Stores } from "./stores.ts";

export const ada: Principal = { name: "ada", type: "person" };
export const grace: Principal = { name: "grace", type: "person" };
export const robot: Principal = { name: "robot", type: "machine" };

export const holder = "test-holder";

/** One organization with an account, in a store of which this process holds every shard. */
export interface World {
  readonly stores: Stores;
  readonly organizationId: string;
  readonly scope: string;
  readonly accountId: string;
  declare(request: Partial<DeclareRequest> & { readonly name: string }): Promise<string>;
  /** Declares a resource at the account and loads its subject. */
  subject(name: string, request?: Partial<DeclareRequest>): Promise<CycleInput>;
  reload(input: CycleInput): Promise<CycleInput>;
  actor(input: CycleInput): Actor;
}

export async function makeWorld(stores: Stores): Promise<World> {
  const organizationId = randomUUID();
  const accountId = randomUUID();
  const scope = `organization/${organizationId}`;
  await stores.intent.createOrganization({ id: organizationId, name: "acme" });
  await stores.intent.createAccount({
    id: accountId,
    organizationId,
    name: "main",
    provider: "memory",
    settings: { region: "north" },
    credentialRef: "env:TOKEN",
    callsPerSecond: 10,
  });
  const leases = await stores.engine.takeShards({ holder, wanted: 64, leaseMs: 3_600_000 });
  const epochs = new Map(leases.map(({ shard, epoch }) => [shard, epoch]));
  const world: World = {
    stores,
    organizationId,
    scope,
    accountId,
    async declare(request) {
      const answer = await stores.intent.declare(declaration(world, request));
      assert.ok(answer.result !== "conflict", `declaring ${request.name} met a conflict`);
      return answer.resource.uid;
    },
    async subject(name, request = {}) {
      const uid = await world.declare({ name, ...request });
      const { engine } = stores;
      for (const entry of await engine.listSubjects({ shard: shardOf(accountId), afterId: 0, limit: 1_000 })) {
        const input = entry.accountId === accountId ? await engine.load(entry.id) : undefined;
        if (input?.subject.resourceUid === uid) return input;
      }
      throw new Error(`${name} has no subject`);
    },
    async reload(input) {
      const again = await stores.engine.load(input.subject.id);
      assert.ok(again, `subject ${input.subject.id} is gone`);
      return again;
    },
    actor({ subject: { shard } }) {
      return { holder, shard, epoch: epochs.get(shard) ?? 0 };
    },
  };
  return world;
}

function declaration(
  { organizationId, scope, accountId }: World,
  request: Partial<DeclareRequest> & { readonly name: string },
): DeclareRequest {
  return {
    uid: randomUUID(),
    organizationId,
    kind: "Zone",
    scope,
    spec: { size: 1 },
    labels: {},
    author: ada,
    ifRevision: undefined,
    mode: undefined,
    protect: undefined,
    accounts: [accountId],
    links: [],
    ...request,
  };
}

export function permitFor(world: World, input: CycleInput, request: Partial<PermitRequest> = {}): PermitRequest {
  return {
    permitId: randomUUID(),
    actor: world.actor(input),
    subject: input.subject,
    inputs: { check: "version", inputVersion: input.inputVersion },
    deletes: false,
    forMs: 60_000,
    changes: [],
    memory: emptyMemory,
    grantIds: [],
    ...request,
  };
}

export function outcomeFor(world: World, input: CycleInput, request: Partial<OutcomeRecord>): OutcomeRecord {
  return {
    actor: world.actor(input),
    subject: input.subject,
    permitId: "",
    outcomes: [],
    memory: emptyMemory,
    claims: [],
    releases: [],
    ...request,
  };
}

export function settlementFor(world: World, input: CycleInput, request: Partial<Settlement> = {}): Settlement {
  return {
    actor: world.actor(input),
    subject: input.subject,
    inputVersion: input.inputVersion,
    verdicts: [],
    gone: false,
    forgetSources: [],
    nowOwned: undefined,
    ...request,
  };
}

export function changeRecord(request: Partial<ChangeRecord> = {}): ChangeRecord {
  return {
    id: randomUUID(),
    action: "create",
    key: "www",
    externalId: undefined,
    trigger: "event",
    differences: [{ field: "/size", wanted: 1, seen: 2 }],
    declaredBy: [{ uid: "u", author: "ada", atMs: 1 }],
    verdicts: [],
    intendedAtMs: 1,
    ...request,
  };
}

export function heldGroup(
  level: HeldGroup["level"],
  digests: readonly string[],
  request: Partial<HeldGroup> = {},
): HeldGroup {
  return {
    level,
    guard: "delete-budget",
    verdict: { guard: "delete-budget", answer: "hold", reason: "over the budget", numbers: { used: 5 }, keys: [] },
    items: digests.map((digest) => ({
      key: `key of ${digest}`,
      action: "delete",
      externalId: `outside ${digest}`,
      digest,
      differences: [],
      reason: "over the budget",
    })),
    ...request,
  };
}
