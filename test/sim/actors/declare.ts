import type { DeclareRequest } from "../../../src/ports/intent-store.ts";
import type { Json } from "../../../src/ports/json.ts";
import type { Mode, Principal } from "../../../src/ports/records.ts";
import type { Content } from "../outside/sim-api.ts";
import type { SeededRandom } from "../random.ts";
import type { ItemSpec, SetSpec } from "../sim-kind.ts";
import type { ResourceRow } from "../store/rows.ts";
import { projectOf } from "./cast.ts";

/** The request that declares a set or zone, as the API would make it from its spec. */
export function declareSet(
  tenant: string,
  kind: "SimSet" | "SimZone" | "SimBox",
  name: string,
  spec: SetSpec,
  options: DeclareOptions,
): DeclareRequest {
  return requestOf(tenant, kind, name, { spec: spec as unknown as Json, accounts: spec.accounts, links: [] }, options);
}

export function declareItem(tenant: string, name: string, spec: ItemSpec, options: DeclareOptions): DeclareRequest {
  return requestOf(
    tenant,
    "SimItem",
    name,
    { spec: spec as unknown as Json, accounts: [], links: [spec.target] },
    options,
  );
}

/** The same resource with another spec; what the spec does not say stays. */
export function redeclare(resource: ResourceRow, spec: Json, options: DeclareOptions): DeclareRequest {
  const accounts = (spec as { readonly accounts?: readonly string[] }).accounts;
  const kept = { mode: resource.mode, protect: resource.protect };
  return requestOf(
    resource.organizationId,
    resource.kind,
    resource.name,
    {
      spec,
      accounts: accounts ?? options.accounts ?? [],
      links: resource.links.map(({ kind, name }) => ({ kind, name })),
    },
    { ...kept, ...options },
  );
}

export interface DeclareOptions {
  readonly uid: string;
  readonly author: Principal;
  readonly mode?: Mode | undefined;
  readonly protect?: boolean | undefined;
  readonly accounts?: readonly (string | undefined)[];
}

function requestOf(
  tenant: string,
  kind: string,
  name: string,
  what: Pick<DeclareRequest, "spec" | "accounts" | "links">,
  options: DeclareOptions,
): DeclareRequest {
  return {
    ...what,
    uid: options.uid,
    organizationId: tenant,
    kind,
    name,
    scope: projectOf(tenant),
    labels: {},
    author: options.author,
    ifRevision: undefined,
    mode: options.mode,
    protect: options.protect,
  };
}

export function drawContent(random: SeededRandom): Content {
  return { value: `v${random.int(1, 6)}`, size: random.chance(0.85) ? 1 : 2 };
}

export function drawItems(random: SeededRandom, most: number): Record<string, Content> {
  const items: Record<string, Content> = {};
  // A set of one is where an empty desired set is not stopped by being empty.
  const count = random.chance(0.2) ? 1 : random.int(1, most);
  for (let at = 0; at < count; at++) items[`s-${random.int(1, most + 2)}`] = drawContent(random);
  return items;
}
