/** The names inside a scope's id: what a person calls it. An organization is called by neither. */
export interface ScopeNames {
  readonly project?: string | undefined;
  readonly workspace?: string | undefined;
}

export function scopeNames(scope: string): { readonly project?: string; readonly workspace?: string } {
  const [type = "", id = ""] = scope.split("/");
  const [, project, workspace] = type === "organization" ? [] : id.split(":");
  return { ...(project === undefined ? {} : { project }), ...(workspace === undefined ? {} : { workspace }) };
}
