import assert from "node:assert/strict";
import { emptyMemory } from "../../src/kernel/memory.ts";
import { statusOf, type StatusFacts } from "../../src/kernel/status.ts";
import { defaultLimits } from "../../src/kernel/policy.ts";
import type { DeleteReservationAnswer, Settlement } from "../../src/ports/engine-store.ts";
import type { OwnedItem, StoredObservation } from "../../src/ports/records.ts";
import type { Answer, TestApi } from "./api.ts";

export const base = "/v1/organizations/default";

export async function addLab(api: TestApi): Promise<void> {
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
}

export function zone(name: string, change: { readonly metadata?: object; readonly spec?: object } = {}) {
  return {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, mode: "enforce", ...change.metadata },
    spec: { account: "lab", zone: `${name}.test`, ...change.spec },
  };
}

export function record(name: string, inZone: string, spec: object = {}) {
  const whole = { zone: inZone, name, type: "A", values: ["192.0.2.1"], ...spec };
  return { apiVersion: "setpoint/v1", kind: "DnsRecord", metadata: { name }, spec: whole };
}

export function code(answer: Answer): unknown {
  assert.equal(answer.headers["content-type"], "application/problem+json; charset=utf-8", JSON.stringify(answer.body));
  return answer.body["code"];
}

export async function declare(api: TestApi, manifest: ReturnType<typeof zone> | ReturnType<typeof record>) {
  const plural = manifest.kind === "DnsZone" ? "dnszones" : "dnsrecords";
  const answer = await api.send("POST", `${base}/${plural}`, manifest);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as { readonly metadata: { readonly uid: string; readonly revision: number } };
}

/** Whoever holds every shard, and ends cycles as the engine would. */
export interface Engine {
  /** What a cycle of the zone would be told that wants to delete so much, approved or not. What passes is charged. */
  reserve(
    zoneName: string,
    deletes: { readonly granted: number; readonly ungranted: number },
  ): Promise<DeleteReservationAnswer>;
  settle(zoneName: string, change: Partial<Settlement>): Promise<void>;
}

export async function takeEngine(api: TestApi): Promise<Engine> {
  const leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  const actingOn = async (zoneName: string) => {
    const { body } = await api.send("GET", `${base}/dnszones/${zoneName}`);
    const { uid } = (body as { metadata: { uid: string } }).metadata;
    const shards = leases.map(({ shard }) => shard);
    const due = await api.engine.dueSubjects({ shards, limit: 1_000 });
    const inputs = await Promise.all(due.map(({ id }) => api.engine.load(id)));
    const input = inputs.find((one) => one?.resource.uid === uid);
    assert.ok(input, `${zoneName} is not due`);
    const { shard } = input.subject;
    const epoch = leases.find((lease) => lease.shard === shard)?.epoch ?? 0;
    return { input, actor: { holder: "test", shard, epoch } };
  };
  return {
    reserve: async (zoneName, deletes) => {
      const { input, actor } = await actingOn(zoneName);
      const limits = defaultLimits.deletesPerHour;
      return await api.engine.reserveDeletes({ actor, subject: input.subject, limits, ...deletes });
    },
    settle: async (zoneName, change) => {
      const { input, actor } = await actingOn(zoneName);
      const answer = await api.engine.settle({
        actor,
        subject: input.subject,
        inputVersion: input.inputVersion,
        memory: emptyMemory,
        verdicts: [],
        gone: false,
        forgetSources: [],
        nowOwned: 0,
        // Stays due, so that the next one is found the same way.
        nextInMs: 0,
        ...change,
      });
      assert.ok(answer.kept);
    },
  };
}

/** What a complete look at a zone showed. */
export function observed(items: Readonly<Record<string, readonly string[]>>, atMs: number): StoredObservation {
  const seen = Object.entries(items).map(([key, values]) => {
    const [name = "", type = ""] = key.split(" ");
    return { key, externalId: key, item: { name, type, ttlSeconds: 300, values: [...values] }, owned: true };
  });
  return { hash: JSON.stringify(items), completeness: "complete", observedAtMs: atMs, items: seen, truncated: false };
}

export function owning(keys: readonly string[], sources: readonly string[]) {
  const owned = keys.map(
    (key): OwnedItem => ({
      key,
      state: "owned",
      externalId: key,
      sources,
      wantedHash: "",
      intendedAtMs: 1,
      writtenAtMs: 1,
    }),
  );
  return { ...emptyMemory, owned };
}

export function status(change: Partial<StatusFacts>) {
  return statusOf({
    nowMs: Date.now(),
    generation: 1,
    result: "converged",
    message: "as declared",
    verdicts: [],
    differences: 0,
    owned: 0,
    held: 0,
    bad: false,
    lookedAtMs: Date.now(),
    flips: [],
    previous: undefined,
    ...change,
  });
}
