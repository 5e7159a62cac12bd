import type { KindRegistry } from "../../src/kernel/kind.ts";
import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { IntentStore } from "../../src/ports/intent-store.ts";
import type { Json } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { Principal } from "../../src/ports/records.ts";

/** One call to the outside, which becomes a point. `stale` asks a read for the oldest state that the provider may still show. */
export type PointCall = <T>(
  label: string,
  handle: (stale: boolean) => T,
  options?: { readonly reads?: boolean },
) => Promise<T>;

/** The outside of one scenario: its truth, and how one process reaches it. */
export interface ScenarioOutside {
  /** What a process is composed of; every call it makes goes through `call`. */
  connect(call: PointCall): { readonly kinds: KindRegistry; readonly providers: ReadonlyMap<string, Provider> };
  /** The truth in one fixed form, without ids that depend on how often something was made. */
  canonical(): Json;
}

/** What people do, and how the outside looks: everything a kind goes through in its life. */
export interface Scenario {
  /** The kind with the loop that is put to the test. */
  readonly kind: string;
  /** The provider, where the kind is put to the test at several. */
  readonly at?: string;
  readonly outside: (nowMs: () => number) => ScenarioOutside;
  /** In order; each happens at its second, whatever the processes are doing. */
  readonly acts: readonly { readonly atSeconds: number; act(intents: EngineStore & IntentStore): Promise<unknown> }[];
  readonly endsAtSeconds: number;
  /**
   * Calls that make a second thing when the network delivers them twice, because the provider has neither unique names nor keys for
   * orders. The second thing is put aside and reported, never removed, so that the end is another one.
   */
  readonly madeTwice?: readonly string[];
}

/** Ids that live in shard 0, the only one the plain scheduler takes. */
export const tenant = "tenant-31";
export const accountId = "account-30";
export const scope = `project/${tenant}`;
export const person: Principal = { name: "ada", type: "person" };

/** The request that declares a resource, with what the scenarios never vary. */
export function declaration(
  kind: string,
  name: string,
  spec: Json,
  rest: {
    readonly accounts?: readonly (string | undefined)[];
    readonly links?: readonly { readonly kind: string; readonly name: string }[];
  } = {},
) {
  return {
    uid: `uid-of-${name}`,
    organizationId: tenant,
    kind,
    name,
    scope,
    spec,
    labels: {},
    author: person,
    ifRevision: undefined,
    mode: "enforce" as const,
    protect: undefined,
    accounts: rest.accounts ?? [],
    links: rest.links ?? [],
  };
}

/** The request that deletes a resource and everything outside that it declared. */
export function deletion(name: string, confirmedCount: number) {
  const base = { organizationId: tenant, uid: `uid-of-${name}`, ifRevision: undefined, author: person };
  return { ...base, orphan: false, confirmedCount };
}

export function titleOf({ kind, at }: Pick<Scenario, "kind" | "at">): string {
  return at === undefined ? kind : `${kind} at ${at}`;
}
