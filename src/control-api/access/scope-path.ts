import { organizationIdOf, projectScopeOf, workspaceScopeOf } from "../names.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { KindLink } from "../../kernel/kind.ts";
import type { ScopeParameters } from "../schemas/common.ts";

/** The scopes from the platform down to the one that the names name. No lookup: ids follow from names. */
export function scopePathOf({ organization, project, workspace }: ScopeParameters): readonly string[] {
  const path = ["platform", `organization/${organizationIdOf(organization)}`];
  if (project !== undefined) path.push(projectScopeOf(organization, project));
  if (project !== undefined && workspace !== undefined) path.push(workspaceScopeOf(organization, project, workspace));
  return path;
}

/** Whether one scope lies below another one, judged by their ids. */
export function isBelow(scope: string, above: string): boolean {
  const [type, id = ""] = above.split("/");
  const [lowerType, lowerId = ""] = scope.split("/");
  return type === "project" && lowerType === "workspace" && lowerId.startsWith(`${id}:`);
}

/** The scope that a link or a reference leads to, from the scopes around what names it. */
export function scopeOfLink({ scope }: KindLink, path: readonly string[]): string {
  const own = path.at(-1) ?? "";
  return scope === undefined ? own : (path.find((entry) => entry.startsWith(`${scope}/`)) ?? own);
}

/** The same path from the id of a scope, within its organization. */
export function pathOfScope(organization: string, scope: string): readonly string[] {
  return scopePathOf({ organization, ...scopeNames(scope) });
}
