import { thrownMessage } from "../kernel/errors.ts";
import type { HeldShard } from "../kernel/leases.ts";
import { runOperation } from "../kernel/operation.ts";
import type { OperationEngine } from "../kernel/operation-scene.ts";
import type { DueOperation } from "../ports/operation-store.ts";
import type { WorkerSettings } from "./options.ts";

interface Turn {
  readonly due: DueOperation;
  readonly held: HeldShard;
  readonly hard: AbortController;
  readonly soft: AbortController;
  readonly ended: Promise<void>;
}

export interface TurnsOptions {
  readonly engine: OperationEngine;
  readonly holder: string;
  readonly settings: WorkerSettings;
  leaseRemainingMs(shard: number, epoch: number): number;
  /** A slot is free again. */
  freed(): void;
}

/** The operations that have their turn now, each under its own abort signals; at most so many in all and at one account. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #running = new Map<string, Turn>();
  readonly #perAccount = new Map<string, number>();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  get isFull(): boolean {
    return this.#running.size >= this.#options.settings.runningMax;
  }

  has(operationId: string): boolean {
    return this.#running.has(operationId);
  }

  hasRoomAt(due: DueOperation): boolean {
    const running = this.#perAccount.get(accountOf(due)) ?? 0;
    return !this.isFull && running < this.#options.settings.runningPerAccountMax;
  }

  begin(due: DueOperation, held: HeldShard): void {
    const account = accountOf(due);
    const [hard, soft] = [new AbortController(), new AbortController()];
    this.#perAccount.set(account, (this.#perAccount.get(account) ?? 0) + 1);
    const ended = this.#run(due, held, hard, soft).finally(() => {
      this.#running.delete(due.operationId);
      const left = (this.#perAccount.get(account) ?? 1) - 1;
      if (left === 0) this.#perAccount.delete(account);
      else this.#perAccount.set(account, left);
      this.#options.freed();
    });
    this.#running.set(due.operationId, { due, held, hard, soft, ended });
  }

  /** Nothing of the shard may go on: its lease is gone. */
  abort(shard: number, reason: string): void {
    for (const turn of this.#of(shard)) turn.hard.abort(new DOMException(reason, "AbortError"));
  }

  /** Lets the turns of a shard end after the step they are at; those that take too long are aborted. True once none is left. */
  async quiesce(shard: number): Promise<boolean> {
    const turns = this.#of(shard);
    for (const turn of turns) turn.soft.abort("handed over");
    const { clock } = this.#options.engine;
    const all = Promise.all(turns.map((turn) => turn.ended)).then(() => true);
    const over = new AbortController();
    const late = (ms: number) => clock.wait(ms, over.signal).then(() => false);
    try {
      if (await Promise.race([all, late(this.#options.settings.drainMs)])) return true;
      this.abort(shard, "its time to end is over");
      return await Promise.race([all, late(this.#options.settings.abandonAfterMs)]);
    } finally {
      over.abort("ended");
    }
  }

  #of(shard: number): readonly Turn[] {
    return [...this.#running.values()].filter((turn) => turn.held.shard === shard);
  }

  async #run(due: DueOperation, held: HeldShard, hard: AbortController, soft: AbortController): Promise<void> {
    const { engine, holder, settings } = this.#options;
    const { shard, epoch, quietSinceMonotonicMs } = held;
    const { organizationId, operationId } = due;
    const startedMs = engine.clock.monotonicMs();
    const over = new AbortController();
    const deadline = engine.clock.wait(settings.turnDeadlineMs, over.signal).then(async () => {
      if (over.signal.aborted) return "ended" as const;
      hard.abort(new DOMException(`The turn of operation ${operationId} took too long`, "AbortError"));
      await engine.clock.wait(settings.abandonAfterMs, over.signal);
      return "hung" as const;
    });
    try {
      const turn = runOperation(engine, {
        organizationId,
        operationId,
        actor: { holder, shard, epoch, operationId },
        quietSinceMonotonicMs,
        leaseRemainingMs: () => (hard.signal.aborted ? 0 : this.#options.leaseRemainingMs(shard, epoch)),
        signal: hard.signal,
        handOver: soft.signal,
      });
      turn.catch(() => undefined);
      const report = await Promise.race([turn, deadline]);
      if (report === "hung") settings.metrics.turnLost("hung");
      else if (report !== "ended")
        settings.metrics.turnEnded({
          ...report,
          waitedSeconds: Math.max(0, engine.clock.nowMs() - due.dueAtMs) / 1_000,
          durationSeconds: (engine.clock.monotonicMs() - startedMs) / 1_000,
        });
    } catch (thrown) {
      // What it had recorded stands, and the next turn goes on from there.
      settings.metrics.turnLost("thrown");
      const message = thrownMessage(thrown);
      engine.log.warn("worker.turn_failed", { operation: operationId, message });
    } finally {
      over.abort("ended");
    }
  }
}

function accountOf({ accountId, organizationId }: DueOperation): string {
  return accountId ?? `organization/${organizationId}`;
}
