import type { ResourceDocument } from "../../api/types.ts";

/** What a command needs to find the resource from any terminal: nobody's defaults are this organization's. */
export function scopeFlags({ organization, project, workspace }: ResourceDocument["metadata"]): string {
  return [
    organization === "default" ? "" : ` --organization ${organization}`,
    project === undefined ? "" : ` --project ${project}`,
    workspace === undefined ? "" : ` --workspace ${workspace}`,
  ].join("");
}
