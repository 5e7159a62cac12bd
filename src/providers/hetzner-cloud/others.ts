import { z } from "zod";
import type { CloudOther } from "../../ports/compute.ts";
import { labelsShape, markOf, otherLabels } from "./labels.ts";
import type { Family } from "./listing.ts";

const otherShape = z.object({
  id: z.int(),
  name: z.string(),
  labels: labelsShape,
  protection: z.object({ delete: z.boolean() }).nullish(),
});

/** Families that no kind changes yet: they are in the inventory, so that nothing in the account goes unseen. */
function family(collection: string, key: string, one: string): Family<z.output<typeof otherShape>, CloudOther> {
  return {
    collection,
    one,
    key,
    shape: otherShape,
    sorted: true,
    entry: (raw) => ({
      id: String(raw.id),
      name: raw.name,
      labels: otherLabels(raw.labels),
      mark: markOf(raw.labels),
      ...(raw.protection?.delete ? { lockedBy: `delete protection of the ${one}` } : {}),
      type: one,
    }),
  };
}

export const floatingIps = family("floating_ips", "floating_ip", "floating IP");
export const primaryIps = family("primary_ips", "primary_ip", "primary IP");
export const placementGroups = family("placement_groups", "placement_group", "placement group");
export const certificates = family("certificates", "certificate", "certificate");
