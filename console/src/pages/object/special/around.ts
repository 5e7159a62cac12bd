import { queryOptions, useQuery } from "@tanstack/react-query";
import { get, query } from "../../../api/client.ts";
import { base, keys } from "../../../api/queries.ts";
import type { ResourcePage } from "../../../api/parts.ts";
import type { ResourceDocument } from "../../../api/types.ts";

/** As many of a kind as one page has; whoever has more is told that this is not all. */
const most = 500;

const ofKindQuery = (organization: string, kind: string) =>
  queryOptions({
    queryKey: [...keys.record(organization, "object"), "of-kind", kind],
    queryFn: () => get<ResourcePage>(`${base(organization)}/resources${query({ kind, pageSize: most })}`),
    // Neighbours change without the object itself being told of: they are read again now and then, and not with every change.
    refetchInterval: 5_000,
    retry: false,
  });

/** The other resources of a kind that the reader may see; undefined while they are read. */
export function useOfKind(organization: string, kind: string) {
  const { data, error } = useQuery(ofKindQuery(organization, kind));
  return { items: data?.items, more: data?.nextPageToken !== undefined, error };
}

type Place = Pick<ResourceDocument["metadata"], "project" | "workspace">;

export function isSameScope(one: Place, other: Place): boolean {
  return one.project === other.project && one.workspace === other.workspace;
}

/** Whether something was declared in this scope or below it. */
export function isWithin(inner: Place, outer: Place): boolean {
  if (outer.project === undefined) return true;
  return inner.project === outer.project && (outer.workspace === undefined || inner.workspace === outer.workspace);
}

/** What a spec names: in the scope of whoever names it, or in the organization where it says so. */
export function isNamed(
  target: ResourceDocument,
  by: ResourceDocument,
  named: { readonly name: string; readonly scope?: string | undefined },
): boolean {
  const place = named.scope === "organization" ? {} : by.metadata;
  return target.metadata.name === named.name && isSameScope(target.metadata, place);
}

export function specOf<Spec>({ spec }: ResourceDocument): Spec {
  return spec as Spec;
}
