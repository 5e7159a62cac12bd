export interface Row {
  readonly id: number | string;
}

type Id = Row["id"];
type Key = string | number;

/** What a row can be found by beside its id. A row may have several keys of one index, or none. */
export type Indexes<R extends Row> = Readonly<Record<string, (row: R) => readonly Key[]>>;

export interface ReadTable<R extends Row> {
  readonly size: number;
  get(id: Id): R | undefined;
  /** In the order the rows were made. */
  all(): readonly R[];
  where(index: string, key: Key): readonly R[];
}

/** The world's time, in one place: whoever moves it moves it for every table. */
export interface WorldTime {
  nowMs: number;
}

interface Change<R> {
  readonly atMs: number;
  readonly id: Id;
  readonly before: R | undefined;
}

/** How far back a table can be looked at. */
export const tableMemoryMs = 15 * 60_000;

/** Rows that are replaced and never changed in place, with indexes, and with what they were a while ago. */
export class Table<R extends Row> implements ReadTable<R> {
  readonly #rows = new Map<Id, R>();
  readonly #found = new Map<string, Map<Key, Set<Id>>>();
  readonly #indexes: Indexes<R>;
  readonly #time: WorldTime;
  #changes: Change<R>[] = [];
  #forgotten = 0;
  #all: readonly R[] | undefined;

  constructor(time: WorldTime, indexes: Indexes<R> = {}) {
    this.#time = time;
    this.#indexes = indexes;
    for (const index of Object.keys(indexes)) this.#found.set(index, new Map());
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: Id): R | undefined {
    return this.#rows.get(id);
  }

  all(): readonly R[] {
    this.#all ??= [...this.#rows.values()];
    return this.#all;
  }

  where(index: string, key: Key): readonly R[] {
    const ids = this.#indexOf(index).get(key);
    return ids === undefined ? [] : [...ids].flatMap((id) => this.#rows.get(id) ?? []);
  }

  put(row: R): R {
    this.#replace(row.id, row);
    return row;
  }

  remove(id: Id): void {
    if (this.#rows.has(id)) this.#replace(id, undefined);
  }

  /** The same table as it was then, as far as it remembers. */
  asOf(atMs: number): ReadTable<R> {
    const then = new Map<Id, R | undefined>();
    for (let at = this.#changes.length - 1; at >= this.#forgotten; at -= 1) {
      const change = this.#changes[at];
      if (change === undefined || change.atMs <= atMs) break;
      then.set(change.id, change.before);
    }
    return then.size === 0 ? this : new PastTable(this, then, this.#indexes);
  }

  #indexOf(index: string): Map<Key, Set<Id>> {
    const found = this.#found.get(index);
    if (found === undefined) throw new Error(`The table has no index "${index}".`);
    return found;
  }

  #replace(id: Id, row: R | undefined): void {
    const before = this.#rows.get(id);
    this.#remember({ atMs: this.#time.nowMs, id, before });
    if (row === undefined) this.#rows.delete(id);
    else this.#rows.set(id, row);
    this.#all = undefined;
    for (const [index, keysOf] of Object.entries(this.#indexes)) {
      const found = this.#indexOf(index);
      const [left, right] = [before === undefined ? [] : keysOf(before), row === undefined ? [] : keysOf(row)];
      // Whoever stays under a key keeps its place: a change must not move it to the end of a list.
      for (const key of left) if (!right.includes(key)) found.get(key)?.delete(id);
      for (const key of right) {
        const ids = found.get(key);
        if (ids === undefined) found.set(key, new Set([id]));
        else ids.add(id);
      }
    }
  }

  #remember(change: Change<R>): void {
    this.#changes.push(change);
    const oldestMs = change.atMs - tableMemoryMs;
    while ((this.#changes[this.#forgotten]?.atMs ?? change.atMs) < oldestMs) this.#forgotten += 1;
    if (this.#forgotten < 1_000 || this.#forgotten < this.#changes.length / 2) return;
    this.#changes = this.#changes.slice(this.#forgotten);
    this.#forgotten = 0;
  }
}

/** A table seen through what some of its rows were before. */
class PastTable<R extends Row> implements ReadTable<R> {
  readonly #now: ReadTable<R>;
  readonly #then: ReadonlyMap<Id, R | undefined>;
  readonly #indexes: Indexes<R>;
  #all: readonly R[] | undefined;

  constructor(now: ReadTable<R>, then: ReadonlyMap<Id, R | undefined>, indexes: Indexes<R>) {
    this.#now = now;
    this.#then = then;
    this.#indexes = indexes;
  }

  get size(): number {
    return this.all().length;
  }

  get(id: Id): R | undefined {
    return this.#then.has(id) ? this.#then.get(id) : this.#now.get(id);
  }

  all(): readonly R[] {
    this.#all ??= [...this.#now.all().filter((row) => !this.#then.has(row.id)), ...this.#rowsOfThen()].sort(byId);
    return this.#all;
  }

  where(index: string, key: Key): readonly R[] {
    const unchanged = this.#now.where(index, key).filter((row) => !this.#then.has(row.id));
    const changed = this.#rowsOfThen().filter((row) => this.#indexes[index]?.(row).includes(key) === true);
    return [...unchanged, ...changed].sort(byId);
  }

  #rowsOfThen(): R[] {
    return [...this.#then.values()].filter((row) => row !== undefined);
  }
}

function byId(left: Row, right: Row): number {
  if (typeof left.id === "number" && typeof right.id === "number") return left.id - right.id;
  return String(left.id) < String(right.id) ? -1 : 1;
}
