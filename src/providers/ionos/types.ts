import type { CloudServerType } from "../../ports/compute.ts";

/** IONOS sells cores, memory and disk by themselves: the name of a type says how many, such as 2-cores-4-gb-20-gb-ssd. */
const grammar = /^(\d{1,3})-cores?-(\d{1,4})-gb-(\d{1,5})-gb-(ssd|hdd)$/;

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
  const shape = {
    cores: Number(cores),
    memoryGigabytes: Number(memory),
    diskGigabytes: Number(disk),
    disk: kind === "ssd" ? ("SSD" as const) : ("HDD" as const),
  };
  const isReal = shape.cores > 0 && shape.memoryGigabytes > 0 && shape.diskGigabytes > 0;
  return isReal && typeNameOf(shape) === type ? shape : undefined;
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
  datacenters: readonly { readonly name: string }[],
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
    offers: datacenters.map((datacenter) => ({ location: datacenter.name, available: fits, monthly: undefined })),
  };
}
