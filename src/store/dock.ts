import type { EngineStore } from "../ports/engine-store.ts";
import type { Database } from "./database.ts";
import { append } from "./log-entries.ts";
import { actorRow, lockLeases } from "./permits.ts";
import { priorityNumber } from "./priorities.ts";
import { askingToDock, claimPoolAccount, dockAccount, pickPoolAccount } from "./sql/pool.ts";
import { wakeDocked } from "./sql/wake.ts";

type Request = Parameters<EngineStore["dock"]>[0];
type Answer = Awaited<ReturnType<EngineStore["dock"]>>;

/**
 * Claims an account of the pool for the account that a subject lives at, in one transaction: whoever dies within it has claimed
 * nothing, and whoever comes after it finds the claim. What lives there is looked at again with its new credential.
 */
export function dock(database: Database, { actor, subject, location }: Request): Promise<Answer> {
  const { organizationId, accountId, id } = subject;
  if (accountId === undefined) return Promise.resolve({ result: "docked" });
  return database.transaction({ organizations: [organizationId] }, async (tx): Promise<Answer> => {
    const leases = lockLeases([{ actor }]);
    await tx.run(leases.statement, ...leases.values);
    const { holder, shard, epoch, operation_id } = actorRow(actor);
    const [asking] = await tx.run(askingToDock, id, holder, shard, epoch, operation_id ?? null);
    if (asking === undefined) return { result: "lost" };
    if (!asking.pooled || asking.docked !== null) return { result: "docked" };
    const [picked] = await tx.run(pickPoolAccount, asking.provider, location ?? null);
    if (picked === undefined) return { result: "none-free" };
    // Subjects before accounts, like everybody who takes both.
    await tx.run(wakeDocked, priorityNumber("event"), accountId, organizationId);
    const [docked] = await tx.run(dockAccount, organizationId, accountId, picked.name);
    // Another host of the organization was faster; what was picked stays free.
    if (docked === undefined) return { result: "docked" };
    await tx.run(claimPoolAccount, organizationId, accountId, picked.name);
    const data = {
      name: asking.name,
      provider: asking.provider,
      poolAccount: picked.name,
      for: nameOf(subject),
      operation: actor.operationId,
    };
    const by = asking.author === null ? { actor: "setpoint" } : { author: asking.author };
    await append(tx, { organizationId, type: "account.claimed", uid: accountId, ...by, data });
    return { result: "claimed", poolAccount: picked.name };
  });
}

function nameOf({ kind, name }: Request["subject"]): string {
  return `${kind}/${name}`;
}
