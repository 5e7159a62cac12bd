import type { Stage, Tenant } from "./stage.ts";

export interface Queues {
  readonly tenants: number;
  /** Operations of the largest tenant, and of each of the others. */
  readonly largest: number;
  readonly others: number;
}

/**
 * Everything is queued before the worker starts, most of it by one tenant and that first. A tenant's share: its operations and as
 * many of each other tenant. How much later than its share the last operation of a tenant ended, for the one that waited longest.
 */
export async function turns(stage: Stage, { tenants, largest, others }: Queues): Promise<number> {
  const counts = [largest, ...Array.from({ length: tenants - 1 }, () => others)];
  const queued: Tenant[] = [];
  for (const count of counts) queued.push(await stage.tenant(count));
  for (const tenant of queued) await stage.start(tenant, tenant.uids.length);
  await using worker = stage.worker();
  await stage.allEnded();
  await worker.drain();
  const order = await stage.endedOf(queued);
  const waits = queued.map(({ id, uids }) => {
    const share = queued.reduce((sum, other) => sum + Math.min(other.uids.length, uids.length), 0);
    return (order.lastIndexOf(id) + 1) / share;
  });
  return Math.max(...waits);
}
