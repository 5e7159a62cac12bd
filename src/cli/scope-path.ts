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

export function scopePath(world: CliWorld, options: ScopeOptions): string {
  // A context's project is one of its own organization.
  const context = options.organization === undefined ? currentContext(world) : {};
  const { project = context.project, workspace = options.project === undefined ? context.workspace : undefined } =
    options;
  if (workspace !== undefined && project === undefined)
    throw usageError("--workspace needs --project: a workspace lives in a project");
  const below = [
    project === undefined ? "" : `/projects/${encodeURIComponent(project)}`,
    workspace === undefined ? "" : `/workspaces/${encodeURIComponent(workspace)}`,
  ];
  return organizationPath(world, options) + below.join("");
}
