import { z } from "zod";
import type { CloudVolume, ComputeWriter } from "../../ports/compute.ts";
import { act } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsShape, markOf, otherLabels } from "./labels.ts";
import { type Family, findByName, notReady } from "./listing.ts";

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
    attachVolume: async (id, name, signal) => {
      const volume = await requireVolume(client, name, signal);
      if (volume.server === id) return;
      const body = { server: Number(id), automount: false };
      const what = `the attachment of volume ${name} to server ${id}`;
      const path = ["volumes", volume.id, "actions", "attach"];
      await act(client, { method: "POST", path, body, what }, signal, ["volume_already_attached"]);
    },
    detachVolume: async (id, name, signal) => {
      const volume = await requireVolume(client, name, signal);
      if (volume.server !== id) return;
      const what = `the detachment of volume ${name} from server ${id}`;
      await act(client, { method: "POST", path: ["volumes", volume.id, "actions", "detach"], what }, signal);
    },
  };
}

/** Volumes are people's own: any of that name will do. */
async function requireVolume(client: HetznerClient, name: string, signal: AbortSignal): Promise<CloudVolume> {
  const found = await findByName(client, volumes, name, signal);
  if (found !== "absent") return found;
  const message = `There is no volume ${name} in the project: make it, or take it out of the spec`;
  throw notReady(message);
}
