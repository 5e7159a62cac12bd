import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import { problemsAt, typeProblems } from "../cloud/capabilities.ts";
import { offeredProblems, type WantedServers } from "../cloud/offered.ts";
import { familyProblems } from "../cloud/pooled.ts";
import { pointersBelow, profileProblems, typeOf } from "../compute-profile/naming-one.ts";
import { type ScalingGroupSpec, scalingGroupSchema } from "./schema.ts";

/** Whether the account's provider can have such members, and whether there is room for as many as there may be. */
export async function scalingGroupFits(spec: ScalingGroupSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const wrong = await familyProblems(spec, around);
  if (wrong.length > 0) return wrong;
  const { account, template, mode } = spec;
  const needed = mode === "metric" ? ({ has: "serverMetrics", words: "metrics of servers" } as const) : undefined;
  const problems = [
    ...(await profileProblems({ ...template, account }, around.named, "/spec/template")),
    ...(await problemsAt(around, account, needed, (can) => typeProblems(can, template.type, "/spec/template/type"))),
    ...(await quotaProblems(spec, around)),
  ];
  if (problems.length > 0) return problems;
  return await offeredProblems(around, account, wantedOf(spec), {
    at: { ...pointersBelow("/spec/template", template), count: "/spec/max" },
    standing: (stands) => {
      const before = scalingGroupSchema.safeParse(stands);
      return before.success ? wantedOf(before.data) : undefined;
    },
  });
}

function wantedOf({ max, template }: ScalingGroupSpec): WantedServers {
  return { type: typeOf(template), image: template.image, location: template.location, count: max };
}

async function quotaProblems({ max }: ScalingGroupSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const most = (await around.quota?.("Host")) ?? max;
  if (max <= most) return [];
  const message = `is ${max}, and the organization may have ${most} hosts: lower it, or ask an operator to raise the quota`;
  return [{ pointer: "/spec/max", message }];
}
