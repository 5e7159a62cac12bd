import { asError } from "./as-error.ts";
import { SeededRandom } from "./random.ts";

/** Whoever code runs for. What is dead never hears an answer; what is suspended hears it later. */
export interface Owner {
  readonly name: string;
  readonly number: number;
  alive: boolean;
  suspendedUntilMs: number;
}

/** Something that will happen: an answer, a timer, a message. */
export interface Happening {
  atMs: number;
  readonly tie: number;
  /** Who hears it; undefined when it reaches somebody outside the simulated processes. */
  readonly owner: Owner | undefined;
  /** Who sent it, while it is still on its way. */
  readonly sender: Owner | undefined;
  readonly label: string;
  run: (() => void) | undefined;
}

const labelHashes = new Map<string, number>();

/**
 * One single-threaded scheduler of everything that happens, in virtual time. Of what is ready at the same moment the seed
 * picks; latencies come from the seed as well. After each step the microtasks of the production code run to their end.
 */
export class World {
  nowMs: number;
  steps = 0;
  /** Set by whoever finds something wrong: the run stops at once. */
  failure: Error | undefined;
  /** Called with every step when somebody wants to read along. */
  onStep: ((line: string) => void) | undefined;
  readonly #ties: SeededRandom;
  #heap: Happening[] = [];
  #cancelled = 0;
  #wokeSomebody = true;
  #laneA = 0x811c9dc5;
  #laneB = 0x1b873593;

  constructor(seed: number, startMs: number) {
    this.nowMs = startMs;
    this.#ties = new SeededRandom(seed).fork("ties");
  }

  /** Both lanes of the rolling hash over (time, actor, event) of every step so far. */
  get digest(): string {
    return (this.#laneA >>> 0).toString(16).padStart(8, "0") + (this.#laneB >>> 0).toString(16).padStart(8, "0");
  }

  get pending(): number {
    return this.#heap.length - this.#cancelled;
  }

  schedule(
    delayMs: number,
    label: string,
    run: () => void,
    who: { readonly owner?: Owner | undefined; readonly sender?: Owner | undefined } = {},
  ): Happening {
    const atMs = this.nowMs + Math.max(0, Math.ceil(delayMs));
    const happening = { atMs, tie: this.#ties.bits(), owner: who.owner, sender: who.sender, label, run };
    this.#push(happening);
    return happening;
  }

  cancel(happening: Happening): void {
    if (happening.run === undefined) return;
    happening.run = undefined;
    this.#cancelled += 1;
    if (this.#cancelled > 256 && this.#cancelled * 2 > this.#heap.length) this.#compact();
  }

  /** What is still on its way from a process that just died may arrive or not. */
  dropMessagesOf(sender: Owner, dropped: () => boolean): void {
    for (const happening of this.#heap) {
      if (happening.sender === sender && happening.run !== undefined && dropped()) this.cancel(happening);
    }
  }

  /** Something observable happened within a step: it belongs to the trace. */
  note(owner: Owner | undefined, event: string, number = 0): void {
    this.#mix(owner?.number ?? 0, event, number);
    this.onStep?.(`${this.nowMs} ${owner?.name ?? "-"} ${event} ${number}`);
  }

  fail(failure: Error): void {
    this.failure ??= failure;
  }

  /** Runs step after step until told to stop; microtasks are drained between steps. */
  run(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const tick = () => {
        // A message that only reaches the store or a provider wakes no code of ours: nothing to drain after it.
        do {
          if (this.failure !== undefined || isDone() || !this.#step()) return resolve();
        } while (!this.#wokeSomebody);
        queueMicrotask(again);
      };
      // A tick queued from a microtask starts only when the microtask queue is empty: that is the drain.
      const again = () => process.nextTick(tick);
      process.nextTick(tick);
    });
  }

  #step(): boolean {
    for (;;) {
      const happening = this.#pop();
      if (happening === undefined) return false;
      const { run, owner } = happening;
      if (run === undefined) {
        this.#cancelled -= 1;
        continue;
      }
      if (owner !== undefined && !owner.alive) continue;
      if (owner !== undefined && owner.suspendedUntilMs > happening.atMs) {
        happening.atMs = owner.suspendedUntilMs;
        this.#push(happening);
        continue;
      }
      happening.run = undefined;
      if (happening.atMs > this.nowMs) this.nowMs = happening.atMs;
      this.steps += 1;
      this.#wokeSomebody = happening.sender === undefined;
      this.note(owner, happening.label, this.steps);
      try {
        run();
      } catch (thrown) {
        this.fail(asError(thrown));
      }
      return true;
    }
  }

  #mix(actor: number, event: string, number: number): void {
    let label = labelHashes.get(event);
    if (label === undefined) {
      label = 0x811c9dc5;
      for (let index = 0; index < event.length; index++) {
        label = Math.imul(label ^ event.charCodeAt(index), 0x01000193);
      }
      if (labelHashes.size < 4_096) labelHashes.set(event, label);
    }
    const time = (this.nowMs % 4_294_967_296) | 0;
    this.#laneA = Math.imul(this.#laneA ^ time, 0x01000193);
    this.#laneA = Math.imul(this.#laneA ^ label ^ actor, 0x01000193);
    this.#laneB = Math.imul(this.#laneB ^ label ^ (actor << 24), 0x85ebca6b);
    this.#laneB = Math.imul((this.#laneB >>> 13) ^ this.#laneB ^ time ^ number, 0xc2b2ae35);
  }

  #compact(): void {
    const live = this.#heap.filter((happening) => happening.run !== undefined);
    this.#heap = [];
    this.#cancelled = 0;
    for (const happening of live) this.#push(happening);
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(happening);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || isBefore(parent, happening)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = happening;
  }

  #pop(): Happening | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = heap[leftAt];
      if (left === undefined) break;
      const right = heap[leftAt + 1];
      const rightFirst = right !== undefined && isBefore(right, left);
      const child = rightFirst ? right : left;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = rightFirst ? leftAt + 1 : leftAt;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(left: Happening, right: Happening): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.tie <= right.tie);
}
