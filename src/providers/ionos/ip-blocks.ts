import { z } from "zod";
import { RetryableError } from "../../kernel/errors.ts";
import type { CloudOther } from "../../ports/compute.ts";
import type { Lister } from "../../ports/provider.ts";
import type { IonosClient } from "./client.ts";
import { listLabels } from "./datacenters.ts";
import { nameAndMark } from "./names.ts";

const pageSize = 1_000;
const blocksShape = z.object({
  offset: z.int().nullish(),
  items: z.array(z.object({ id: z.string(), properties: z.object({ name: z.string().nullish() }) })),
});

/** Reserved addresses of the contract. They are in no data center and cost money, so they are in the inventory. */
export function ipBlockLister(client: IonosClient): Lister<CloudOther> {
  return async (token, signal) => {
    const offset = Number(token ?? "0");
    const query = { depth: "1", offset: String(offset), limit: String(pageSize) };
    const what = `the list of IP blocks from ${offset}`;
    const page = await client.get(blocksShape, { path: ["ipblocks"], query, what }, signal);
    if ((page.offset ?? offset) !== offset || page.items.length > pageSize)
      throw new RetryableError("PROVIDER_UNAVAILABLE", `IONOS answered ${what} with another page`, {
        ambiguous: false,
      });
    const labels = page.items.length === 0 ? new Map<string, never>() : await listLabels(client, signal);
    return {
      entries: page.items.map(({ id, properties }) => ({
        id,
        ...nameAndMark(properties.name ?? id),
        labels: labels.get(id) ?? {},
        type: "IP block",
      })),
      ids: page.items.map(({ id }) => id),
      next: page.items.length === pageSize ? String(offset + pageSize) : undefined,
    };
  };
}
