import type { Batcher } from "./batcher.ts";
import type { Transaction } from "./database.ts";

/** Runs a transaction of the requests' organization. */
export type Write = <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>;

/** One batcher for each organization that somebody asks something of; it goes with the last who asks. */
export class OrganizationLanes<Request, Answer> {
  readonly #batcherOf: (write: Write) => Batcher<Request, Answer>;
  readonly #lanes = new Map<string, { readonly batcher: Batcher<Request, Answer>; asking: number }>();

  constructor(batcherOf: (write: Write) => Batcher<Request, Answer>) {
    this.#batcherOf = batcherOf;
  }

  async ask(organizationId: string, request: Request, write: Write): Promise<Answer> {
    let lane = this.#lanes.get(organizationId);
    if (lane === undefined) {
      lane = { batcher: this.#batcherOf(write), asking: 0 };
      this.#lanes.set(organizationId, lane);
    }
    lane.asking += 1;
    try {
      return await lane.batcher.add(request);
    } finally {
      lane.asking -= 1;
      if (lane.asking === 0) this.#lanes.delete(organizationId);
    }
  }
}
