import type { KindRegistry } from "../kernel/kind.ts";
import type { Caller } from "./access/caller.ts";
import { can } from "./access/can.ts";
import { scopePathOf } from "./access/scope-path.ts";
import { scopeNames } from "../kernel/scope-names.ts";

export interface Placed {
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
}

/** The route of a resource. */
export function resourceLink(kinds: KindRegistry, organization: string, { kind, name, scope }: Placed): string {
  const { project, workspace } = scopeNames(scope);
  const parts = [
    `/v1/organizations/${organization}`,
    project === undefined ? "" : `/projects/${project}`,
    workspace === undefined ? "" : `/workspaces/${workspace}`,
  ];
  return `${parts.join("")}/${kinds.get(kind)?.plural ?? kind.toLowerCase()}/${name}`;
}

const shape = /^(?:projects\/([^/]+)\/)?(?:workspaces\/([^/]+)\/)?([^/]+)\/([^/]+)$/;

/** The resource that a route below its organization names, whether it is there or not; undefined where it names none. */
export function placedAt(kinds: KindRegistry, organization: string, path: string): Placed | undefined {
  const [, project, workspace, plural, name = ""] = shape.exec(path) ?? [];
  const kind = [...kinds.values()].find((entry) => entry.plural === plural);
  if (kind === undefined || (workspace !== undefined && project === undefined)) return undefined;
  const scope = scopePathOf({ organization, project, workspace }).at(-1) ?? "";
  return { kind: kind.kind, name, scope };
}

/** As people name a scope: the project and workspace in it. */
export function scopeLabel(scope: string): string {
  const { project, workspace } = scopeNames(scope);
  return [project, workspace].filter((name) => name !== undefined).join("/");
}

/** Whether a caller may read a resource that a list over many kinds and scopes came across. */
export function mayRead(kinds: KindRegistry, caller: Caller, organization: string, placed: Placed): boolean {
  const kind = kinds.get(placed.kind);
  const path = scopePathOf({ organization, ...scopeNames(placed.scope) });
  return kind !== undefined && can(caller, kind.permission, "read", path).allowed;
}
