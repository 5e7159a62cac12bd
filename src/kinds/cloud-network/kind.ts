import { defineKind } from "../../kernel/kind.ts";
import type { JsonObject } from "../../ports/json.ts";
import { itsName, ownLabels, type SaidInSpec, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { networkFits } from "./fits.ts";
import { cloudNetworkLoop } from "./loop.ts";
import { type CloudNetworkSpec, cloudNetworkSchema } from "./schema.ts";

export const cloudNetworkKind = defineKind<CloudNetworkSpec>({
  kind: "CloudNetwork",
  plural: "cloudnetworks",
  schema: cloudNetworkSchema,
  permission: "project.cloud_network",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  links: () => [],
  asSeen: (_spec, { item }, fields) =>
    specAsSeen(item, fields, {
      name: itsName("CloudNetwork"),
      labels: ownLabels,
      range: sameField("range"),
      protect: sameField("protect"),
      subnets: pairsOf("subnets", "range", "zone"),
      routes: pairsOf("routes", "destination", "gateway"),
    }),
  fits: networkFits,
  loop: cloudNetworkLoop,
});

/** A list that is compared by one of its fields, as the list that it is in the spec. */
function pairsOf(name: string, key: string, value: string): SaidInSpec {
  return (seen) => ({
    spec: {
      [name]: Object.entries((seen ?? {}) as JsonObject).map(([one, other]) => ({ [key]: one, [value]: other })),
    },
  });
}
