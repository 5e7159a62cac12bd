import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LogPoint } from "../ports/read-store.ts";
import type { Database } from "./database.ts";
import { sealedEntry } from "./read-store.ts";
import { type ChainCheck, chainHash, checkChain } from "./seal-chain.ts";
import {
  anyUnsealed,
  dropUnsealed,
  type HeadRow,
  moveHead,
  readHead,
  readSealed,
  readUnsealed,
  seal,
  type TenantEndRow,
  tenantEnds,
  tryLockSealer,
  type UnsealedRow,
} from "./sql/sealing.ts";
import { call } from "./statement.ts";

export interface SealerOptions {
  /** Of role `setpoint_admin`: the log is one for all tenants. */
  readonly administration: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How soon entries are found that nobody poked for. */
  readonly pollMs?: number;
  /** Called with the new end of the log, so that readers look. */
  readonly sealed?: (head: SealedHead) => void;
}

/** The end of the sealed log; the cursor of a reader is incarnation and position. */
export interface SealedHead {
  readonly incarnation: number;
  readonly position: number;
}

/** Entries that come this close together are sealed by one transaction. */
const gatherMs = 10;
/** Where more than so many came together, the next ones gather for longer: sealing costs by the transaction, not by the entry. */
const fewEntries = 10;
const busyGatherMs = 40;
/** How soon entries are found that nobody poked for, unless said otherwise. */
const usualPollMs = 1_000;
const batchSize = 1_000;

/**
 * Gives committed log entries their positions: dense, in batches, chained by hashes. Transactions append without one,
 * so nobody waits for strangers; an entry that commits late simply comes later. Any process may run a sealer; one works
 * at a time.
 */
export class Sealer {
  readonly #options: SealerOptions;
  #poke = new AbortController();
  #lastSealed = 0;

  constructor(options: SealerOptions) {
    this.#options = options;
  }

  /** Something was appended. Returns at once. */
  poke(): void {
    // Once, and with a reason of its own: without one, an error with a stack is made each time.
    if (!this.#poke.signal.aborted) this.#poke.abort("poked");
  }

  /** Seals until the signal fires. Errors are logged and tried again: the entries are safe where they are. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, pollMs = usualPollMs } = this.#options;
    while (!signal.aborted) {
      await clock.wait(pollMs, AbortSignal.any([signal, this.#poke.signal]));
      const isBusy = this.#lastSealed > fewEntries;
      if (this.#poke.signal.aborted) await clock.wait(isBusy ? busyGatherMs : gatherMs, signal);
      this.#poke = new AbortController();
      try {
        await this.sealAll();
      } catch (thrown) {
        log.warn("store.not-sealed", { message: thrownMessage(thrown) });
      }
    }
  }

  /** Seals everything that is committed now. Undefined when there was nothing or another sealer is at it. */
  async sealAll(): Promise<SealedHead | undefined> {
    const unsealed = await this.#options.administration.run("platform", call(anyUnsealed));
    if (unsealed.length === 0) return undefined;
    let head: SealedHead | undefined;
    for (let more = true; more; ) {
      const batch = await this.#sealBatch();
      this.#lastSealed = batch?.sealed ?? 0;
      head = batch?.head ?? head;
      more = batch?.sealed === batchSize;
    }
    if (head !== undefined) this.#options.sealed?.(head);
    return head;
  }

  /** Follows the whole chain from the last cut to its end. */
  async check(): Promise<ChainCheck> {
    const { administration } = this.#options;
    const [head] = await administration.run("platform", call(readHead));
    let from: LogPoint = { position: head?.checkpoint_position ?? 0, hash: head?.checkpoint_hash ?? "" };
    for (;;) {
      const rows = await administration.run("platform", call(readSealed, from.position, batchSize));
      const page = checkChain(from, rows.map(sealedEntry));
      if (!page.holds) return page;
      from = page.end;
      if (rows.length < batchSize) break;
    }
    const isWhole = from.position >= (head?.position ?? 0);
    return isWhole
      ? { holds: true, end: from }
      : { holds: false, position: from.position + 1, reason: `entries behind ${from.position} are missing` };
  }

  #sealBatch(): Promise<{ readonly sealed: number; readonly head: SealedHead } | undefined> {
    return this.#options.administration.transaction("platform", async (tx) => {
      const [[lock], [head], rows] = await Promise.all([
        tx.run(tryLockSealer),
        tx.run(readHead),
        tx.run(readUnsealed, batchSize),
      ]);
      if (lock?.locked !== true || head === undefined || rows.length === 0) return undefined;
      const tenants = [...new Set(rows.map((row) => row.organization_id))].filter((id) => id !== null);
      const entries = chain(head, await tx.run(tenantEnds, tenants), rows);
      const end = entries.at(-1) ?? head;
      await Promise.all([
        tx.run(seal, JSON.stringify(entries)),
        tx.run(
          dropUnsealed,
          rows.map(({ id }) => id),
        ),
        tx.run(moveHead, end.position, end.hash),
      ]);
      return { sealed: rows.length, head: { incarnation: head.incarnation, position: end.position } };
    });
  }
}

function chain(head: HeadRow, ends: readonly TenantEndRow[], rows: readonly UnsealedRow[]) {
  const { incarnation } = head;
  let { position, hash } = head;
  const lastOf = new Map<string | null, LogPoint>(ends.map((end) => [end.organization_id, end]));
  return rows.map(({ id, ...row }) => {
    position += 1;
    const last = lastOf.get(row.organization_id);
    const link = {
      previous_hash: hash,
      tenant_previous_position: last?.position ?? null,
      tenant_previous_hash: last?.hash ?? null,
    };
    hash = chainHash(sealedEntry({ ...row, ...link, position, incarnation, hash: "" }));
    lastOf.set(row.organization_id, { position, hash });
    return { id, position, incarnation, ...link, hash };
  });
}
