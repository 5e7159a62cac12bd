import type { Mode, PauseLevel, Principal, ScopePolicy } from "../../../src/ports/records.ts";
import type { ResourceRow } from "../store/rows.ts";
import type { Action } from "./api-actor.ts";
import { type Cast, machine, people, projectOf, tenantIds } from "./cast.ts";
import { redeclare } from "./declare.ts";

/** What people do beside declaring: pauses, modes, approvals, holds, protection. */
export function governanceActions(
  cast: Cast,
  pick: (kinds: readonly string[]) => ResourceRow | undefined,
): readonly { readonly weight: number; readonly act: Action }[] {
  const { intents, rare } = cast.swarm;
  const actor = new GovernanceActor(cast, pick);
  return [
    { weight: intents.approvals ? 14 : 0, act: () => actor.decide() },
    { weight: intents.pauses ? 5 : 0, act: () => actor.pause() },
    { weight: intents.pauses ? 5 : 0, act: () => actor.endPause() },
    { weight: intents.modes ? 6 : 0, act: () => actor.changeMode() },
    { weight: intents.protection ? 3 : 0, act: () => actor.protect() },
    { weight: intents.fourEyes ? 1 : 0, act: () => actor.fourEyes() },
    { weight: rare.ceilings ? 4 : 0, act: () => actor.limit() },
    { weight: intents.holds ? 4 : 0, act: () => actor.hold() },
    { weight: 4, act: () => actor.reconcile() },
  ];
}

class GovernanceActor {
  readonly #cast: Cast;
  readonly #pick: (kinds: readonly string[]) => ResourceRow | undefined;
  #ids = 0;

  constructor(cast: Cast, pick: (kinds: readonly string[]) => ResourceRow | undefined) {
    this.#cast = cast;
    this.#pick = pick;
  }

  #author(): Principal {
    return this.#cast.random.choose<Principal>(machine, ...people, ...people);
  }

  /** Approves what is open, sometimes by a digest that was seen a while ago; rarely rejects. */
  decide(): Promise<unknown> | undefined {
    const { random, intents, store } = this.#cast;
    const open = [...store.state.tables.heldChanges.values()].filter((row) => row.state === "open");
    const held = random.pick(open);
    if (held === undefined) return undefined;
    const { organizationId, id: heldChangeId } = held;
    if (random.chance(0.05)) return intents.reject({ organizationId, heldChangeId, author: this.#author() });
    const digest = random.chance(0.1) ? "an-old-digest" : held.digest;
    const grantForMs = random.choose(2_000, 60_000, 3_600_000);
    return intents.approve({ organizationId, heldChangeId, digest, approver: this.#author(), grantForMs });
  }

  pause(): Promise<unknown> | undefined {
    const { random, swarm, intents } = this.#cast;
    const organizationId = random.pick(tenantIds(swarm)) ?? "";
    const resource = this.#pick(["SimSet", "SimZone"]);
    const own = resource !== undefined && resource.organizationId === organizationId;
    const scope = random.choose(
      "platform",
      `organization/${organizationId}`,
      projectOf(organizationId),
      own ? `resource/${resource.uid}` : "platform",
    );
    return intents.pause({
      id: `pause-${++this.#ids}`,
      organizationId: scope === "platform" ? undefined : organizationId,
      scope,
      level: random.choose<PauseLevel>("deletes", "writes", "all"),
      author: this.#author(),
      reason: "a look around",
      forMs: random.int(500, 30_000),
    });
  }

  endPause(): Promise<unknown> | undefined {
    const { random, intents, store } = this.#cast;
    const pause = random.pick([...store.state.tables.pauses.values()]);
    if (pause === undefined) return undefined;
    return intents.endPause({ id: pause.id, organizationId: pause.organizationId, author: this.#author() });
  }

  changeMode(): Promise<unknown> | undefined {
    const { random } = this.#cast;
    const mode = random.choose<Mode>("enforce", "enforce", "propose", "observe");
    const resource = this.#pick(["SimSet", "SimZone", "SimBox"]);
    if (resource !== undefined && random.chance(0.5)) {
      const accounts = this.#accountsOf(resource);
      const options = { uid: this.#cast.freshUid(), author: this.#author(), mode, accounts };
      return this.#cast.intents.declare(redeclare(resource, resource.spec, options));
    }
    return this.#setPolicy({ mode });
  }

  protect(): Promise<unknown> | undefined {
    const { random } = this.#cast;
    const resource = this.#pick(["SimSet", "SimZone", "SimBox"]);
    if (resource === undefined) return undefined;
    if (random.chance(0.3)) return this.#setPolicy({ protect: random.chance(0.4) });
    const options = {
      uid: this.#cast.freshUid(),
      author: this.#author(),
      protect: random.chance(0.5),
      accounts: this.#accountsOf(resource),
    };
    return this.#cast.intents.declare(redeclare(resource, resource.spec, options));
  }

  /** A ceiling on how much one cycle may change: none below may be wider. */
  limit(): Promise<unknown> | undefined {
    const changesPerCycle = this.#cast.random.choose(1, 2, 4);
    return this.#setPolicy({ ceiling: this.#cast.random.chance(0.7) ? { changesPerCycle } : undefined });
  }

  fourEyes(): Promise<unknown> | undefined {
    return this.#setPolicy({ fourEyes: this.#cast.random.chance(0.6) });
  }

  #setPolicy(change: Omit<ScopePolicy, "scope">): Promise<unknown> {
    const { random, swarm, store, intents } = this.#cast;
    const organizationId = random.pick(tenantIds(swarm)) ?? "";
    const scope = random.choose("platform", `organization/${organizationId}`, projectOf(organizationId));
    const before = store.state.tables.policies.get(scope) ?? { scope };
    return intents.setPolicy({
      organizationId: scope === "platform" ? undefined : organizationId,
      policy: { ...before, ...change },
      author: this.#author(),
    });
  }

  hold(): Promise<unknown> | undefined {
    const { random, intents, store } = this.#cast;
    const held = [...store.state.tables.subjects.values()].find((row) => row.hold !== undefined);
    if (held?.hold !== undefined && random.chance(0.6)) {
      const { organizationId, resourceUid: uid, hold } = held;
      return intents.releaseHold({ organizationId, uid, operationId: hold.operationId });
    }
    const resource = this.#pick(["SimSet", "SimZone"]);
    if (resource === undefined) return undefined;
    const { organizationId, uid } = resource;
    return intents.placeHold({ organizationId, uid, operationId: `operation-${++this.#ids}`, reason: "being rebuilt" });
  }

  reconcile(): Promise<unknown> | undefined {
    const resource = this.#pick(["SimSet", "SimZone"]);
    return resource && this.#cast.intents.reconcileNow({ organizationId: resource.organizationId, uid: resource.uid });
  }

  #accountsOf(resource: ResourceRow): readonly (string | undefined)[] {
    const rows = [...this.#cast.store.state.tables.subjects.values()];
    return rows
      .filter((row) => row.resourceUid === resource.uid && row.detached === undefined)
      .map((row) => row.accountId);
  }
}
