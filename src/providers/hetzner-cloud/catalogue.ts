import { z } from "zod";
import { EngineError, RetryableError } from "../../kernel/errors.ts";
import { readInventory } from "../../kernel/inventory.ts";
import { epochMsOf } from "../../kernel/iso-time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CatalogueImage, CloudCatalogue, CloudServerType } from "../../ports/compute.ts";
import type { HetznerClient } from "./client.ts";
import type { Lister } from "../../ports/provider.ts";
import { type Family, findByName, listerOf, matching } from "./listing.ts";
import { priceText } from "./price-text.ts";

/** One that is deprecated can still be had until it is gone. */
const allOf = { include_deprecated: "true" };

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
  prices: z.array(z.object({ location: z.string(), price_monthly: z.object({ net: priceText }) })),
});

/** Where it has a price it exists; where it is listed it can be ordered, until its end if that was announced. */
export function serverTypesAt(clock: Pick<Clock, "nowMs">): Family<z.output<typeof typeShape>, CloudServerType> {
  return {
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
      offers: offersOf(raw, clock.nowMs()),
    }),
  };
}

function offersOf(raw: z.output<typeof typeShape>, nowMs: number): CloudServerType["offers"] {
  const prices = new Map(raw.prices.map(({ location, price_monthly: { net } }) => [location, net]));
  const everywhere = endOf(raw.deprecation);
  const ends = new Map(
    raw.locations
      ? raw.locations.map(({ name, deprecation }) => [name, endOf(deprecation)])
      : [...prices.keys()].map((name) => [name, everywhere]),
  );
  const names = [...new Set([...prices.keys(), ...ends.keys()])].sort();
  return names.map((location) => {
    const until = ends.get(location);
    const available = ends.has(location) && (until === undefined || epochMsOf(until) > nowMs);
    return { location, available, monthly: prices.get(location), ...(until === undefined ? {} : { until }) };
  });
}

/** In UTC, as everywhere here. An end that cannot be read is none: the provider itself refuses what is over. */
function endOf(deprecation: { readonly unavailable_after: string } | null | undefined): string | undefined {
  const end = deprecation?.unavailable_after.replace(/[+-]00:00$/, "Z");
  return end !== undefined && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(end) ? end : undefined;
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

/** A name is one image for each architecture. */
const namedImages: Family<z.output<typeof imageShape>, CatalogueImage> = {
  ...images,
  entry: ({ id, name, architecture }) => ({ name: name ?? String(id), architecture }),
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
  return findByName(client, serverTypesAt(client.clock), name, signal);
}

/** Hetzner's own images alone: snapshots and backups are named by their ids, and there may be thousands. */
export async function readCatalogue(
  client: HetznerClient,
  account: string | undefined,
  signal: AbortSignal,
): Promise<CloudCatalogue> {
  const whole = async <Entry>(lister: Lister<Entry>): Promise<readonly Entry[]> => {
    const { inventory, error } = await readInventory(client.clock, lister, signal);
    if (inventory.completeness === "complete") return inventory.entries as readonly Entry[];
    const message = `The catalogue of Hetzner Cloud did not come whole: ${inventory.proof}`;
    throw error instanceof EngineError
      ? error
      : new RetryableError("PROVIDER_UNAVAILABLE", message, { ambiguous: false });
  };
  const types = await whole(listerOf(client, serverTypesAt(client.clock)));
  const places = await whole(listerOf(client, locations));
  const system = await whole(listerOf(client, namedImages, { ...allOf, type: "system" }));
  const apps = await whole(listerOf(client, namedImages, { ...allOf, type: "app" }));
  return {
    account,
    types: types.map(({ name, architecture, offers }) => ({
      name,
      architecture,
      offers: offers.filter(({ available, until }) => available || until !== undefined).map(offerOf),
    })),
    locations: places.map(({ name }) => name),
    images: [...system, ...apps],
  };
}

function offerOf({ location, until }: CloudServerType["offers"][number]) {
  return until === undefined ? { location } : { location, until };
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
  const filter = { query: { ...allOf, name, architecture }, what: `the read of image ${name}` };
  return (await matching(client, images, filter, signal)).some((found) => found.name === name);
}
