import { SHARDS } from "../kernel/hash.ts";
import { type SubjectGroup, SubjectGroups } from "./subject-groups.ts";

const FREE = 0xffffffff;
const NEVER = 0xffffffff;
const LOOKED = 1;
const FAILING = 2;

export interface Sweep {
  readonly loops: readonly { readonly shard: number; readonly kind: string; readonly sinceMs: number }[];
  /** By shard. */
  readonly seenSinceMs: readonly (number | undefined)[];
  readonly oldestMs: number | undefined;
}

/**
 * Every subject of the shards this process holds, as columns: id 8 bytes, group 4, last look 4, flags 1, and 8 for finding a row
 * by id. Rows keep their number for as long as the subject stays, so that the wheel and the queue can name them.
 */
export class SubjectTable {
  readonly groups: SubjectGroups;
  readonly #originMs: number;
  #ids: Float64Array;
  #groups: Uint32Array;
  /** Second of the last complete look, or of joining when there was none yet. For a free row: the next free row. */
  #lookedSecond: Uint32Array;
  #flags: Uint8Array;
  #firstFree = -1;
  #used = 0;
  #size = 0;
  /** Open addressing by id: row + 1, 0 for an empty place. At most half full. */
  #places: Int32Array;

  constructor(options: {
    readonly capacity: number;
    readonly nowMs: number;
    readonly everyMsOf: (kind: string) => number;
  }) {
    this.groups = new SubjectGroups(options.everyMsOf);
    this.#originMs = options.nowMs;
    this.#ids = new Float64Array(options.capacity);
    this.#groups = new Uint32Array(options.capacity).fill(FREE);
    this.#lookedSecond = new Uint32Array(options.capacity);
    this.#flags = new Uint8Array(options.capacity);
    this.#places = new Int32Array(placesFor(options.capacity));
  }

  get size(): number {
    return this.#size;
  }

  get capacity(): number {
    return this.#ids.length;
  }

  /** The row of a subject; -1 when it is not here. */
  find(id: number): number {
    let place = this.#placeOf(id);
    for (;;) {
      const row = (this.#places[place] as number) - 1;
      if (row < 0 || this.#ids[row] === id) return row;
      place = (place + 1) & (this.#places.length - 1);
    }
  }

  id(row: number): number {
    return this.#ids[row] as number;
  }

  group(row: number): SubjectGroup {
    return this.groups.get(this.#groups[row] as number);
  }

  /** Adds a subject that is not here yet and answers with its row. */
  add(
    entry: {
      readonly id: number;
      readonly organizationId: string;
      readonly accountId: string | undefined;
      readonly kind: string;
    },
    shard: number,
    nowMs: number,
  ): number {
    const row = this.#freeRow();
    this.#ids[row] = entry.id;
    this.#groups[row] = this.groups.join(entry, shard).index;
    this.#lookedSecond[row] = this.#second(nowMs);
    this.#flags[row] = 0;
    this.#size += 1;
    this.#insertPlace(entry.id, row);
    return row;
  }

  remove(row: number): void {
    this.#removePlace(this.id(row));
    this.groups.leave(this.#groups[row] as number);
    this.#groups[row] = FREE;
    this.#lookedSecond[row] = this.#firstFree + 1;
    this.#firstFree = row;
    this.#size -= 1;
  }

  /** A complete look began at that time and led to a verdict. */
  markLooked(row: number, startedMs: number): void {
    this.#lookedSecond[row] = this.#second(startedMs);
    this.#flags[row] = LOOKED;
  }

  /** Its stored status says that it fails: the age of its verdict counts from its own record, so the shard does not speak for it. */
  markFailing(row: number): void {
    this.#flags[row] = (this.#flags[row] as number) | FAILING;
  }

  *rowsOfShard(shard: number): Generator<number> {
    for (let row = 0; row < this.#used; row++) {
      const group = this.#groups[row] as number;
      if (group !== FREE && this.groups.shards[group] === shard) yield row;
    }
  }

  /**
   * One pass over the columns. For each loop in each shard the monotonic time since which every subject of it that does not fail was
   * looked at, left out while one was not; the same for each whole shard; and the time of the oldest look of all.
   */
  sweep(): Sweep {
    const oldest = new Uint32Array(this.groups.loopsEnd).fill(NEVER);
    const unseen = new Uint8Array(oldest.length);
    const { loops } = this.groups;
    // A million rows are passed every few seconds: locals, typed arrays and whole numbers only.
    const groups = this.#groups;
    const looked = this.#lookedSecond;
    const allFlags = this.#flags;
    let oldestSecond = NEVER;
    for (let row = 0, used = this.#used; row < used; row++) {
      const group = groups[row] as number;
      if (group === FREE) continue;
      const second = looked[row] as number;
      const flags = allFlags[row] as number;
      if (second < oldestSecond) oldestSecond = second;
      if ((flags & FAILING) !== 0) continue;
      const loop = loops[group] as number;
      if ((flags & LOOKED) === 0) unseen[loop] = 1;
      else if (second < (oldest[loop] as number)) oldest[loop] = second;
    }
    return { ...this.#seen(oldest, unseen), oldestMs: oldestSecond === NEVER ? undefined : this.#ms(oldestSecond) };
  }

  #seen(oldest: Uint32Array, unseen: Uint8Array): Pick<Sweep, "loops" | "seenSinceMs"> {
    const ofShard = new Uint32Array(SHARDS).fill(NEVER);
    const unseenOfShard = new Uint8Array(SHARDS);
    const loops: Sweep["loops"][number][] = [];
    for (const [loop, second] of oldest.entries()) {
      const { shard, kind } = this.groups.loopOf(loop);
      if (unseen[loop] === 1) unseenOfShard[shard] = 1;
      else if (second !== NEVER) {
        loops.push({ shard, kind, sinceMs: this.#ms(second) });
        ofShard[shard] = Math.min(ofShard[shard] as number, second);
      }
    }
    const seenSinceMs = Array.from(ofShard, (second, shard) =>
      unseenOfShard[shard] === 1 || second === NEVER ? undefined : this.#ms(second),
    );
    return { loops, seenSinceMs };
  }

  #second(nowMs: number): number {
    return Math.max(0, Math.floor((nowMs - this.#originMs) / 1_000));
  }

  #ms(second: number): number {
    return this.#originMs + second * 1_000;
  }

  #freeRow(): number {
    if (this.#firstFree >= 0) {
      const row = this.#firstFree;
      this.#firstFree = (this.#lookedSecond[row] as number) - 1;
      return row;
    }
    if (this.#used === this.capacity) this.#grow(Math.max(1_024, this.capacity * 2));
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(capacity: number): void {
    const ids = new Float64Array(capacity);
    ids.set(this.#ids);
    this.#ids = ids;
    const groups = new Uint32Array(capacity).fill(FREE);
    groups.set(this.#groups);
    this.#groups = groups;
    const looked = new Uint32Array(capacity);
    looked.set(this.#lookedSecond);
    this.#lookedSecond = looked;
    const flags = new Uint8Array(capacity);
    flags.set(this.#flags);
    this.#flags = flags;
    this.#places = new Int32Array(placesFor(capacity));
    for (let row = 0; row < this.#used; row++) if (this.#groups[row] !== FREE) this.#insertPlace(this.id(row), row);
  }

  /** Ids count up from 1; multiplying spreads neighbours, so that runs of ids do not become runs of places. */
  #placeOf(id: number): number {
    const mixed = Math.imul((id | 0) ^ Math.imul((id / 2 ** 32) | 0, 0x85ebca6b), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#places.length - 1);
  }

  #insertPlace(id: number, row: number): void {
    let place = this.#placeOf(id);
    while (this.#places[place] !== 0) place = (place + 1) & (this.#places.length - 1);
    this.#places[place] = row + 1;
  }

  /** Closes the gap by moving back what had been pushed past it, so that no tombstones pile up. */
  #removePlace(id: number): void {
    const mask = this.#places.length - 1;
    let gap = this.#placeOf(id);
    while (this.#ids[(this.#places[gap] as number) - 1] !== id) gap = (gap + 1) & mask;
    this.#places[gap] = 0;
    for (let place = (gap + 1) & mask; this.#places[place] !== 0; place = (place + 1) & mask) {
      const row = (this.#places[place] as number) - 1;
      const home = this.#placeOf(this.id(row));
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      this.#places[gap] = row + 1;
      this.#places[place] = 0;
      gap = place;
    }
  }
}

function placesFor(capacity: number): number {
  let places = 16;
  while (places < capacity * 2) places *= 2;
  return places;
}
