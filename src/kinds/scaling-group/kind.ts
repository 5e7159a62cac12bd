import { defineKind } from "../../kernel/kind.ts";
import { familyProblems, pooledAt } from "../cloud/pooled.ts";
import { scalingGroupLoop } from "./loop.ts";
import { type ScalingGroupSpec, scalingGroupSchema } from "./schema.ts";

export const scalingGroupKind = defineKind<ScalingGroupSpec>({
  kind: "ScalingGroup",
  plural: "scalinggroups",
  schema: scalingGroupSchema,
  permission: "project.workspace.scaling_group",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  pooled: pooledAt,
  links: () => [],
  references: ({ template: { networks, firewalls } }) => [
    ...networks.map(({ name, scope }, index) => reference("CloudNetwork", name, scope, `networks/${index}`)),
    ...firewalls.map(({ name, scope }, index) => reference("Firewall", name, scope, `firewalls/${index}`)),
  ],
  fits: async (spec, around) => {
    const wrong = await familyProblems(spec, around);
    if (wrong.length > 0) return wrong;
    const { max } = spec;
    const most = (await around.quota?.("Host")) ?? max;
    if (max <= most) return [];
    const message = `is ${max}, and the organization may have ${most} hosts: lower it, or ask an operator to raise the quota`;
    return [{ pointer: "/spec/max", message }];
  },
  loop: scalingGroupLoop,
});

function reference(kind: string, name: string, scope: "organization" | undefined, place: string) {
  return { kind, name, pointer: `/spec/template/${place}/name`, ...(scope === undefined ? {} : { scope }) };
}
