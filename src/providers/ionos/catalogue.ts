import { z } from "zod";
import type { CloudCatalogue } from "../../ports/compute.ts";
import type { IonosClient } from "./client.ts";
import { listDatacenters } from "./datacenters.ts";

const imagesShape = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      properties: z.object({ name: z.string().nullish(), imageAliases: z.array(z.string()).nullish() }),
    }),
  ),
});

async function listImages(client: IonosClient, what: string, signal: AbortSignal) {
  return (await client.get(imagesShape, { path: ["images"], query: { depth: "1" }, what }, signal)).items;
}

/** Aliases are the names of images; what has an id alone is somebody's own. What a type may be is said by its name. */
export async function readCatalogue(
  client: IonosClient,
  account: string,
  signal: AbortSignal,
): Promise<CloudCatalogue> {
  const images = await listImages(client, "the list of images", signal);
  const aliases = images.flatMap(({ properties }) => properties.imageAliases ?? []);
  const datacenters = await listDatacenters(client, signal);
  return {
    account,
    images: [...new Set(aliases)].map((name) => ({ name })),
    locations: [...new Set(datacenters.map(({ name }) => name))],
  };
}

/** By alias, such as debian:12, or by the id of an image or a snapshot of one's own. */
export async function hasImage(client: IonosClient, name: string, signal: AbortSignal): Promise<boolean> {
  const images = await listImages(client, `the read of image ${name}`, signal);
  return images.some(({ id, properties }) => id === name || properties.imageAliases?.includes(name) === true);
}
