import type { Action, Binding } from "../../ports/access.ts";
import type { Caller } from "./caller.ts";
import { isBelow } from "./scope-path.ts";

export interface Decision {
  readonly allowed: boolean;
  /** The binding that allows it, in words; or what is missing. */
  readonly because: string;
}

/** Whether a caller may do something in the last scope of a path. Pure: everything it needs is in the caller. */
export function can(caller: Caller, key: string, action: Action, path: readonly string[]): Decision {
  const binding = allowing(caller.bindings, key, action, path);
  if (binding === undefined) return { allowed: false, because: `no role here allows ${key}.${action}` };
  if (caller.within !== undefined && allowing(caller.within, key, action, path) === undefined)
    return { allowed: false, because: `whoever made this token may not do ${key}.${action} here` };
  return { allowed: true, because: `role ${binding.role} at ${binding.scope} allows ${key}.${action}` };
}

function allowing(
  bindings: readonly Binding[],
  key: string,
  action: Action,
  path: readonly string[],
): Binding | undefined {
  return bindings.find(
    (binding) =>
      path.includes(binding.scope) &&
      binding.rules.some((rule) => (rule.key === key || rule.key === "*") && rule.actions.includes(action)),
  );
}

/**
 * Whether a caller may know that a scope exists. What cannot be seen is answered like what is not there.
 * An organization is seen by its members; a project or workspace by whoever may do anything in it or below.
 */
export function sees(caller: Caller, path: readonly string[]): boolean {
  const ends = [caller.bindings, ...(caller.within === undefined ? [] : [caller.within])];
  return ends.every((bindings) => seenBy(bindings, path));
}

function seenBy(bindings: readonly Binding[], path: readonly string[]): boolean {
  const scope = path.at(-1) ?? "platform";
  const organization = path[1];
  if (scope === organization)
    return bindings.some(({ scope: bound, organizationId, rules }) =>
      bound === "platform" ? reaches(rules) : `organization/${organizationId}` === organization,
    );
  return bindings.some(
    (binding) =>
      binding.scope === scope ||
      isBelow(binding.scope, scope) ||
      (path.includes(binding.scope) && reaches(binding.rules)),
  );
}

/** A role about billing alone does not tell which projects there are. */
function reaches(rules: Binding["rules"]): boolean {
  return rules.some(({ key }) => key === "*" || key === "organization.project" || key.startsWith("project."));
}
