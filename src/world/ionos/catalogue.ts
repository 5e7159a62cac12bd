import { type Call, type IonosRoute, ok } from "./call.ts";
import { invalid, missing } from "./errors.ts";

const locations = [
  ["de/fra", "frankfurt"],
  ["de/txl", "berlin"],
  ["gb/lhr", "london"],
  ["es/vit", "vitoria"],
  ["us/las", "lasvegas"],
  ["us/ewr", "newark"],
] as const;

export const locationIds: ReadonlySet<string> = new Set(locations.map(([id]) => id));

const aliases = ["debian:12", "debian:latest", "ubuntu:22.04", "ubuntu:24.04", "ubuntu:latest", "rocky:9"];
export const cpuArchitecture = [{ cpuFamily: "INTEL_ICELAKE", maxCores: 62, maxRam: 245_760, vendor: "GenuineIntel" }];

function locationBody({ base }: Call, [id, name]: readonly [string, string], depth: number): unknown {
  const properties = { name, features: ["SSD", "SSD_STORAGE_ZONING"], imageAliases: aliases, cpuArchitecture };
  const reference = { id, type: "location", href: `${base}/locations/${id}` };
  return depth < 0 ? reference : { ...reference, properties };
}

interface IonosImage {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly aliases: readonly string[];
}

/** Images have an id of their own in every location. */
export const images: readonly IonosImage[] = locations.flatMap(([location], place) =>
  [
    ["Debian-12-server", "debian:12", "debian:latest"],
    ["Ubuntu-22.04-LTS-server", "ubuntu:22.04"],
    ["Ubuntu-24.04-LTS-server", "ubuntu:24.04", "ubuntu:latest"],
    ["Rocky-9-server", "rocky:9"],
  ].map(([name = "", ...own], at) => ({
    id: `0000000${at}-1111-4000-8000-00000000000${place}`,
    name,
    location,
    aliases: own,
  })),
);

function imageBody({ base }: Call, image: IonosImage, depth: number): unknown {
  const reference = { id: image.id, type: "image", href: `${base}/images/${image.id}` };
  if (depth < 0) return reference;
  return {
    ...reference,
    metadata: { createdDate: "2025-06-15T15:06:40Z", state: "AVAILABLE" },
    properties: {
      name: image.name,
      description: "",
      location: image.location,
      size: 10,
      licenceType: "LINUX",
      imageType: "HDD",
      public: true,
      imageAliases: image.aliases,
      cloudInit: "V1",
    },
  };
}

export function depthOf(call: Call, usual = 0): number {
  const depth = call.query.get("depth");
  if (depth === null) return usual;
  if (/^\d{1,2}$/.test(depth) && Number(depth) <= 10) return Number(depth);
  throw invalid("depth", "must be a number from 0 to 10");
}

const collection = (call: Call, segment: string, items: readonly unknown[]) =>
  ok({ id: segment, type: "collection", href: `${call.base}/${segment}`, items });

export const catalogueRoutes: readonly IonosRoute[] = [
  { method: "GET", path: "/", answer: ({ base }) => ok({ href: base, name: "CLOUD API", version: "6.0" }) },
  {
    method: "GET",
    path: "/locations",
    answer: (call) =>
      collection(
        call,
        "locations",
        locations.map((location) => locationBody(call, location, depthOf(call) - 1)),
      ),
  },
  {
    method: "GET",
    path: "/locations/{regionId}",
    answer: (call) => {
      const there = locations.filter(([id]) => id.startsWith(`${call.params["regionId"] ?? ""}/`));
      if (there.length === 0) throw missing();
      const segment = `locations/${call.params["regionId"] ?? ""}`;
      return collection(
        call,
        segment,
        there.map((location) => locationBody(call, location, depthOf(call) - 1)),
      );
    },
  },
  {
    method: "GET",
    path: "/locations/{regionId}/{locationId}",
    answer: (call) => {
      const id = `${call.params["regionId"] ?? ""}/${call.params["locationId"] ?? ""}`;
      const location = locations.find(([each]) => each === id);
      if (location === undefined) throw missing();
      return ok(locationBody(call, location, 0));
    },
  },
  {
    method: "GET",
    path: "/images",
    answer: (call) =>
      collection(
        call,
        "images",
        images.map((image) => imageBody(call, image, depthOf(call) - 1)),
      ),
  },
  {
    method: "GET",
    path: "/images/{imageId}",
    answer: (call) => {
      const image = images.find(({ id }) => id === call.params["imageId"]);
      if (image === undefined) throw missing();
      return ok(imageBody(call, image, 0));
    },
  },
];
