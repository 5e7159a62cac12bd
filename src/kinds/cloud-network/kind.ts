import { defineKind } from "../../kernel/kind.ts";
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
  loop: cloudNetworkLoop,
});
