import { defineKind } from "../../kernel/kind.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
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
  fits: ({ account, type }, around) =>
    problemsAt(around, account, undefined, (can) => typeProblems(can, type, "/spec/type")),
  loop: computeProfileLoop,
});
