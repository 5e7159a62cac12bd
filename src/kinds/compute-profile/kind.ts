import { defineKind } from "../../kernel/kind.ts";
import { computeProfileLoop } from "./loop.ts";
import { type ComputeProfileSpec, computeProfileSchema } from "./schema.ts";

export const computeProfileKind = defineKind<ComputeProfileSpec>({
  kind: "ComputeProfile",
  plural: "computeprofiles",
  schema: computeProfileSchema,
  permission: "organization.compute_profile",
  scopes: ["organization"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  links: () => [],
  loop: computeProfileLoop,
});
