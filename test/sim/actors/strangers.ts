import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { recordId } from "../outside/sim-api.ts";
import type { SubjectRow } from "../store/rows.ts";
import { type Cast, specOf } from "./cast.ts";

/** Somebody else who works in the same accounts, by hand. */
export function strangerActs(cast: Cast): void {
  const { random, outside, world } = cast;
  const connection = random.pick([...outside.connections.values()]);
  if (connection === undefined) return;
  const account = connection.own;
  // What somebody insists on, nobody else touches. What is about to go is touched more often than chance would have it.
  const things = [...account.things.values()].filter(({ id }) => !account.rivals.has(id));
  const doomed = random.chance(0.3) ? things.filter((one) => isUnwanted(cast, account, one)) : [];
  const thing = random.pick(doomed.length > 0 ? doomed : things);
  const draw = random.next();
  if (thing === undefined || draw < 0.2) return makeThing(cast, account);
  world.note(undefined, "stranger", Math.floor(draw * 10));
  const now = world.nowMs;
  if (draw < 0.45) account.put({ ...thing, value: `x${random.int(1, 3)}` }, now);
  else if (draw < 0.6) account.remove(thing.id, now);
  else if (draw < 0.7) mark(account, thing, "none", now);
  else if (draw < 0.78) mark(account, thing, { foreign: "another tool" }, now);
  else if (draw < 0.88) account.put({ ...thing, lock: "do not touch", lockedAtMs: now }, now);
  else account.put({ ...thing, lock: undefined, lockedAtMs: now }, now);
}

function isUnwanted(cast: Cast, account: OutsideAccount, thing: Thing): boolean {
  const subject = thing.madeFor === undefined ? undefined : cast.ledger.subject(thing.madeFor, account.id);
  const wanted = subject && cast.ledger.wanted.current(subject.id);
  return wanted !== undefined && !wanted.items.has(subject?.kind === "SimZone" ? thing.id : thing.key);
}

function mark(account: OutsideAccount, thing: Thing, marker: Thing["marker"], now: number): void {
  if (thing.marker !== "none" || marker !== "none") account.put({ ...thing, marker, markedAtMs: now }, now);
}

/** A thing nobody declared, or one under a name that somebody declared or will. */
function makeThing(cast: Cast, account: OutsideAccount): void {
  const { random, store, world } = cast;
  const { tables } = store.state;
  const subject = random.pick([...tables.subjects.values()].filter((row) => row.accountId === account.id));
  const resource = subject && tables.resources.get(subject.resourceUid);
  const spec = resource && specOf(resource);
  if (subject === undefined || resource === undefined || spec === undefined) return;
  const key = `s-${random.int(1, cast.swarm.itemsMax + 2)}`;
  const isZone = resource.kind === "SimZone";
  const id = isZone ? recordId(spec.group, key) : account.nextId();
  const exists = isZone ? account.things.has(id) : cast.swarm.uniqueKeys && account.find(spec.group, key) !== undefined;
  if (exists) return;
  // A record that comes back under an id we still have on file is, to everybody, the one we made.
  const owner = isZone ? ownerOf(cast, account.id, id) : undefined;
  if (owner?.permit !== undefined) return;
  world.note(undefined, "stranger makes");
  const thing: Thing = {
    id,
    group: spec.group,
    key,
    value: `x${random.int(1, 3)}`,
    size: 1,
    marker: "none",
    lock: undefined,
    madeFor: owner?.resourceUid,
    lockedAtMs: 0,
    markedAtMs: world.nowMs,
  };
  account.put(thing, world.nowMs);
}

function ownerOf(cast: Cast, accountId: string, id: string): SubjectRow | undefined {
  for (const row of cast.store.state.tables.subjects.values()) {
    if (row.accountId === accountId && row.memory.owned.some((item) => item.externalId === id)) return row;
  }
  return undefined;
}
