import { z } from "zod";
import type { CloudOther } from "../../ports/compute.ts";
import type { Lister } from "../../ports/provider.ts";
import type { IonosClient } from "./client.ts";

const snapshotsShape = z.object({
  items: z.array(z.object({ id: z.string(), properties: z.object({ name: z.string().nullish() }) })),
});

/** Snapshots of the contract's volumes, all in one answer. They are nobody's but whose who made them: none is marked. */
export function snapshotLister(client: IonosClient): Lister<CloudOther> {
  return async (_token, signal) => {
    const call = { path: ["snapshots"], query: { depth: "1" }, what: "the list of snapshots" };
    const { items } = await client.get(snapshotsShape, call, signal);
    return {
      entries: items.map(({ id, properties }) => ({
        id,
        name: properties.name || `snapshot ${id}`,
        labels: {},
        mark: "none" as const,
        type: "snapshot",
      })),
      ids: items.map(({ id }) => id),
    };
  };
}
