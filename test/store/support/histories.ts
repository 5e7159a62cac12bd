import type { Actor, PermitInputs } from "../../../src/ports/engine-store.ts";
import type { DeclareRequest } from "../../../src/ports/intent-store.ts";
import type { HeldGroup, Principal, SubjectMemory, Verdict } from "../../../src/ports/records.ts";
import type { MemoryStore, transactions } from "../../sim/memory-store.ts";
import type { SubjectRow } from "../../sim/store/rows.ts";
import type { StagedHolds } from "../../sim/store/staged-holds.ts";
import { operationActor, operationStep, startsAgain } from "./operation-histories.ts";

/** What both stores can be asked. */
type Method = Exclude<keyof typeof transactions, keyof StagedHolds>;

/** One call of a port: its name and its one argument. */
export type Step = {
  [Name in Method]: {
    readonly method: Name;
    readonly request: Parameters<(typeof transactions)[Name]>[1];
  };
}[Method];

/** A small seeded generator (mulberry32): the same seed gives the same history on every machine. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (items.length === 0) throw new RangeError("There is nothing to pick from");
    return item as Item;
  }
  some<Item>(items: readonly Item[], probability: number): Item[] {
    return items.filter(() => this.chance(probability));
  }
}

export const organizations = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"] as const;
const [first, second] = organizations;
const accounts = { [first]: ["account-1", "account-2"], [second]: ["account-3"] } as Record<string, readonly string[]>;
const holders = ["holder-1", "holder-2", "holder-3"];
const people: readonly Principal[] = [
  { name: "ada", type: "person" },
  { name: "ada", type: "person" },
  { name: "grace", type: "person" },
  { name: "robot", type: "machine" },
  { name: "helper", type: "assistant" },
];

function scopesOf(organizationId: string): readonly string[] {
  const letter = organizationId.at(-1);
  return [`organization/${organizationId}`, `project/${letter}`, `workspace/${letter}`];
}

/** What every history starts from. */
export function opening(): readonly Step[] {
  const steps: Step[] = [];
  for (const organizationId of organizations) {
    const [root = "", project = "", workspace = ""] = scopesOf(organizationId);
    steps.push({ method: "createOrganization", request: { id: organizationId, name: `org ${organizationId.at(-1)}` } });
    steps.push({ method: "createScope", request: { organizationId, scope: project, parent: root } });
    steps.push({ method: "createScope", request: { organizationId, scope: workspace, parent: project } });
    for (const [index, id] of (accounts[organizationId] ?? []).entries()) {
      const settings = { region: `r${index}` };
      const rest = {
        name: id,
        provider: "memory",
        settings,
        credentialRef: undefined,
        callsPerSecond: 0.4 + index * 5,
      };
      steps.push({ method: "createAccount", request: { id, organizationId, ...rest } });
    }
  }
  steps.push({ method: "takeShards", request: { holder: "holder-1", wanted: 40, leaseMs: 600_000 } });
  steps.push({ method: "takeShards", request: { holder: "holder-2", wanted: 64, leaseMs: 600_000 } });
  steps.push({ method: "takeWorkerShards", request: { holder: "worker-1", wanted: 64, leaseMs: 600_000 } });
  return steps;
}

/** Makes steps that make sense in the twin's present state, and now and then ones that do not. */
export class Historian {
  readonly #dice: Dice;
  readonly #twin: MemoryStore;
  #made = 0;
  #lastDeclaration: DeclareRequest | undefined;

  constructor(dice: Dice, twin: MemoryStore) {
    this.#dice = dice;
    this.#twin = twin;
  }

  step(): Step {
    const dice = this.#dice;
    if (dice.chance(0.18)) return operationStep(dice, this.#twin, (prefix) => this.#id(prefix));
    const kind = dice.next();
    if (kind < 0.24) return this.#declare();
    if (kind < 0.4) return this.#intent();
    if (kind < 0.5) return this.#shards();
    if (kind < 0.6) return this.#reads();
    if (kind < 0.66) return this.#books();
    const subject = this.#granted() ?? this.#subject();
    if (subject === undefined) return this.#declare();
    const lease = this.#tables.shards[subject.shard];
    const isLeased = lease?.holder !== undefined && lease.untilMs > this.#twin.state.nowMs();
    if (!isLeased && dice.chance(0.9)) {
      const holder = dice.pick(holders);
      return { method: "takeShards", request: { holder, wanted: 64, leaseMs: dice.pick([8_000, 36_000_000]) } };
    }
    if (subject.permit !== undefined && dice.chance(0.5)) return this.#outcome(subject);
    if (kind < 0.82) return this.#permit(subject);
    return kind < 0.84 ? this.#outcome(subject) : this.#settle(subject);
  }

  get #tables() {
    return this.#twin.state.tables;
  }

  #id(prefix: string): string {
    this.#made += 1;
    return `${prefix}-${this.#made}`;
  }

  /** Often a subject that something was approved for, whether that was used, has expired, or neither. */
  #granted(): SubjectRow | undefined {
    const grants = [...this.#tables.grants.values()];
    if (grants.length === 0 || this.#dice.chance(0.6)) return undefined;
    return this.#tables.subjects.get(this.#dice.pick(grants).subjectId);
  }

  #subject(): SubjectRow | undefined {
    const subjects = [...this.#tables.subjects.values()];
    return subjects.length === 0 ? undefined : this.#dice.pick(subjects);
  }

  #declare(): Step {
    const again = this.#lastDeclaration;
    const request =
      again !== undefined && this.#dice.chance(0.1) ? { ...again, ifRevision: undefined } : this.#declaration();
    this.#lastDeclaration = request;
    return { method: "declare", request };
  }

  #declaration(): DeclareRequest {
    const dice = this.#dice;
    const organizationId = dice.pick(organizations);
    const scope = dice.pick(scopesOf(organizationId));
    const isZone = dice.chance(0.5);
    const kind = isZone ? "Zone" : "Record";
    const name = isZone ? `zone-${dice.below(2)}` : `record-${dice.below(3)}`;
    const existing = [...this.#tables.resources.values()].find(
      (row) => row.organizationId === organizationId && row.scope === scope && row.kind === kind && row.name === name,
    );
    const repeated = existing?.deletion !== undefined && dice.chance(0.6) ? existing : undefined;
    const withAccounts = dice.some(accounts[organizationId] ?? [], 0.6);
    return {
      uid: this.#id("uid"),
      organizationId,
      scope,
      kind,
      name,
      spec: repeated
        ? repeated.spec
        : dice.chance(0.1)
          ? [1, "two", null]
          : { size: dice.below(3), note: dice.pick(["a", "b/~ü☃", ""]), deep: { x: [1.5, -0, 1e21] } },
      labels: repeated ? repeated.labels : dice.chance(0.5) ? {} : { team: dice.pick(["red", "blue"]) },
      author: dice.pick(people),
      ifRevision: dice.chance(0.7) ? undefined : dice.pick([0, existing?.revision ?? 0, 7]),
      mode: dice.pick([undefined, "enforce", "observe"]),
      protect: dice.pick([undefined, undefined, true, false]),
      accounts: isZone ? (dice.chance(0.2) ? [undefined] : withAccounts) : dice.chance(0.1) ? [undefined] : [],
      links: isZone
        ? []
        : dice.some([0, 1, 5], 0.5).map((zone) => ({
            kind: "Zone",
            name: `zone-${zone}`,
            ...(dice.chance(0.3) ? { scope: dice.pick(scopesOf(organizationId)) } : {}),
          })),
    };
  }

  #intent(): Step {
    const dice = this.#dice;
    const resources = [...this.#tables.resources.values()];
    const resource = resources.length === 0 ? undefined : dice.pick(resources);
    const organizationId = dice.chance(0.93) ? (resource?.organizationId ?? first) : dice.pick(organizations);
    const uid = resource?.uid ?? "nobody";
    const author = dice.pick(people);
    switch (dice.below(9)) {
      case 0:
      case 1:
      case 2:
        return {
          method: "requestDeletion",
          request: {
            organizationId,
            uid,
            author,
            ifRevision: dice.chance(0.8) ? undefined : dice.pick([resource?.revision ?? 1, 99]),
            orphan: dice.chance(0.3),
            confirmedCount: dice.pick([undefined, 3]),
          },
        };
      case 3:
        return { method: "reconcileNow", request: { organizationId, uid } };
      case 4:
      case 5:
        return this.#decision();
      case 6:
        return this.#pause(organizationId, uid);
      case 7:
        return this.#endPause();
      default:
        return this.#policy(author);
    }
  }

  #decision(): Step {
    const dice = this.#dice;
    const held = [...this.#tables.heldChanges.values()].filter((row) => row.state === "open" || dice.chance(0.2));
    const row = held.length === 0 ? undefined : dice.pick(held);
    const heldChangeId = row?.id ?? "nothing";
    const organizationId = dice.chance(0.95) ? (row?.organizationId ?? first) : dice.pick(organizations);
    if (dice.chance(0.3))
      return { method: "reject", request: { organizationId, heldChangeId, author: dice.pick(people) } };
    const digest = dice.chance(0.9) ? (row?.digest ?? "") : "stale";
    const grantForMs = dice.pick([5_000, 600_000]);
    return {
      method: "approve",
      request: { organizationId, heldChangeId, digest, approver: dice.pick(people), grantForMs },
    };
  }

  #pause(organizationId: string, uid: string): Step {
    const dice = this.#dice;
    const isPlatform = dice.chance(0.2);
    const scope = isPlatform
      ? dice.pick(["platform", scopesOf(organizationId)[0] ?? ""])
      : dice.pick([
          ...scopesOf(organizationId),
          `resource/${uid}`,
          `account/${dice.pick(accounts[organizationId] ?? [])}`,
          // A name that every tenant's path has: it means his own things all the same.
          "platform",
        ]);
    return {
      method: "pause",
      request: {
        id: this.#id("pause"),
        organizationId: isPlatform ? undefined : organizationId,
        scope,
        level: dice.pick(["deletes", "writes", "all"]),
        author: dice.pick(people),
        reason: "maintenance",
        forMs: dice.pick([2_000, 60_000]),
      },
    };
  }

  #endPause(): Step {
    const dice = this.#dice;
    const pauses = [...this.#tables.pauses.values()];
    const pause = pauses.length === 0 ? undefined : dice.pick(pauses);
    const organizationId = dice.chance(0.9) ? pause?.organizationId : first;
    return { method: "endPause", request: { id: pause?.id ?? "none", organizationId, author: dice.pick(people) } };
  }

  #policy(author: Principal): Step {
    const dice = this.#dice;
    const organizationId = dice.chance(0.15) ? undefined : dice.pick(organizations);
    const scope = organizationId === undefined ? "platform" : dice.pick(scopesOf(organizationId));
    const policy = {
      scope,
      mode: dice.pick([undefined, "enforce", "propose"] as const),
      limits: dice.pick([undefined, { changesPerCycle: dice.below(9) }]),
      fourEyes: dice.pick([undefined, true, false]),
    };
    return { method: "setPolicy", request: { organizationId, policy, author } };
  }

  #shards(): Step {
    const dice = this.#dice;
    const holder = dice.pick(holders);
    const shards = dice
      .some(this.#tables.shards, 0.3)
      .map(({ shard, epoch }) => ({ shard, epoch: dice.chance(0.9) ? epoch : epoch + 1 }));
    switch (dice.below(5)) {
      case 0:
      case 1:
        return {
          method: "takeShards",
          request: { holder, wanted: dice.pick([0, 5, 40, 64]), leaseMs: dice.pick([8_000, 900_000]) },
        };
      case 2:
        return { method: "renewShards", request: { holder, leaseMs: 600_000, shards } };
      case 3:
        return { method: "releaseShards", request: { holder, shards: shards.slice(0, 3) } };
      default:
        return { method: "shardHolders", request: undefined as never };
    }
  }

  #reads(): Step {
    const dice = this.#dice;
    const subject = this.#subject();
    const now = this.#twin.state.nowMs();
    switch (dice.below(4)) {
      case 0:
        return {
          method: "listSubjects",
          request: { shard: subject?.shard ?? 0, afterId: dice.below(5), limit: 1 + dice.below(4) },
        };
      case 1: {
        const shards = dice.chance(0.5) ? Array.from({ length: 64 }, (_, shard) => shard) : [subject?.shard ?? 0, 3, 3];
        const page = {
          priority: dice.pick(["person", "event", "resync"] as const),
          dueAtMs: now - dice.below(9_000),
          id: dice.below(9),
        };
        return {
          method: "dueSubjects",
          request: {
            shards,
            limit: 1 + dice.below(5),
            dueAfterMs: dice.chance(0.3) ? now - dice.below(20_000) : undefined,
            after: dice.chance(0.3) ? page : undefined,
          },
        };
      }
      case 2:
        return {
          method: "accountHealth",
          request: {
            accountId: dice.pick(["account-1", "account-3", "none"]),
            site: dice.pick([undefined, "north", "south", "nowhere"]),
            aroundMs: dice.pick([[now], [now - 60_000, now], []]),
            windowMs: dice.pick([0, 30_000, 600_000]),
          },
        };
      default:
        return { method: "load", request: dice.chance(0.95) ? (subject?.id ?? 1) : 4_000 };
    }
  }

  #books(): Step {
    const dice = this.#dice;
    const accountId = dice.pick(["account-1", "account-2", "account-3"]);
    const now = this.#twin.state.nowMs();
    switch (dice.below(6)) {
      case 0:
      case 1:
        return {
          method: "takeCalls",
          request: {
            accountId,
            wanted: dice.pick([1, 3, 12]),
            forPerson: dice.chance(0.3),
            tookMs: Array.from({ length: dice.pick([0, 1, 40]) }, () => dice.below(3_000)),
          },
        };
      case 2:
        if (dice.chance(0.3)) return { method: "recordedThings", request: { accountId, atMost: dice.pick([1, 100]) } };
        return { method: "blockCalls", request: { accountId, forMs: dice.below(20_000) } };
      case 3:
        return {
          method: "recordAccount",
          request: { accountId, fingerprint: dice.pick(["f1", "f2"]), claimedIncarnation: 1 },
        };
      case 4:
        if (dice.chance(0.15)) return { method: "markRestored", request: undefined as never };
        return { method: "createScope", request: { organizationId: first, scope: "project/a", parent: "nowhere" } };
      default: {
        const holder = dice.pick(holders);
        const cycles = dice
          .some(["Zone", "Record"], 0.6)
          .map((kind) => ({ kind, minuteMs: Math.floor(now / 60_000) * 60_000, count: 3 }));
        const freshness = dice
          .some(["servers", "zones"], 0.6)
          .map((collection) => ({ accountId, collection, completeAtMs: now - dice.below(99_000) }));
        const seen = dice.some([1, 2], 0.6).map((shard) => ({ shard, sinceMs: now - dice.below(99_000) }));
        const loopsSeen = seen.map((one) => ({ ...one, kind: "Zone", sinceMs: one.sinceMs + 1_000 }));
        return { method: "recordIdle", request: { holder, cycles, freshness, seen, loopsSeen } };
      }
    }
  }

  #actor(subject: SubjectRow): Actor {
    const lease = this.#tables.shards[subject.shard];
    const dice = this.#dice;
    const worker = operationActor(dice, this.#twin, subject.hold?.operationId);
    if (worker !== undefined) return worker;
    return {
      holder: dice.chance(0.97) ? (lease?.holder ?? "holder-1") : dice.pick(holders),
      shard: dice.chance(0.99) ? subject.shard : 5,
      epoch: (lease?.epoch ?? 0) - (dice.chance(0.03) ? 1 : 0),
    };
  }

  #ref({ id, organizationId, resourceUid, accountId, kind, name, shard }: SubjectRow) {
    return { id: this.#dice.chance(0.98) ? id : 5_000, organizationId, resourceUid, accountId, kind, name, shard };
  }

  #permit(subject: SubjectRow): Step {
    const dice = this.#dice;
    const both = { actor: this.#actor(subject), subject: this.#ref(subject) };
    if (dice.chance(0.25)) {
      const limit = { count: 4, percent: 50, atLeast: 1 };
      const limits = { account: limit, organization: { ...limit, count: 6 }, platform: { ...limit, count: 7 } };
      return {
        method: "reserveDeletes",
        request: { ...both, ungranted: dice.below(4), granted: dice.below(2), limits },
      };
    }
    const own = dice.chance(0.75);
    const usable = [...this.#tables.grants.values()].filter((grant) => (grant.subjectId === subject.id) === own);
    const permitId = subject.permit !== undefined && dice.chance(0.4) ? subject.permit.id : this.#id("permit");
    return {
      method: "permit",
      request: {
        ...both,
        permitId,
        inputs: this.#inputs(subject),
        deletes: dice.chance(0.5),
        forMs: dice.pick([1_000, 30_000]),
        changes: dice.some(["key-1", "key-2"], 0.6).map((key) => ({
          id: this.#id("change"),
          action: dice.pick(["create", "delete"] as const),
          key,
          externalId: undefined,
          trigger: "event",
          differences: [{ field: "/size", wanted: 2, seen: undefined }],
          declaredBy: [],
          verdicts: [],
          intendedAtMs: this.#twin.state.nowMs(),
        })),
        memory: this.#memory(),
        grantIds: dice.some(usable, 0.5).map((grant) => grant.id),
      },
    };
  }

  #inputs(subject: SubjectRow): PermitInputs {
    const dice = this.#dice;
    if (dice.chance(0.5)) return { check: "version", inputVersion: subject.inputVersion - (dice.chance(0.1) ? 1 : 0) };
    const resources = [...this.#tables.resources.values()].filter(
      (row) => row.organizationId === subject.organizationId,
    );
    const sources = dice
      .some(resources, 0.3)
      .map(({ uid, generation }) => ({ uid: dice.chance(0.97) ? uid : "gone", generation }));
    return { check: "sources", sources, policyVersion: subject.policyVersion + (dice.chance(0.05) ? 1 : 0) };
  }

  #outcome(subject: SubjectRow): Step {
    const dice = this.#dice;
    const changes = [...this.#tables.changes.values()].filter(
      (row) => row.subjectId === subject.id || dice.chance(0.02),
    );
    return {
      method: "recordOutcome",
      request: {
        actor: this.#actor(subject),
        subject: this.#ref(subject),
        permitId: dice.chance(0.95) ? (subject.permit?.id ?? "none") : "other",
        outcomes: dice.some(changes, 0.4).map((row) => ({
          changeId: row.record.id,
          result: dice.pick(["done", "failed", "ambiguous"] as const),
          externalId: dice.pick([undefined, "x1"]),
          answer: "200 OK",
          endedAtMs: this.#twin.state.nowMs(),
        })),
        memory: this.#memory(),
        claims: dice
          .some(["x1", "x2", "x3"], 0.3)
          .map((externalId) => ({ externalId, key: dice.pick(["key-1", "key-2"]) })),
        releases: dice.some(["x1", "x2", "x3"], 0.3),
      },
    };
  }

  #settle(subject: SubjectRow): Step {
    const dice = this.#dice;
    const { tables, nowMs } = this.#twin.state;
    const resource = tables.resources.get(subject.resourceUid);
    const leaving = resource?.deletion !== undefined || subject.detached !== undefined;
    const gone = dice.chance(leaving ? 0.5 : 0.02);
    const sources = [...tables.resources.values()].filter((row) => row.deletion !== undefined || dice.chance(0.05));
    return {
      method: "settle",
      request: {
        actor: this.#actor(subject),
        subject: this.#ref(subject),
        inputVersion: subject.inputVersion - (dice.chance(0.15) ? 1 : 0),
        policyVersion: dice.pick([undefined, subject.policyVersion, subject.policyVersion - 1]),
        memory: dice.chance(0.5) ? this.#memory() : undefined,
        observation: dice.chance(0.3)
          ? {
              hash: `hash-${dice.below(5)}`,
              completeness: "complete",
              observedAtMs: nowMs(),
              items: [],
              truncated: false,
            }
          : undefined,
        status: dice.chance(0.5)
          ? {
              observedGeneration: 1,
              conditions: [],
              differences: dice.below(3),
              owned: 1,
              failing: dice.chance(0.3),
              badSinceMs: dice.chance(0.4) ? nowMs() - dice.below(60_000) : undefined,
              lookedAtMs: nowMs(),
              ...(dice.chance(0.7) ? { site: dice.pick(["north", "south"]) } : {}),
            }
          : undefined,
        held: !gone && dice.chance(0.6) ? { digest: `held-${dice.below(9)}`, groups: this.#groups() } : undefined,
        verdicts: dice.chance(0.3) ? [this.#verdict()] : [],
        nextInMs: dice.pick([undefined, 1_000, 30_000]),
        dueSeen: dice.pick([undefined, { atMs: undefined }, { atMs: nowMs() }, { atMs: nowMs() - 1_000 }]),
        gone,
        forgetSources: dice.some(sources, 0.3).map(({ uid }) => uid),
        ...(gone ? {} : startsAgain(dice, subject, () => this.#id("again"))),
        nowOwned: dice.pick([undefined, 0, 3, 12]),
      },
    };
  }

  #groups(): readonly HeldGroup[] {
    const dice = this.#dice;
    return dice.some(["subject", "account", "organization", "platform"] as const, 0.4).map((level) => ({
      level,
      guard: dice.pick(["delete-budget", "mode", "account-identity"] as const),
      verdict: this.#verdict(),
      items: dice.some(["d1", "d2", "d3"], 0.5).map((digest) => ({
        key: `key-${digest}`,
        action: "delete",
        externalId: dice.pick([undefined, "account-1", "x2"]),
        digest,
        differences: [],
        reason: "over the budget",
      })),
    }));
  }

  #verdict(): Verdict {
    const used = this.#dice.below(9);
    return { guard: "delete-budget", answer: "hold", reason: `${used} used`, numbers: { used }, keys: [] };
  }

  #memory(): SubjectMemory {
    const dice = this.#dice;
    return {
      owned: [],
      findings: [],
      fights: dice.chance(0.3) ? [{ key: "k", field: "/f", wantedHash: "w", seenHash: "s", count: 2 }] : [],
      attempts: dice.below(4),
      flips: dice.chance(0.3) ? [this.#twin.state.nowMs()] : [],
      lastSpec: dice.pick([undefined, null, { text: 'quoted "text" \\ and 雪' }]),
    };
  }
}
