import type { ScopeType } from "../kernel/kind.ts";
import type { ApiContext } from "./context.ts";
import { organizationIdOf, projectScopeOf, workspaceScopeOf } from "./names.ts";
import { Problem } from "./problem.ts";
import type { ScopeParameters } from "./schemas/common.ts";

export interface ResolvedScope {
  readonly organization: string;
  readonly organizationId: string;
  readonly scope: string;
}

/** The routes of each scope below which resources live. */
export const scopePaths: readonly { readonly type: ScopeType; readonly path: string }[] = [
  { type: "organization", path: "/v1/organizations/{organization}" },
  { type: "project", path: "/v1/organizations/{organization}/projects/{project}" },
  { type: "workspace", path: "/v1/organizations/{organization}/projects/{project}/workspaces/{workspace}" },
];

/** The scope a path names; refused when there is no such scope, so that an empty list never stands for a typing error. */
export async function requireScope(context: ApiContext, names: ScopeParameters): Promise<ResolvedScope> {
  const { organization, project, workspace } = names;
  const organizationId = organizationIdOf(organization);
  const scopes = await context.reads.listScopes(organizationId);
  if (scopes.length === 0) {
    throw organizationUnknown(organization);
  }
  if (project === undefined) return { organization, organizationId, scope: `organization/${organizationId}` };
  const inProject = projectScopeOf(organization, project);
  const scope = workspace === undefined ? inProject : workspaceScopeOf(organization, project, workspace);
  if (!scopes.some((known) => known.scope === scope)) {
    throw scopeUnknown(names);
  }
  return { organization, organizationId, scope };
}

/** Also the answer where somebody may not know of it. */
export function organizationUnknown(organization: string): Problem {
  return new Problem(
    "ORGANIZATION_UNKNOWN",
    `There is no organization "${organization}". GET /v1/organizations lists them`,
  );
}

/** Also the answer where somebody may not know of it. */
export function scopeUnknown({ organization, project, workspace }: ScopeParameters): Problem {
  const what = workspace === undefined ? `project "${project}"` : `workspace "${workspace}" in project "${project}"`;
  return new Problem(
    "SCOPE_UNKNOWN",
    `There is no ${what} in organization "${organization}". Create it with a POST to its parent`,
  );
}
