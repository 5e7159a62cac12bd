import type { Action, Binding } from "../../ports/access.ts";
import type { Caller } from "./caller.ts";
import { isBelow } from "./scope-path.ts";

export interface Decision {
  readonly allowed: boolean;
  /** The binding that allows it, in words; or what is missing. */
  readonly because: string;
}

/** All that decides: whoever has these may do it, whatever their name. */
export type Holder = Pick<Caller, "bindings" | "within">;

/** Whether a caller may do something in the last scope of a path. Pure: everything it needs is in the caller. */
export function can(caller: Holder, key: string, action: Action, path: readonly string[]): Decision {
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
  for (const scope of path) {
    for (const binding of boundAt(bindings, scope)) {
      if (binding.rules.some((rule) => (rule.key === key || rule.key === "*") && rule.actions.includes(action)))
        return binding;
    }
  }
  return undefined;
}

/** Few have more roles than this; for those who do, looking through all of them for each request would add up. */
const fewBindings = 8;
const byScope = new WeakMap<readonly Binding[], ReadonlyMap<string, readonly Binding[]>>();

function boundAt(bindings: readonly Binding[], scope: string): readonly Binding[] {
  if (bindings.length <= fewBindings) return bindings.filter((binding) => binding.scope === scope);
  let index = byScope.get(bindings);
  if (index === undefined) {
    index = Map.groupBy(bindings, (binding) => binding.scope);
    byScope.set(bindings, index);
  }
  return index.get(scope) ?? [];
}

/**
 * Whether a caller may know that a scope exists. What cannot be seen is answered like what is not there.
 * An organization is seen by its members and by who keeps the list of them; a project or workspace by whoever may do
 * anything in it or below.
 */
export function sees(caller: Holder, path: readonly string[]): boolean {
  return seenBy(caller.bindings, path) && (caller.within === undefined || seenBy(caller.within, path));
}

function seenBy(bindings: readonly Binding[], path: readonly string[]): boolean {
  const scope = path.at(-1) ?? "platform";
  const organization = path[1];
  if (scope === organization)
    return bindings.some(({ scope: bound, organizationId, rules }) =>
      bound === "platform"
        ? reaches(rules) || listsOrganizations(rules)
        : `organization/${organizationId}` === organization,
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

function listsOrganizations(rules: Binding["rules"]): boolean {
  return rules.some(({ key, actions }) => key === "platform.organization" && actions.includes("read"));
}
