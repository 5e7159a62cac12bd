import { serverAtHetzner } from "./cloud-declarations.ts";
import { type Declaration, declaration, demo, workspacePath } from "./names.ts";

/** The fewest and the most members of the group that follows its load. */
export const groupBounds = { min: 2, max: 4 };

/** A group that follows its load at one cloud, and one of a fixed size at the other. */
export function groupDeclarations(): readonly Declaration[] {
  const group = (name: string, spec: object) =>
    declaration(`${workspacePath}/scalinggroups`, "ScalingGroup", { name }, spec);
  return [
    group(demo.group, {
      account: demo.hetzner,
      mode: "metric",
      ...groupBounds,
      desired: groupBounds.min,
      metrics: { cpuPercent: { upAbove: 80, downBelow: 40 } },
      stepUp: 2,
      // The shortest there are: whoever watches does not wait for a working day's.
      windowSeconds: 60,
      cooldownSeconds: 60,
      drainSeconds: 10,
      template: serverAtHetzner(demo.group, "fsn1", ["web"]),
    }),
    group("batch", {
      account: demo.ionos,
      mode: "static",
      min: 1,
      max: 4,
      desired: 2,
      drainSeconds: 0,
      template: {
        type: "2-cores-4-gb-20-gb-ssd",
        image: "debian:12",
        location: demo.datacenter,
        labels: { role: "batch" },
      },
    }),
  ];
}
