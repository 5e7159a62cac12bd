/** The names inside the id of a scope, as rules and verdicts say where they come from. */
function namesIn(scope: string): { readonly project?: string | undefined; readonly workspace?: string | undefined } {
  const [type = "", id = ""] = scope.split("/");
  const [, project, workspace] = type === "project" || type === "workspace" ? id.split(":") : [];
  return { project, workspace };
}

/** As a person calls it. */
export function scopeWords(scope: string): string {
  const { project, workspace } = namesIn(scope);
  if (workspace !== undefined) return `workspace ${project}/${workspace}`;
  if (project !== undefined) return `project ${project}`;
  return scope === "platform" ? "the platform" : "the organization";
}

/** Its place below the organization, with a slash behind it; empty: the organization itself. Undefined: it is above. */
export function scopePath(scope: string): string | undefined {
  const { project, workspace } = namesIn(scope);
  if (scope === "platform") return undefined;
  if (project === undefined) return "";
  return `projects/${project}/${workspace === undefined ? "" : `workspaces/${workspace}/`}`;
}
