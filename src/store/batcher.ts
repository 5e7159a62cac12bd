import type { Clock } from "../ports/clock.ts";
import { EarlyEnd } from "../kernel/early-end.ts";
import { isAboutTheRequest } from "./errors.ts";

export interface BatcherOptions<Request, Answer> {
  readonly clock: Clock;
  /** Answers in the order of the requests, all in one transaction. */
  readonly run: (requests: readonly Request[]) => Promise<readonly Answer[]>;
  /** Two requests with one key never share a batch: the second must see what the first did. */
  readonly keyOf: (request: Request) => unknown;
  readonly maxSize?: number;
  /** How long a batch waits for company where the last one had some; a millisecond unless said otherwise. */
  readonly collectMs?: number;
  /** How many full batches may be under way at once; one unless said otherwise. */
  readonly fullAtOnce?: number;
  /** Requests that weigh more than 20,000 together do not share a batch; one alone may weigh what it will. */
  readonly weightOf?: (request: Request) => number;
  /** Answers handed out before the process turns to other things for a moment; unlimited unless said otherwise. */
  readonly answersAtOnce?: number;
}

interface Waiting<Request, Answer> {
  readonly request: Request;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** After this a batch counts as stuck (on a lock, say) and the next one no longer waits for it. */
const patienceMs = 20;
const maxInFlight = 4;
const usualMaxSize = 500;
const usualCollectMs = 1;
const maxWeight = 20_000;

/**
 * Turns concurrent requests into shared statements. What is asked while a batch is under way travels with the next
 * one. A lone request leaves at once; when the last batch had company, the next one waits a moment for its own.
 * A request that the server refuses does not fail its neighbours: then each is sent alone.
 */
export class Batcher<Request, Answer> {
  readonly #options: BatcherOptions<Request, Answer>;
  #waiting: Waiting<Request, Answer>[] = [];
  #collecting = false;
  #inFlight = 0;
  #stuck = 0;
  #lastSize = 1;

  constructor(options: BatcherOptions<Request, Answer>) {
    this.#options = options;
  }

  add(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#collecting || this.#waiting.length === 0 || !this.#mayLeave()) return;
    this.#collecting = true;
    void this.#collect();
  }

  /**
   * Whoever would fill a batch gains nothing by waiting for the one before. Were all to wait for each other under load, the
   * server would idle while the answers are written, and those who ask while the server works.
   */
  #mayLeave(): boolean {
    const { maxSize = usualMaxSize, fullAtOnce = 1 } = this.#options;
    const underWay = this.#inFlight - this.#stuck;
    const isFull = this.#waiting.length >= maxSize;
    return this.#inFlight < maxInFlight && (underWay <= 0 || (isFull && underWay < fullAtOnce));
  }

  async #collect(): Promise<void> {
    const { clock, collectMs = usualCollectMs } = this.#options;
    if (this.#lastSize > 1 && this.#waiting.length < this.#lastSize) await clock.wait(collectMs);
    else await Promise.resolve();
    this.#collecting = false;
    const batch = this.#takeBatch();
    this.#lastSize = batch.length;
    this.#inFlight += 1;
    const stuck = this.#watch();
    this.#next();
    try {
      await this.#send(batch);
    } finally {
      this.#inFlight -= 1;
      stuck[Symbol.dispose]();
      this.#next();
    }
  }

  #takeBatch(): readonly Waiting<Request, Answer>[] {
    const { keyOf, maxSize = usualMaxSize, weightOf = () => 1 } = this.#options;
    let weight = 0;
    const keys = new Set<unknown>();
    const batch: Waiting<Request, Answer>[] = [];
    const rest: Waiting<Request, Answer>[] = [];
    for (const waiting of this.#waiting) {
      const key = keyOf(waiting.request);
      const more = weightOf(waiting.request);
      const isFull = batch.length >= maxSize || (batch.length > 0 && weight + more > maxWeight);
      if (isFull || keys.has(key)) {
        rest.push(waiting);
        // What was asked later for the same thing must not overtake it.
        keys.add(key);
        continue;
      }
      weight += more;
      keys.add(key);
      batch.push(waiting);
    }
    this.#waiting = rest;
    return batch;
  }

  async #send(batch: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.run(batch.map((waiting) => waiting.request));
      // Not waited for: the next batch may travel meanwhile.
      void this.#answer(batch, answers);
    } catch (thrown) {
      if (batch.length > 1 && isAboutTheRequest(thrown)) {
        for (const waiting of batch) await this.#send([waiting]);
      } else {
        for (const waiting of batch) waiting.reject(thrown);
      }
    }
  }

  /** Whoever gets an answer goes on with it at once, so that hundreds at a time would keep everybody else waiting. */
  async #answer(batch: readonly Waiting<Request, Answer>[], answers: readonly Answer[]): Promise<void> {
    const { answersAtOnce = Number.POSITIVE_INFINITY, clock } = this.#options;
    for (const [index, waiting] of batch.entries()) {
      if (index > 0 && index % answersAtOnce === 0) await clock.wait(0);
      waiting.resolve(answers[index] as Answer);
    }
  }

  #watch(): Disposable {
    const over = new EarlyEnd();
    let counted = false;
    const watch = async () => {
      await this.#options.clock.wait(patienceMs, over);
      if (over.aborted) return;
      counted = true;
      this.#stuck += 1;
      this.#next();
    };
    void watch();
    return {
      [Symbol.dispose]: () => {
        over.end();
        if (counted) this.#stuck -= 1;
      },
    };
  }
}
