const TICK_MS = 20;

/** 4,096 ticks of 20 ms are 82 s; a coarser slot is one turn of the finer ring, so moving one down stays a millisecond's work. */
const FINE = 4_096;
const MIDDLE = 512;
const COARSE = 256;
const MIDDLE_TURN = FINE * MIDDLE;
const FARTHEST_TICKS = MIDDLE_TURN * (COARSE - 1);

/** Heads of the lists: the slots of the three rings, then the list of rows that are due. Rows follow after them. */
const MIDDLE_HEADS = FINE;
const COARSE_HEADS = MIDDLE_HEADS + MIDDLE;
const DUE = COARSE_HEADS + COARSE;
const HEADS = DUE + 1;

/**
 * One timer per row of the subject table, in typed arrays: 12 bytes a row, no object, no allocation after growth.
 * Hierarchical and hashed: setting, moving and cancelling a timer cost the same however many there are. Timers never fire early
 * and at most one tick late. Times are monotonic milliseconds; due ticks are kept modulo 2^32, which is enough because no timer
 * lies further ahead than the coarse ring reaches.
 */
export class TimerWheel {
  readonly #originMs: number;
  #tick = 0;
  #size = 0;
  /** No slot needs work before this tick; undefined when it has to be found out. Finding it means passing the empty slots. */
  #idleUntil: number | undefined;
  /** Links of circular lists; a row that links to itself has no timer. */
  #next: Int32Array;
  #previous: Int32Array;
  #due: Uint32Array;

  constructor(options: { readonly capacity: number; readonly nowMs: number }) {
    this.#originMs = options.nowMs;
    this.#next = selfLinked(HEADS + options.capacity);
    this.#previous = selfLinked(HEADS + options.capacity);
    this.#due = new Uint32Array(options.capacity);
  }

  /** Rows with a timer, those that are due and not yet taken included. */
  get size(): number {
    return this.#size;
  }

  /** Makes room for more rows. Existing timers stay. */
  grow(capacity: number): void {
    if (capacity <= this.#due.length) return;
    this.#next = regrown(this.#next, selfLinked(HEADS + capacity));
    this.#previous = regrown(this.#previous, selfLinked(HEADS + capacity));
    const due = new Uint32Array(capacity);
    due.set(this.#due);
    this.#due = due;
  }

  isSet(row: number): boolean {
    return this.#next[HEADS + row] !== HEADS + row;
  }

  /** Sets the row's timer, replacing the one it has. */
  set(row: number, dueMs: number): void {
    if (this.isSet(row)) this.#unlink(HEADS + row);
    else this.#size += 1;
    const tick = Math.ceil((dueMs - this.#originMs) / TICK_MS);
    const bounded = Math.min(Math.max(tick, this.#tick), this.#tick + FARTHEST_TICKS);
    this.#due[row] = bounded % 2 ** 32;
    this.#place(row, bounded);
  }

  cancel(row: number): void {
    if (!this.isSet(row)) return;
    this.#unlink(HEADS + row);
    this.#size -= 1;
  }

  /** Collects what became due; `takeDue` hands it out. Empty stretches are skipped, so that a long sleep costs no more than what it left. */
  advance(nowMs: number): void {
    const target = Math.floor((nowMs - this.#originMs) / TICK_MS);
    for (let next = this.#nextTick(); next <= target; next = this.#nextTick()) {
      this.#tick = next;
      this.#idleUntil = undefined;
      if (next % FINE === 0) this.#turn();
      this.#spliceToDue(next % FINE);
    }
    this.#tick = Math.max(this.#tick, target);
  }

  /** The next due row, its timer taken off; -1 when there is none. Rows not taken stay due. */
  takeDue(): number {
    const node = this.#next[DUE] as number;
    if (node === DUE) return -1;
    this.#unlink(node);
    this.#size -= 1;
    return node - HEADS;
  }

  /** When to advance next: never later than the next timer, and undefined without timers. */
  nextMs(): number | undefined {
    if (this.#size === 0) return undefined;
    const tick = this.#isEmpty(DUE) ? this.#nextTick() : this.#tick;
    return this.#originMs + tick * TICK_MS;
  }

  /**
   * The tick of the next timer that is not due if it lies in the fine ring, else the tick at which the slot it lies in moves down.
   * Infinity when there is none.
   */
  #nextTick(): number {
    this.#idleUntil ??= this.#findNextTick();
    return this.#idleUntil;
  }

  #findNextTick(): number {
    const turn = Math.floor(this.#tick / FINE);
    const soon = this.#firstIn(this.#tick + 1, (turn + 1) * FINE);
    if (soon !== undefined) return soon;
    for (let next = turn + 1; next < turn + MIDDLE; next++) {
      if (!this.#isEmpty(MIDDLE_HEADS + (next % MIDDLE)) || this.#turnsCoarse(next)) return next * FINE;
      // The fine ring reaches into the next turn, up to where it stands now.
      const wrapped = next === turn + 1 ? this.#firstIn(next * FINE, this.#tick + FINE) : undefined;
      if (wrapped !== undefined) return wrapped;
    }
    const coarse = Math.floor(turn / MIDDLE);
    for (let next = coarse + 1; next < coarse + COARSE; next++) {
      if (!this.#isEmpty(COARSE_HEADS + (next % COARSE))) return next * MIDDLE_TURN;
    }
    return Number.POSITIVE_INFINITY;
  }

  #firstIn(fromTick: number, untilTick: number): number | undefined {
    for (let tick = fromTick; tick < untilTick; tick++) if (!this.#isEmpty(tick % FINE)) return tick;
    return undefined;
  }

  #turnsCoarse(turn: number): boolean {
    return turn % MIDDLE === 0 && !this.#isEmpty(COARSE_HEADS + (Math.floor(turn / MIDDLE) % COARSE));
  }

  #place(row: number, tick: number): void {
    const ahead = tick - this.#tick;
    const turn = Math.floor(tick / FINE);
    if (ahead <= 0) this.#append(DUE, HEADS + row);
    else if (ahead < FINE) this.#put(tick % FINE, row, tick);
    else if (turn - Math.floor(this.#tick / FINE) < MIDDLE) this.#put(MIDDLE_HEADS + (turn % MIDDLE), row, turn * FINE);
    else {
      const coarse = Math.floor(tick / MIDDLE_TURN);
      this.#put(COARSE_HEADS + (coarse % COARSE), row, coarse * MIDDLE_TURN);
    }
  }

  #put(head: number, row: number, workTick: number): void {
    this.#append(head, HEADS + row);
    if (this.#idleUntil !== undefined && workTick < this.#idleUntil) this.#idleUntil = workTick;
  }

  /** The fine ring begins a new turn: what is due within it moves down, from the coarse ring first when that one turned too. */
  #turn(): void {
    const turns = Math.floor(this.#tick / FINE);
    if (turns % MIDDLE === 0) this.#scatter(COARSE_HEADS + (Math.floor(turns / MIDDLE) % COARSE));
    this.#scatter(MIDDLE_HEADS + (turns % MIDDLE));
  }

  #scatter(head: number): void {
    let node = this.#next[head] as number;
    this.#next[head] = head;
    this.#previous[head] = head;
    while (node !== head) {
      const following = this.#next[node] as number;
      this.#place(node - HEADS, this.#tickOf(node - HEADS));
      node = following;
    }
  }

  /** The full tick from its low 32 bits: the one nearest to now. */
  #tickOf(row: number): number {
    return this.#tick + (((this.#due[row] as number) - (this.#tick % 2 ** 32)) | 0);
  }

  #isEmpty(head: number): boolean {
    return this.#next[head] === head;
  }

  #append(head: number, node: number): void {
    const last = this.#previous[head] as number;
    this.#next[last] = node;
    this.#previous[node] = last;
    this.#next[node] = head;
    this.#previous[head] = node;
  }

  #unlink(node: number): void {
    const next = this.#next[node] as number;
    const previous = this.#previous[node] as number;
    this.#next[previous] = next;
    this.#previous[next] = previous;
    this.#next[node] = node;
    this.#previous[node] = node;
  }

  #spliceToDue(head: number): void {
    if (this.#isEmpty(head)) return;
    const first = this.#next[head] as number;
    const last = this.#previous[head] as number;
    const dueLast = this.#previous[DUE] as number;
    this.#next[dueLast] = first;
    this.#previous[first] = dueLast;
    this.#next[last] = DUE;
    this.#previous[DUE] = last;
    this.#next[head] = head;
    this.#previous[head] = head;
  }
}

function selfLinked(length: number): Int32Array {
  const links = new Int32Array(length);
  for (let index = 0; index < length; index++) links[index] = index;
  return links;
}

function regrown(old: Int32Array, larger: Int32Array): Int32Array {
  larger.set(old);
  return larger;
}
