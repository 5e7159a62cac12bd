import { accountIdOf } from "../../src/control-api/names.ts";
import { shardOf } from "../../src/kernel/hash.ts";
import type { BenchItemSpec } from "./bench-item.ts";

/**
 * How many of what, and what each is called. Everything about an item follows from its number, so that the seed, the
 * outside world and whoever writes events agree without telling each other.
 */
export interface Geometry {
  readonly accounts: number;
  /** The first organization is a large tenant with this many accounts; the others have fewer each. */
  readonly accountsOfLargeOrganization: number;
  readonly accountsPerOrganization: number;
  readonly itemsPerAccount: number;
  readonly everySeconds: number;
}

export const installationId = "bench-installation";

export interface BenchAccount {
  readonly number: number;
  readonly id: string;
  readonly organizationId: string;
  readonly shard: number;
  /** Number of its first item. */
  readonly firstItem: number;
}

export function itemCount(geometry: Geometry): number {
  return geometry.accounts * geometry.itemsPerAccount;
}

export function organizationId(number: number): string {
  return `00000000-0000-4000-a000-${hex12(number)}`;
}

export function organizationCount(geometry: Geometry): number {
  const rest = geometry.accounts - geometry.accountsOfLargeOrganization;
  return 1 + Math.ceil(rest / geometry.accountsPerOrganization);
}

export function accountsOf(geometry: Geometry): readonly BenchAccount[] {
  return Array.from({ length: geometry.accounts }, (_, number) => accountOf(geometry, number));
}

export function accountOf(geometry: Geometry, number: number): BenchAccount {
  const afterLarge = number - geometry.accountsOfLargeOrganization;
  const organization = afterLarge < 0 ? 0 : 1 + Math.floor(afterLarge / geometry.accountsPerOrganization);
  // As the product makes them: shards and turns follow from ids, and counted ones would crowd into a part of the interval.
  const id = accountIdOf(`organization-${organization}`, `account-${number}`);
  return {
    number,
    id,
    organizationId: organizationId(organization),
    shard: shardOf(id),
    firstItem: number * geometry.itemsPerAccount,
  };
}

/** Ids of subjects count up from 1 in the order of the items. */
export function subjectIdOf(item: number): number {
  return item + 1;
}
export function itemOfSubject(subjectId: number): number {
  return subjectId - 1;
}

export function itemName(item: number): string {
  return `item-${String(item).padStart(7, "0")}`;
}
export function itemUid(item: number): string {
  return `00000000-0000-4000-b000-${hex12(item)}`;
}
export function itemExternalId(item: number): string {
  return `thing-${String(item).padStart(7, "0")}`;
}
/** Different for every item. Cheap, because the outside world makes each of its listings anew; the seed computes the same in SQL. */
export function itemValue(item: number): string {
  return ((item * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, "0").repeat(13);
}

export function itemSpec(item: number, account: string, note = ""): BenchItemSpec {
  return { account, value: itemValue(item), region: "central-1", tier: "standard", note };
}

function hex12(number: number): string {
  return number.toString(16).padStart(12, "0");
}
