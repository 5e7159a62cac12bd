import { locationNamed, locations } from "./locations.ts";
import { type TimePrice, timePrice } from "./prices.ts";

export interface ServerType {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly cores: number;
  readonly memory: number;
  readonly disk: number;
  readonly deprecated: boolean;
  readonly prices: readonly TimePrice[];
  readonly storage_type: "local";
  readonly cpu_type: "shared" | "dedicated";
  readonly architecture: "x86" | "arm";
  readonly deprecation: { readonly announced: string; readonly unavailable_after: string } | null;
  readonly locations: readonly { readonly id: number; readonly name: string; readonly deprecation: null }[];
}

interface Family {
  readonly category: string;
  readonly cpu: "shared" | "dedicated";
  readonly architecture: "x86" | "arm";
  readonly where: readonly string[];
}

const europe = ["fsn1", "nbg1", "hel1"];
const everywhere = locations.map(({ name }) => name);
const costOptimized: Family = { category: "Cost-Optimized", cpu: "shared", architecture: "x86", where: europe };
const arm: Family = { category: "Cost-Optimized", cpu: "shared", architecture: "arm", where: europe };
const regular: Family = { category: "Regular Performance", cpu: "shared", architecture: "x86", where: everywhere };
const dedicated: Family = { category: "General Purpose", cpu: "dedicated", architecture: "x86", where: everywhere };

/** Sizes and prices are plausible for the purpose, and not an offer. */
function type(
  family: Family,
  [id, name, cores, memory, disk, monthly]: readonly [number, string, number, number, number, number],
): ServerType {
  return {
    id,
    name,
    description: name.toUpperCase().replace(/(\d+)$/, " $1"),
    category: family.category,
    cores,
    memory,
    disk,
    deprecated: false,
    prices: family.where.map((location) => timePrice(location, monthly, 20)),
    storage_type: "local",
    cpu_type: family.cpu,
    architecture: family.architecture,
    deprecation: null,
    locations: family.where.map((name) => ({ id: locationNamed(name).id, name, deprecation: null })),
  };
}

export const serverTypes: readonly ServerType[] = [
  type(regular, [22, "cpx11", 2, 2, 40, 4.35]),
  type(regular, [23, "cpx21", 3, 4, 80, 7.55]),
  type(regular, [24, "cpx31", 4, 8, 160, 13.6]),
  type(regular, [25, "cpx41", 8, 16, 240, 25.2]),
  type(regular, [26, "cpx51", 16, 32, 360, 54.9]),
  type(arm, [45, "cax11", 2, 4, 40, 3.79]),
  type(arm, [93, "cax21", 4, 8, 80, 6.49]),
  type(arm, [94, "cax31", 8, 16, 160, 12.49]),
  type(arm, [95, "cax41", 16, 32, 320, 24.49]),
  type(dedicated, [96, "ccx13", 2, 8, 80, 12.49]),
  type(dedicated, [97, "ccx23", 4, 16, 160, 24.49]),
  type(dedicated, [98, "ccx33", 8, 32, 240, 48.49]),
  type(dedicated, [99, "ccx43", 16, 64, 360, 96.49]),
  type(dedicated, [100, "ccx53", 32, 128, 600, 192.49]),
  type(dedicated, [101, "ccx63", 48, 192, 960, 287.99]),
  type(costOptimized, [104, "cx22", 2, 4, 40, 3.79]),
  type(costOptimized, [105, "cx32", 4, 8, 80, 6.8]),
  type(costOptimized, [106, "cx42", 8, 16, 160, 16.4]),
  type(costOptimized, [107, "cx52", 16, 32, 320, 32.4]),
  type(costOptimized, [114, "cx23", 2, 4, 40, 2.99]),
  type(costOptimized, [115, "cx33", 4, 8, 80, 4.99]),
  type(costOptimized, [116, "cx43", 8, 16, 160, 8.99]),
  type(costOptimized, [117, "cx53", 16, 32, 320, 16.99]),
];

const byName = new Map(serverTypes.map((each) => [each.name, each]));

export function serverTypeNamed(name: string): ServerType {
  const found = byName.get(name);
  if (found === undefined) throw new Error(`The catalogue has no server type "${name}".`);
  return found;
}
