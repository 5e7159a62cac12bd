import type { CloudServerType } from "../../ports/compute.ts";

/** IONOS sells cores, memory and disk by themselves: the name of a type says how many, such as 2-cores-4-gb-20-gb-ssd. */
const grammar = /^(1(?=-core-)|(?!1-)[1-9]\d{0,2}(?=-cores-))-cores?-([1-9]\d{0,3})-gb-([1-9]\d{0,4})-gb-(ssd|hdd)$/;

/** For whoever declares one. */
export const typeNames = {
  pattern: grammar,
  words: "write one such as 1-core-2-gb-10-gb-ssd or 2-cores-4-gb-20-gb-ssd",
  sizeOf: (name: string) => shapeOf(name),
};

export interface ServerShape {
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly diskGigabytes: number;
  readonly disk: "SSD" | "HDD";
}

/** Only the name that the server will be shown with: any other one would differ from it for ever. */
export function shapeOf(type: string): ServerShape | undefined {
  const match = grammar.exec(type);
  if (match === null) return undefined;
  const [, cores, memory, disk, kind] = match;
  return {
    cores: Number(cores),
    memoryGigabytes: Number(memory),
    diskGigabytes: Number(disk),
    disk: kind === "ssd" ? "SSD" : "HDD",
  };
}

export function typeNameOf({ cores, memoryGigabytes, diskGigabytes, disk }: ServerShape): string {
  return `${cores}-${cores === 1 ? "core" : "cores"}-${memoryGigabytes}-gb-${diskGigabytes}-gb-${disk.toLowerCase()}`;
}

export interface Limits {
  readonly coresPerServer: number;
  readonly ramPerServer: number;
}

/** Wherever the contract has a data center, if the contract allows a server of that size. Prices are not in the API. */
export function serverTypeOf(
  name: string,
  limits: Limits,
  datacenters: readonly { readonly id: string; readonly name: string }[],
): CloudServerType | "absent" {
  const shape = shapeOf(name);
  if (shape === undefined) return "absent";
  const fits = shape.cores <= limits.coresPerServer && shape.memoryGigabytes * 1_024 <= limits.ramPerServer;
  return {
    id: name,
    name,
    cores: shape.cores,
    memoryGigabytes: shape.memoryGigabytes,
    diskGigabytes: shape.diskGigabytes,
    architecture: "x86",
    offers: datacenters.map(({ id, name: location }) => ({
      location,
      locationId: id,
      available: fits,
      monthly: undefined,
    })),
  };
}
