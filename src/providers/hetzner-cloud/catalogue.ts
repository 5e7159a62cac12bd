import { z } from "zod";
import type { CloudServerType } from "../../ports/compute.ts";
import type { HetznerClient } from "./client.ts";
import { type Family, findByName, matching } from "./listing.ts";

const typeShape = z.object({
  id: z.int(),
  name: z.string(),
  cores: z.number(),
  memory: z.number(),
  disk: z.number(),
  architecture: z.string(),
  deprecation: z.object({ unavailable_after: z.string() }).nullish(),
  locations: z
    .array(z.object({ name: z.string(), deprecation: z.object({ unavailable_after: z.string() }).nullish() }))
    .nullish(),
  prices: z.array(z.object({ location: z.string(), price_monthly: z.object({ net: z.string() }) })),
});

/** Where it has a price it exists; where it is listed without an end it can be ordered. */
export const serverTypes: Family<z.output<typeof typeShape>, CloudServerType> = {
  collection: "server_types",
  one: "server type",
  key: "server_type",
  shape: typeShape,
  sorted: false,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    cores: raw.cores,
    memoryGigabytes: raw.memory,
    diskGigabytes: raw.disk,
    architecture: raw.architecture,
    offers: offersOf(raw),
  }),
};

function offersOf(raw: z.output<typeof typeShape>): CloudServerType["offers"] {
  const prices = new Map(raw.prices.map(({ location, price_monthly: { net } }) => [location, net]));
  const listed = new Map((raw.locations ?? []).map((location) => [location.name, !location.deprecation]));
  const names = [...new Set([...prices.keys(), ...listed.keys()])].sort();
  return names.map((location) => ({
    location,
    available: raw.locations ? (listed.get(location) ?? false) : !raw.deprecation,
    monthly: prices.get(location),
  }));
}

const imageShape = z.object({ id: z.int(), name: z.string().nullable(), type: z.string(), architecture: z.string() });
export const images: Family<z.output<typeof imageShape>, { readonly id: string; readonly name: string }> = {
  collection: "images",
  one: "image",
  key: "image",
  shape: imageShape,
  sorted: true,
  entry: ({ id, name }) => ({ id: String(id), name: name ?? String(id) }),
};

const locationShape = z.object({ id: z.int(), name: z.string(), network_zone: z.string() });
export const locations: Family<
  z.output<typeof locationShape>,
  { readonly id: string; readonly name: string; readonly zone: string }
> = {
  collection: "locations",
  one: "location",
  key: "location",
  shape: locationShape,
  sorted: true,
  entry: ({ id, name, network_zone: zone }) => ({ id: String(id), name, zone }),
};

export function findServerType(
  client: HetznerClient,
  name: string,
  signal: AbortSignal,
): Promise<CloudServerType | "absent"> {
  return findByName(client, serverTypes, name, signal);
}

/** Public images have a name; a snapshot has none, and is named by its id. */
export async function hasImage(
  client: HetznerClient,
  image: { readonly name: string; readonly architecture: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { name, architecture } = image;
  if (/^\d+$/.test(name)) {
    const call = { path: ["images", name], what: `the read of image ${name}` };
    const found = await client.find(z.object({ image: imageShape }), call, signal);
    return found !== "absent" && found.image.architecture === architecture;
  }
  const filter = { query: { name, architecture }, what: `the read of image ${name}` };
  return (await matching(client, images, filter, signal)).some((found) => found.name === name);
}
