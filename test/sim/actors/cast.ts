import type { Principal } from "../../../src/ports/records.ts";
import type { MemoryStore, StoreMethods } from "../memory-store.ts";
import type { Outside } from "../outside/outside.ts";
import type { SimProcess } from "../process.ts";
import type { SeededRandom } from "../random.ts";
import type { Ledger } from "../referee/ledger.ts";
import type { ItemSpec, SetSpec } from "../sim-kind.ts";
import type { ResourceRow } from "../store/rows.ts";
import type { Swarm } from "../swarm.ts";
import type { World } from "../world.ts";

/** What every actor of a run can reach. */
export interface Cast {
  readonly world: World;
  readonly swarm: Swarm;
  readonly store: MemoryStore;
  readonly outside: Outside;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
  /** The API's way to the store. */
  readonly api: SimProcess;
  readonly intents: StoreMethods;
  /** False in the liveness phase: nothing goes wrong any more. */
  faulty: boolean;
  /** Used only when the resource turns out to be new. */
  freshUid(): string;
  /** A wake-up hint to every scheduler; it may be lost or come twice. */
  poke(): void;
}

export const people: readonly Principal[] = [
  { name: "ada", type: "person" },
  { name: "bo", type: "person" },
];
export const machine: Principal = { name: "ci", type: "machine" };

export function tenantIds(swarm: Swarm): readonly string[] {
  return Array.from({ length: swarm.tenants }, (_, at) => `tenant-${at + 1}`);
}

export function projectOf(organizationId: string): string {
  return `project/${organizationId}-web`;
}

export function accountIds(swarm: Swarm, organizationId: string): readonly string[] {
  return Array.from({ length: swarm.accountsPerTenant }, (_, at) => `${organizationId}-account-${at + 1}`);
}

export function specOf(resource: ResourceRow): SetSpec | undefined {
  const { spec } = resource;
  const readable = typeof spec === "object" && spec !== null && !("broken" in spec);
  return readable && resource.kind !== "SimItem" ? (spec as unknown as SetSpec) : undefined;
}

export function itemSpecOf(resource: ResourceRow): ItemSpec | undefined {
  const { spec } = resource;
  const readable = typeof spec === "object" && spec !== null && !("broken" in spec);
  return readable && resource.kind === "SimItem" ? (spec as unknown as ItemSpec) : undefined;
}

/** A promise whose failure is somebody else's story: the API answered an error and the person shrugged. */
export function ignoring(work: Promise<unknown>, then?: () => void): void {
  work.then(then, () => {});
}
