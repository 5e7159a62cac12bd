import type { PermitRequest } from "../ports/engine-store.ts";
import type { Verdict } from "../ports/records.ts";
import { verdict } from "./facts.ts";

/**
 * What the store writes into the record when it refuses a permit to somebody without the lease. Any other refusal is
 * recorded by whoever was refused, when it settles; one that lost its lease may not write, and would leave no trace.
 */
export function fencedVerdict({ actor, changes }: Pick<PermitRequest, "actor" | "changes">): Verdict {
  const reason = `${actor.holder} no longer leases shard ${actor.shard} at epoch ${actor.epoch}: what it had decided was not done`;
  const numbers = { shard: actor.shard, epoch: actor.epoch, changes: changes.length };
  return verdict("permit", "refuse", reason, { numbers, keys: changes.map(({ key }) => key) });
}
