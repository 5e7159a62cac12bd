import type { Command } from "commander";
import { usageError } from "./cli-error.ts";
import { currentContext } from "./context-file.ts";
import type { CliWorld } from "./world.ts";

export interface ScopeOptions {
  readonly organization?: string | undefined;
  readonly project?: string | undefined;
  readonly workspace?: string | undefined;
}

/** Adds the options that say where a resource lives. */
export function withScope(command: Command): Command {
  return command
    .option("-O, --organization <name>", "organization (default: SETPOINT_ORGANIZATION, else default)")
    .option("-p, --project <name>", "project inside the organization")
    .option("-W, --workspace <name>", "workspace inside the project");
}

export function organizationOf(world: CliWorld, options: ScopeOptions): string {
  return (
    options.organization ??
    world.environment["SETPOINT_ORGANIZATION"] ??
    currentContext(world).organization ??
    "default"
  );
}

export function organizationPath(world: CliWorld, options: ScopeOptions): string {
  return `/v1/organizations/${encodeURIComponent(organizationOf(world, options))}`;
}

export interface Place {
  readonly organization: string;
  readonly project?: string;
  readonly workspace?: string;
}

/** What a command means: its options, else the context in use. */
export function placeOf(world: CliWorld, options: ScopeOptions): Place {
  const organization = organizationOf(world, options);
  // A context's project is one of its own organization; whoever names an organization means all of that place.
  const current = currentContext(world);
  const meant = options.organization === undefined && organization === (current.organization ?? "default");
  const context = meant ? current : {};
  const { project = context.project, workspace = options.project === undefined ? context.workspace : undefined } =
    options;
  if (workspace !== undefined && project === undefined)
    throw usageError("--workspace needs --project: a workspace lives in a project");
  return {
    organization,
    ...(project === undefined ? {} : { project }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}

export function scopePath(world: CliWorld, options: ScopeOptions): string {
  const { project, workspace } = placeOf(world, options);
  const below = [
    project === undefined ? "" : `/projects/${encodeURIComponent(project)}`,
    workspace === undefined ? "" : `/workspaces/${encodeURIComponent(workspace)}`,
  ];
  return organizationPath(world, options) + below.join("");
}

/** For what lives in a project and nowhere else. */
export function projectPath(world: CliWorld, options: ScopeOptions): string {
  const { project } = placeOf(world, options);
  if (project === undefined) throw usageError("say in which project: --project NAME");
  return `${organizationPath(world, options)}/projects/${encodeURIComponent(project)}`;
}

/** The scope that a word names: what has a policy and limits of its own. */
export function ruledPath(world: CliWorld, word: string, options: ScopeOptions): string {
  if (word === "platform") return "/v1";
  if (word === "organization") return organizationPath(world, options);
  if (word === "project") return projectPath(world, options);
  if (word === "workspace") {
    const { workspace } = placeOf(world, options);
    if (workspace === undefined) throw usageError("say which workspace: --workspace NAME");
    return `${projectPath(world, options)}/workspaces/${encodeURIComponent(workspace)}`;
  }
  throw usageError(
    `"${word}" is not a scope: write platform, organization, project or workspace, or KIND/NAME for one resource`,
  );
}
