import { z } from "zod";
import type { Mark, NewThing, OwnMark } from "../../ports/compute.ts";

/** Labels that start so are ours: a schema of a kind refuses them as people's own. */
export const ownPrefix = "setpoint-";
const installationLabel = `${ownPrefix}installation`;
const resourceLabel = `${ownPrefix}resource`;

export const labelsShape = z.record(z.string(), z.string());
type Labels = z.output<typeof labelsShape>;

/** Whose a thing is, by its labels. Half a mark is somebody's, and not ours. */
export function markOf(labels: Labels): Mark {
  const installationId = labels[installationLabel];
  const resourceUid = labels[resourceLabel];
  if (installationId === undefined && resourceUid === undefined) return "none";
  if (installationId === undefined || installationId === "" || resourceUid === undefined || resourceUid === "")
    return { foreign: "a label of Setpoint without its counterpart" };
  return { installationId, resourceUid };
}

export function otherLabels(labels: Labels): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).filter(([key]) => key !== installationLabel && key !== resourceLabel),
  );
}

/** Everything a thing of ours is labelled with: the API replaces all labels at once. */
export function labelsFor({ labels, mark }: Pick<NewThing, "labels" | "mark">): Labels {
  return { ...labels, [installationLabel]: mark.installationId, [resourceLabel]: mark.resourceUid };
}

/** What finds the things of one resource again. */
export function selectorOf(mark: OwnMark): string {
  return `${installationLabel}==${mark.installationId},${resourceLabel}==${mark.resourceUid}`;
}
