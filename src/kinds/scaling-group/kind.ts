import { defineKind } from "../../kernel/kind.ts";
import { pooledAt } from "../cloud/pooled.ts";
import { profileReference, withProfileType } from "../compute-profile/naming-one.ts";
import { scalingGroupFits } from "./fits.ts";
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
  references: ({ template, template: { networks, firewalls } }) => [
    ...profileReference(template, "/spec/template"),
    ...networks.map(({ name, scope }, index) => reference("CloudNetwork", name, scope, `networks/${index}`)),
    ...firewalls.map(({ name, scope }, index) => reference("Firewall", name, scope, `firewalls/${index}`)),
  ],
  completed: async (spec, named) => ({ ...spec, template: await withProfileType(spec.template, named) }),
  fits: scalingGroupFits,
  loop: scalingGroupLoop,
});

function reference(kind: string, name: string, scope: "organization" | undefined, place: string) {
  return { kind, name, pointer: `/spec/template/${place}/name`, ...(scope === undefined ? {} : { scope }) };
}
