import { z } from "zod";
import type { CloudOther } from "../../ports/compute.ts";
import { labelsShape, markOf, otherLabels } from "./labels.ts";
import type { Family } from "./listing.ts";

const otherShape = z.object({
  id: z.int(),
  name: z.string(),
  labels: labelsShape,
  protection: z.object({ delete: z.boolean() }).nullish(),
  /** Of a primary IP. */
  assignee_id: z.int().nullish(),
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
      ...(typeof raw.assignee_id === "number" ? { ofServer: true } : {}),
    }),
  };
}

export const floatingIps = family("floating_ips", "floating_ip", "floating IP");
export const primaryIps = family("primary_ips", "primary_ip", "primary IP");
export const placementGroups = family("placement_groups", "placement_group", "placement group");
export const certificates = family("certificates", "certificate", "certificate");

const snapshotShape = otherShape.omit({ name: true }).extend({ description: z.string().nullish() });

/** Images of one's own. Backups are left out: they belong to their server and go with it. */
export const snapshots: Family<z.output<typeof snapshotShape>, CloudOther> = {
  collection: "images",
  one: "snapshot",
  key: "image",
  shape: snapshotShape,
  sorted: true,
  only: { type: "snapshot" },
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.description || `snapshot ${raw.id}`,
    labels: otherLabels(raw.labels),
    mark: markOf(raw.labels),
    ...(raw.protection?.delete ? { lockedBy: "delete protection of the snapshot" } : {}),
    type: "snapshot",
  }),
};
