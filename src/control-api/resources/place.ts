import { scopeOfLink, scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { organizationIdOf } from "../names.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { ResourceReference } from "../../ports/declaring-store.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import { Problem } from "../problem.ts";
import type { ScopeParameters } from "../schemas/common.ts";
import { type ResolvedScope, requireScope } from "../scope.ts";

export type Named = ScopeParameters & { readonly name: string };

/** Where a path points to. Ids follow from names, so nothing is looked up; that it exists is checked where it is used. */
export function placeOf(names: ScopeParameters): ResolvedScope {
  const { organization } = names;
  return { organization, organizationId: organizationIdOf(organization), scope: scopePathOf(names).at(-1) ?? "" };
}

export async function requireResource(
  context: ApiContext,
  kind: Kind,
  parameters: Named,
): Promise<{ readonly place: ResolvedScope; readonly view: ResourceView }> {
  const place = placeOf(parameters);
  const { organizationId, scope } = place;
  const view = await context.reads.getResource({ organizationId, scope, kind: kind.kind, name: parameters.name });
  if (view !== undefined) return { place, view };
  // Only now does it matter whether the scope is there at all.
  await requireScope(context, parameters);
  throw notFound(kind, parameters.name);
}

export function notFound(kind: Kind, name: string): Problem {
  return new Problem("NOT_FOUND", `There is no ${kind.kind} "${name}" in this scope`);
}

/** Everything that a spec needs: what it is a part of, and what else it names. */
export function referencesOf(kind: Kind, spec: unknown, names: ScopeParameters): readonly ResourceReference[] {
  const path = scopePathOf(names);
  const parts = kind.links(spec).map((link) => ({ ...named(link), scope: scopeOfLink(link, path), part: true }));
  const others = (kind.references?.(spec) ?? []).map((reference) => ({
    ...named(reference),
    scope: scopeOfLink(reference, path),
    part: false,
  }));
  return [...parts, ...others];
}

function named({ kind, name, pointer = "/spec" }: { kind: string; name: string; pointer?: string }) {
  return { kind, name, pointer };
}
