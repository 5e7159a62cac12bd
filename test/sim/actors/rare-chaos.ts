import type { Json } from "../../../src/ports/json.ts";
import type { Connection } from "../outside/outside.ts";
import type { SubjectRow } from "../store/rows.ts";
import { type Cast, ignoring, machine, specOf } from "./cast.ts";
import type { Strike } from "./chaos.ts";
import type { Crew } from "./crew.ts";
import { redeclare } from "./declare.ts";

/** The rare kinds of trouble, each at its own rate. */
export function startRareTrouble(cast: Cast, crew: Crew, strike: Strike): void {
  const { rare } = cast.swarm;
  strike(cast, "cut off", rare.partition, () => crew.cutOffOne());
  strike(cast, "rival", rare.rival, () => rival(cast));
  strike(cast, "vanish", rare.vanish, () => vanish(cast));
  strike(cast, "usurper", rare.sentinel, () => usurp(cast));
  strike(cast, "relapse", rare.relapse, () => relapse(cast, crew));
}

function pickConnection(cast: Cast): Connection | undefined {
  return cast.random.pick([...cast.outside.connections.values()]);
}

/** Somebody insists on his own value of a thing of ours and changes it back whenever it is written. */
function rival(cast: Cast): void {
  const { random, world } = cast;
  const account = pickConnection(cast)?.own;
  const thing = random.pick([...(account?.things.values() ?? [])].filter(({ madeFor }) => madeFor !== undefined));
  if (account === undefined || thing === undefined || account.rivals.has(thing.id)) return;
  const value = `r${random.int(1, 2)}`;
  world.note(undefined, "rival");
  account.put({ ...thing, value }, world.nowMs);
  account.rivals.set(thing.id, { value, sinceMs: world.nowMs });
  world.schedule(random.int(10_000, 60_000), "rival gives up", () => void account.rivals.delete(thing.id));
}

/** Everything of ours in an account is gone at once. */
function vanish(cast: Cast): void {
  const { world } = cast;
  const account = pickConnection(cast)?.own;
  for (const thing of Array.from(account?.things.values() ?? [])) {
    if (thing.madeFor !== undefined) account?.remove(thing.id, world.nowMs);
  }
  world.note(undefined, "vanish");
}

/** Another installation, or a newer incarnation of this one, puts its sentinel into the account for a while. */
function usurp(cast: Cast): void {
  const { random, world, ledger, store } = cast;
  const connection = pickConnection(cast);
  if (connection === undefined || ledger.usurpedAtMs.has(connection.own.id)) return;
  const { own } = connection;
  const { sentinel } = own;
  if (sentinel === undefined) return;
  const { id, incarnation } = store.state.tables.installation;
  own.sentinel = random.chance(0.5)
    ? { installationId: "another-installation", incarnation: 1 }
    : { installationId: id, incarnation: incarnation + 1 };
  ledger.usurpedAtMs.set(own.id, world.nowMs);
  world.schedule(random.int(15_000, 60_000), "usurper leaves", () => {
    if (ledger.usurpedAtMs.delete(own.id)) own.sentinel = sentinel;
  });
}

/**
 * Whoever has just read an account is cut off until his lease has run out, and takes it again at once; or his machine
 * stands still for less than that. Either way he comes back to work that removes something, with a listing from before.
 */
function relapse(cast: Cast, crew: Crew): void {
  const { random, store, swarm, world } = cast;
  const { shards, subjects } = store.state.tables;
  const subject = random.pick([...subjects.values()].filter(({ kind }) => kind === "SimSet"));
  if (subject === undefined) return;
  const { organizationId, resourceUid: uid } = subject;
  ignoring(cast.intents.reconcileNow({ organizationId, uid }), () => cast.poke());
  world.schedule(random.int(100, 800), "relapse", () => {
    const process = crew.holding(shards[subject.shard]?.holder);
    if (swarm.chaos.freezesMonotonic && random.chance(0.75)) process?.suspend(random.int(600, 3_000), true);
    else process?.cutOff(swarm.rare.leaseMs + random.int(0, 1_000));
    resize(cast, subject);
  });
}

/** One of its items takes another size, for which it must be replaced. */
function resize(cast: Cast, subject: SubjectRow): void {
  const resource = cast.store.state.tables.resources.get(subject.resourceUid);
  const spec = resource && specOf(resource);
  const [key, item] = cast.random.pick(Object.entries(spec?.items ?? {})) ?? [];
  if (resource === undefined || key === undefined || item === undefined) return;
  const items = { ...spec?.items, [key]: { ...item, size: 3 - item.size } };
  const options = { uid: cast.freshUid(), author: machine };
  ignoring(cast.intents.declare(redeclare(resource, { ...spec, items } as unknown as Json, options)), () =>
    cast.poke(),
  );
}
