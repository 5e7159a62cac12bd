import { defineKind } from "../../kernel/kind.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
import { familyProblems, pooledAt } from "../cloud/pooled.ts";
import { profileProblems, profileReference, withProfileType } from "../compute-profile/naming-one.ts";
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
  fits: async (spec, around) => {
    const wrong = await familyProblems(spec, around);
    if (wrong.length > 0) return wrong;
    const { max, account, template, mode } = spec;
    const needed = mode === "metric" ? ({ has: "serverMetrics", words: "metrics of servers" } as const) : undefined;
    const problems = [
      ...(await profileProblems({ ...template, account }, around.named, "/spec/template")),
      ...(await problemsAt(around, account, needed, (can) => typeProblems(can, template.type, "/spec/template/type"))),
    ];
    const most = (await around.quota?.("Host")) ?? max;
    if (max <= most) return problems;
    const message = `is ${max}, and the organization may have ${most} hosts: lower it, or ask an operator to raise the quota`;
    return [...problems, { pointer: "/spec/max", message }];
  },
  loop: scalingGroupLoop,
});

function reference(kind: string, name: string, scope: "organization" | undefined, place: string) {
  return { kind, name, pointer: `/spec/template/${place}/name`, ...(scope === undefined ? {} : { scope }) };
}
