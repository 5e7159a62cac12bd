import { z } from "zod";
import type { CloudVolume, ComputeWriter } from "../../ports/compute.ts";
import { act } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsShape, markOf, otherLabels } from "./labels.ts";
import type { Family } from "./listing.ts";

const volumeShape = z.object({
  id: z.int(),
  name: z.string(),
  size: z.number(),
  server: z.int().nullable(),
  location: z.object({ name: z.string() }),
  labels: labelsShape,
  protection: z.object({ delete: z.boolean() }),
});

export const volumes: Family<z.output<typeof volumeShape>, CloudVolume> = {
  collection: "volumes",
  one: "volume",
  key: "volume",
  shape: volumeShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels),
    mark: markOf(raw.labels),
    ...(raw.protection.delete ? { lockedBy: "delete protection of the volume" } : {}),
    server: raw.server === null ? undefined : String(raw.server),
    sizeGigabytes: raw.size,
    location: raw.location.name,
  }),
};

export function volumeWriter(client: HetznerClient): Pick<ComputeWriter, "attachVolume" | "detachVolume"> {
  return {
    attachVolume: (id, volume, signal) => {
      const body = { server: Number(id), automount: false };
      const what = `the attachment of volume ${volume} to server ${id}`;
      return act(client, { method: "POST", path: ["volumes", volume, "actions", "attach"], body, what }, signal, [
        "volume_already_attached",
      ]);
    },
    detachVolume: (id, volume, signal) => {
      const what = `the detachment of volume ${volume} from server ${id}`;
      return act(client, { method: "POST", path: ["volumes", volume, "actions", "detach"], what }, signal, [
        "not_found",
      ]);
    },
  };
}
