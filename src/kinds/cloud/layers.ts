import { digestOf } from "../../kernel/hash.ts";
import type { Subject } from "../../kernel/loop.ts";

/** A label's value for a scope: ids of scopes hold characters that labels cannot. */
function valueOf(scope: string): string {
  return digestOf(["scope", scope]).slice(0, 20);
}

/** The scopes around a resource that a firewall can be for, its own first. */
function scopesOf({ scope, organizationId }: Pick<Subject<unknown>, "scope" | "organizationId">): readonly string[] {
  const [type, id = ""] = scope.split("/");
  const project = type === "workspace" ? [`project/${id.split(":")[0] ?? ""}`] : [];
  return [...new Set([scope, ...project, `organization/${organizationId}`])];
}

/** What a server is labelled with while it is out of the load balancers, before it goes. */
export const drainedLabel = "setpoint-drained";

/** What a server is labelled with, so that the firewalls of the scopes around it find it. */
export function scopeLabels(subject: Pick<Subject<unknown>, "scope" | "organizationId">): Record<string, string> {
  return Object.fromEntries(scopesOf(subject).map((scope) => [labelOf(scope), valueOf(scope)]));
}

/** Whether a server with these labels was declared in this scope or below. */
export function isInScope(labels: Readonly<Record<string, string>>, scope: string): boolean {
  return labels[labelOf(scope)] === valueOf(scope);
}

/** Finds every server that was declared in this scope or below. */
export function scopeSelector(scope: string): string {
  return `${labelOf(scope)}==${valueOf(scope)}`;
}

function labelOf(scope: string): string {
  return `setpoint-${scope.split("/")[0] ?? "scope"}`;
}
