import { z } from "zod";
import type { CatalogueType, CloudCatalogue, CloudRoom } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";

/** A list that is longer is left out as a whole: half of it would make the other half unknown. */
const mostNames = 500;

const names = z.array(z.string());
const typesShape = z.object({
  names,
  architecture: z.string(),
  locations: names,
  until: z.string().exactOptional(),
});
const imagesShape = z.object({ names, architecture: z.string().exactOptional() });
const limitShape = z.object({ most: z.number(), used: z.number(), mostOfOne: z.number() });

/** What the loop of an account keeps of the provider's lists. Types and images stand together that are offered alike. */
const catalogueShape = z.object({
  at: z.string(),
  account: z.string().exactOptional(),
  locations: names.exactOptional(),
  types: z.array(typesShape).exactOptional(),
  images: z.array(imagesShape).exactOptional(),
});
const roomShape = z.object({ account: z.string(), cores: limitShape, memoryGigabytes: limitShape });

export type KeptCatalogue = z.output<typeof catalogueShape>;

/** In one order, whatever order the provider lists things in: the same catalogue is the same report. */
export function keptCatalogue(catalogue: CloudCatalogue, at: string): KeptCatalogue {
  const { account, locations, types, images } = catalogue;
  return {
    at,
    ...(account === undefined ? {} : { account }),
    ...(isKeepable(locations) ? { locations: sorted(locations) } : {}),
    ...(isKeepable(types) ? { types: alikeTypes(types) } : {}),
    ...(isKeepable(images) ? { images: alikeImages(images) } : {}),
  };
}

export function keptRoom({ account, cores, memoryGigabytes }: CloudRoom): z.output<typeof roomShape> {
  return { account, cores, memoryGigabytes };
}

function isKeepable<Entry>(list: readonly Entry[] | undefined): list is readonly Entry[] {
  return list !== undefined && list.length <= mostNames;
}

function alikeTypes(types: readonly CatalogueType[]): z.output<typeof typesShape>[] {
  const groups = new Map<string, z.output<typeof typesShape>>();
  for (const { name, architecture, offers } of types) {
    const ends = offers.length === 0 ? [undefined] : [...new Set(offers.map(({ until }) => until))];
    for (const until of ends) {
      const locations = sorted(offers.filter((offer) => offer.until === until).map(({ location }) => location));
      const how = { architecture, locations, ...(until === undefined ? {} : { until }) };
      addName(groups, JSON.stringify(how), name, how);
    }
  }
  return inOrder(groups);
}

function alikeImages(images: NonNullable<CloudCatalogue["images"]>): z.output<typeof imagesShape>[] {
  const groups = new Map<string, z.output<typeof imagesShape>>();
  for (const { name, architecture } of images)
    addName(groups, architecture ?? "", name, architecture === undefined ? {} : { architecture });
  return inOrder(groups);
}

function addName<Group extends { names: string[] }>(
  groups: Map<string, Group>,
  key: string,
  name: string,
  how: Omit<Group, "names">,
): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, { ...how, names: [name] } as Group);
  else known.names.push(name);
}

function inOrder<Group extends { names: string[] }>(groups: ReadonlyMap<string, Group>): Group[] {
  return [...groups.entries()]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, group]) => ({ ...group, names: sorted(group.names) }));
}

function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].toSorted();
}

/** Of a whole report: the catalogue, where it is one. */
export function catalogueIn(report: Json | undefined): KeptCatalogue | undefined {
  return z.object({ catalogue: catalogueShape }).safeParse(report).data?.catalogue;
}

export function roomIn(report: Json | undefined): CloudRoom | undefined {
  return z.object({ room: roomShape }).safeParse(report).data?.room;
}
