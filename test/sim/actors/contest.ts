import { boxesOf } from "../outside/sim-api.ts";
import type { SubjectRow } from "../store/rows.ts";
import { type Cast, specOf } from "./cast.ts";
import type { Strike } from "./chaos.ts";

/** Somebody who has his hands on the very things that operations make: he locks, marks and removes them, or was there first. */
export function startContest(cast: Cast, strike: Strike): void {
  const { workers, contested } = cast.swarm.operations;
  if (workers === 0) return;
  const random = cast.random.fork("contested");
  strike(cast, "contest", contested, () => {
    const boxes = [...cast.store.state.tables.subjects.values()].filter(({ kind }) => kind === "SimBox");
    const subject = random.pick(boxes);
    const draw = random.next();
    if (subject !== undefined) contest(cast, subject, draw);
  });
}

function contest({ store, outside, world }: Cast, subject: SubjectRow, draw: number): void {
  const resource = store.state.tables.resources.get(subject.resourceUid);
  const group = resource && specOf(resource)?.group;
  const connection = outside.connections.get(subject.accountId ?? "");
  if (group === undefined || connection === undefined || connection.swapped !== undefined) return;
  const { own: account } = connection;
  const thing = account.find(boxesOf(group), "box");
  const now = world.nowMs;
  world.note(undefined, "contest", Math.floor(draw * 10));
  if (thing === undefined) {
    // Where a call may still be under way, two would come to stand under one name, and nobody could tell them apart by it.
    if (draw > 0.3 || subject.permit !== undefined) return;
    const named = { id: account.nextId(), group: boxesOf(group), key: "box", value: "box", size: 1 };
    account.put({ ...named, marker: "none", lock: undefined, madeFor: undefined, lockedAtMs: 0, markedAtMs: now }, now);
  } else if (draw < 0.3) account.put({ ...thing, lock: "do not touch", lockedAtMs: now }, now);
  else if (draw < 0.5) account.put({ ...thing, lock: undefined, lockedAtMs: now }, now);
  else if (draw < 0.75) account.put({ ...thing, marker: { foreign: "another tool" }, markedAtMs: now }, now);
  else if (draw < 0.85) account.put({ ...thing, marker: "none", markedAtMs: now }, now);
  else account.remove(thing.id, now);
}
