import { RetryableError, TerminalError } from "../kernel/errors.ts";
import type { EngineStore } from "../ports/engine-store.ts";

/**
 * The store as one cycle sees it. An aborted cycle gets no further permit, and may still record what it did. One that was given up
 * may wake again after its subject has begun another cycle: it can read nothing and write nothing any more.
 */
export class CycleStore implements EngineStore {
  readonly #store: EngineStore;
  readonly #subjectId: number;
  readonly #signal: AbortSignal;
  #closed = false;
  #loadedVersion: number | undefined;

  constructor(store: EngineStore, options: { readonly subjectId: number; readonly signal: AbortSignal }) {
    this.#store = store;
    this.#subjectId = options.subjectId;
    this.#signal = options.signal;
  }

  /** The version of the inputs this cycle decided from, once it has loaded them. */
  get loadedVersion(): number | undefined {
    return this.#loadedVersion;
  }

  close(): void {
    this.#closed = true;
  }

  takeShards(request: Parameters<EngineStore["takeShards"]>[0]): ReturnType<EngineStore["takeShards"]> {
    return this.#store.takeShards(request);
  }
  renewShards(request: Parameters<EngineStore["renewShards"]>[0]): ReturnType<EngineStore["renewShards"]> {
    return this.#store.renewShards(request);
  }
  releaseShards(request: Parameters<EngineStore["releaseShards"]>[0]): ReturnType<EngineStore["releaseShards"]> {
    return this.#store.releaseShards(request);
  }
  shardHolders(): ReturnType<EngineStore["shardHolders"]> {
    return this.#store.shardHolders();
  }
  listSubjects(request: Parameters<EngineStore["listSubjects"]>[0]): ReturnType<EngineStore["listSubjects"]> {
    return this.#store.listSubjects(request);
  }
  dueSubjects(request: Parameters<EngineStore["dueSubjects"]>[0]): ReturnType<EngineStore["dueSubjects"]> {
    return this.#store.dueSubjects(request);
  }
  async load(...[subjectId, organizationId]: Parameters<EngineStore["load"]>): ReturnType<EngineStore["load"]> {
    this.#refuseIfClosed();
    const input = await this.#store.load(subjectId, organizationId);
    if (subjectId === this.#subjectId) this.#loadedVersion = input?.inputVersion;
    return input;
  }
  accountHealth(request: Parameters<EngineStore["accountHealth"]>[0]): ReturnType<EngineStore["accountHealth"]> {
    return this.#store.accountHealth(request);
  }
  async reserveDeletes(
    request: Parameters<EngineStore["reserveDeletes"]>[0],
  ): ReturnType<EngineStore["reserveDeletes"]> {
    this.#refuseIfClosed();
    return await this.#store.reserveDeletes(request);
  }
  async permit(request: Parameters<EngineStore["permit"]>[0]): ReturnType<EngineStore["permit"]> {
    this.#refuseIfAborted();
    const answer = await this.#store.permit(request);
    // The answer may have taken long. An unused permit runs out by itself; a call that starts now could outlive the lease.
    this.#refuseIfAborted();
    return answer;
  }
  async recordOutcome(request: Parameters<EngineStore["recordOutcome"]>[0]): ReturnType<EngineStore["recordOutcome"]> {
    this.#refuseIfClosed();
    return await this.#store.recordOutcome(request);
  }
  async settle(settlement: Parameters<EngineStore["settle"]>[0]): ReturnType<EngineStore["settle"]> {
    this.#refuseIfClosed();
    return await this.#store.settle(settlement);
  }
  takeCalls(request: Parameters<EngineStore["takeCalls"]>[0]): ReturnType<EngineStore["takeCalls"]> {
    return this.#store.takeCalls(request);
  }
  blockCalls(request: Parameters<EngineStore["blockCalls"]>[0]): ReturnType<EngineStore["blockCalls"]> {
    return this.#store.blockCalls(request);
  }
  recordIdle(request: Parameters<EngineStore["recordIdle"]>[0]): ReturnType<EngineStore["recordIdle"]> {
    return this.#store.recordIdle(request);
  }
  recordedThings(request: Parameters<EngineStore["recordedThings"]>[0]): ReturnType<EngineStore["recordedThings"]> {
    return this.#store.recordedThings(request);
  }
  async recordAccount(request: Parameters<EngineStore["recordAccount"]>[0]): ReturnType<EngineStore["recordAccount"]> {
    this.#refuseIfClosed();
    await this.#store.recordAccount(request);
  }
  async dock(request: Parameters<EngineStore["dock"]>[0]): ReturnType<EngineStore["dock"]> {
    this.#refuseIfClosed();
    return await this.#store.dock(request);
  }

  #refuseIfAborted(): void {
    if (this.#signal.aborted)
      throw new RetryableError(
        "TIMED_OUT",
        `The cycle of subject ${this.#subjectId} was ended before it could write; its next one decides anew`,
        { ambiguous: false },
      );
  }

  #refuseIfClosed(): void {
    if (this.#closed)
      throw new TerminalError(
        "TIMED_OUT",
        `The cycle of subject ${this.#subjectId} was given up and may not go on; its next one decides anew`,
      );
  }
}
