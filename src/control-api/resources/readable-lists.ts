import type { Kind, ScopeType } from "../../kernel/kind.ts";
import type { ListName } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { scopeNames } from "../../kernel/scope-names.ts";

export interface ReadableList extends ListName {
  readonly of: Kind;
}

/** Every list of an organization that a caller may read: by kind, then by scope. */
export async function readableLists(
  context: Pick<ApiContext, "reads" | "kinds">,
  caller: Caller,
  { organization, organizationId }: { readonly organization: string; readonly organizationId: string },
): Promise<readonly ReadableList[]> {
  const scopes = (await context.reads.listScopes(organizationId)).map(({ scope }) => scope);
  const own = `organization/${organizationId}`;
  const all = scopes.includes(own) ? scopes : [own, ...scopes];
  return [...context.kinds.values()]
    .toSorted((left, right) => (left.kind < right.kind ? -1 : 1))
    .flatMap((kind) =>
      all
        .filter((scope) => kind.scopes.includes(scope.split("/")[0] as ScopeType))
        .filter(
          (scope) => can(caller, kind.permission, "read", scopePathOf({ organization, ...scopeNames(scope) })).allowed,
        )
        .map((scope) => ({ of: kind, kind: kind.kind, scope })),
    );
}

/** The order of these is that of the lists: by kind, then by scope. */
export function idOf({ kind, scope }: ListName): string {
  return `${kind} ${scope}`;
}
