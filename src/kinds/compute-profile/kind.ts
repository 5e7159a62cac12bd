import { defineKind } from "../../kernel/kind.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
import { typeOfferedProblems } from "../cloud/offered.ts";
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
  fits: async (spec, around) => {
    const { account, type } = spec;
    const problems = await problemsAt(around, account, undefined, (can) => typeProblems(can, type, "/spec/type"));
    if (problems.length > 0) return problems;
    return await typeOfferedProblems(around, account, spec, (stands) => computeProfileSchema.safeParse(stands).data);
  },
  loop: computeProfileLoop,
});
