import type { Snapshot } from "../memory-store.ts";
import { OutsideAccount, type Thing } from "../outside/outside.ts";
import type { Crew } from "./crew.ts";
import type { Cast } from "./cast.ts";
import { startContest } from "./contest.ts";
import { startRareTrouble } from "./rare-chaos.ts";
import { strangerActs } from "./strangers.ts";

/** Everything that goes wrong around the production code, each at its own rate. */
export function startChaos(cast: Cast, crew: Crew): void {
  const { chaos } = cast.swarm;
  strike(cast, "crash", chaos.crash, () => crew.crashOne());
  strike(cast, "suspend", chaos.suspend, () => crew.suspendOne(chaos.freezesMonotonic));
  strike(cast, "clock", chaos.clockJump, () => crew.jumpOne(chaos.freezesMonotonic));
  strike(cast, "stranger", chaos.stranger, () => strangerActs(cast));
  strike(cast, "not found", chaos.notFound, () => trouble(cast, "notFound"));
  strike(cast, "read only", chaos.readOnly, () => trouble(cast, "readOnly"));
  strike(cast, "swap", chaos.swap, () => swap(cast));
  startRareTrouble(cast, crew, strike);
  startContest(cast, strike);
  if (chaos.restore) planRestore(cast, crew);
}

export type Strike = typeof strike;

function strike(cast: Cast, label: string, meanMs: number, act: () => void): void {
  if (meanMs === 0) return;
  const random = cast.random.fork(label);
  const again = () => {
    if (!cast.faulty) return;
    act();
    cast.world.schedule(-Math.log(1 - random.next()) * meanMs, label, again);
  };
  cast.world.schedule(-Math.log(1 - random.next()) * meanMs, label, again);
}

/** For a while everything is not found, or nothing may be written. */
function trouble(cast: Cast, what: "notFound" | "readOnly"): void {
  const connection = cast.random.pick([...cast.outside.connections.values()]);
  if (connection === undefined) return;
  connection[what] = true;
  if (what === "readOnly") cast.ledger.readOnlyAtMs.set(connection.own.id, cast.world.nowMs);
  cast.world.schedule(cast.random.int(200, 8_000), "trouble ends", () => {
    connection[what] = false;
  });
}

/** The credential now belongs to another account, with somebody else's things under the same names. */
function swap(cast: Cast): void {
  const { random, swarm, world, ledger } = cast;
  const connection = random.pick([...cast.outside.connections.values()]);
  if (connection === undefined || connection.swapped !== undefined || world.nowMs < ledger.steadyFromMs) return;
  const { own } = connection;
  // Whose account it is was settled when it was first used; a swap before that is simply another account.
  if (cast.store.state.tables.accounts.get(own.id)?.record.fingerprint !== own.fingerprint) return;
  const fingerprint = `somebody-else-${world.steps}`;
  const { id, organizationId } = own;
  const other = new OutsideAccount({ id, organizationId, settleMs: swarm.settleMs, fingerprint });
  for (const thing of own.things.values()) {
    const record = thing.id.startsWith(`${thing.group}/`);
    const copy: Thing = { ...thing, id: record ? thing.id : other.nextId(), madeFor: undefined, marker: "none" };
    if (random.chance(0.3)) other.put(copy, world.nowMs);
  }
  connection.swapped = other;
  ledger.swappedAtMs.set(own.id, world.nowMs);
  world.schedule(random.int(1_000, 30_000), "swap ends", () => {
    connection.swapped = undefined;
  });
}

/** Yesterday's backup comes back: everything stops, the database is old, and its processes start again. */
function planRestore(cast: Cast, crew: Crew): void {
  const random = cast.random.fork("restore");
  let backup: Snapshot | undefined;
  cast.world.schedule(random.int(5_000, 30_000), "backup", () => {
    backup = cast.store.snapshot();
  });
  cast.world.schedule(random.int(35_000, 90_000), "restore", () => {
    if (backup === undefined || !cast.faulty) return;
    crew.crashAll();
    const restored = backup;
    cast.world.schedule(cast.swarm.callTimeoutMs, "restore", () => {
      cast.store.restore(restored);
      // A backup may be older than the first use of an account: a swapped one would then pass for the right one.
      for (const connection of cast.outside.connections.values()) connection.swapped = undefined;
      cast.ledger.forgetSince();
      cast.intents.markRestored().catch(() => {});
    });
  });
}
