import { z } from "zod";
import { RetryableError } from "../../kernel/errors.ts";
import type { CloudVolume } from "../../ports/compute.ts";
import type { IonosClient } from "./client.ts";
import { type InsideFamily, insideLister } from "./datacenters.ts";
import { idOf, nameAndMark } from "./names.ts";
import { everyEntry } from "./pages.ts";

const volumeShape = z.object({
  id: z.string(),
  properties: z.object({ name: z.string().nullish(), size: z.number(), bootServer: z.string().nullish() }),
});

export const volumes: InsideFamily<z.output<typeof volumeShape>, CloudVolume> = {
  segment: "volumes",
  depth: 1,
  pageSize: 1_000,
  shape: volumeShape,
  labelled: true,
  entry: ({ id, properties }, datacenter, labels) => ({
    id: idOf(datacenter.id, id),
    ...nameAndMark(properties.name ?? id),
    labels: labels.get(id) ?? {},
    server: properties.bootServer ? idOf(datacenter.id, properties.bootServer) : undefined,
    sizeGigabytes: properties.size,
    location: datacenter.name,
  }),
};

export async function volumeByName(
  client: IonosClient,
  name: string,
  signal: AbortSignal,
): Promise<CloudVolume | "absent"> {
  const list = { lister: insideLister(client, volumes), what: "the list of volumes" };
  const all = await everyEntry(client, list, signal);
  // The disk that a server was made with is called like it, and is nobody's to attach elsewhere.
  return all.find((volume) => volume.name === name && volume.mark === "none") ?? "absent";
}

export async function requireVolume(client: IonosClient, name: string, signal: AbortSignal): Promise<string> {
  const found = await volumeByName(client, name, signal);
  if (found !== "absent") return found.id;
  const message = `There is no volume ${name} in the contract: make it, or take it out of the spec`;
  throw new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false, afterMs: 30_000 });
}
