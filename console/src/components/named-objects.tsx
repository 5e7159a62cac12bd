import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { get, query } from "../api/client.ts";
import type { ResourcePage } from "../api/parts.ts";
import { agesReadEveryMs, base, keys, loopsQuery } from "../api/queries.ts";
import type { ResourceDocument } from "../api/types.ts";
import type { ObjectTab } from "../pages/object/route.tsx";
import { AxesLine } from "./axes.tsx";
import { ObjectLink, pathOf } from "./object-link.tsx";

/** As many as the server answers for at once. */
const askedAtMost = 100;

/** How things are that a page names by their place below the organization; undefined while they are read. */
export type Known =
  | { readonly asked: ReadonlySet<string>; readonly found: ReadonlyMap<string, ResourceDocument> }
  | undefined;

const namedQuery = (organization: string, paths: readonly string[]) =>
  queryOptions({
    queryKey: [...keys.record(organization, "resources"), "named", ...paths],
    queryFn: ({ signal }) =>
      get<ResourcePage>(`${base(organization)}/resources${query({ paths: paths.join(",") })}`, signal),
    enabled: paths.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: agesReadEveryMs,
    retry: false,
  });

/** Everything that a page names, in one question. */
export function useNamed(organization: string, paths: readonly string[]): Known {
  const asked = [...new Set(paths)].slice(0, askedAtMost);
  const loops = useQuery(loopsQuery).data;
  const found = useQuery(namedQuery(organization, asked)).data;
  if (found === undefined || loops === undefined) return undefined;
  const byPath = new Map(found.items.map((resource) => [pathOf(resource, loops), resource]));
  return { asked: new Set(asked), found: byPath };
}

/** Why nothing is said about something. What came behind the last that was asked for is left to its own page. */
function why(known: Known, path: string): string {
  if (known === undefined) return "reading…";
  return known.asked.has(path) ? "not there any more" : "";
}

export interface NamedObject {
  readonly path: string;
  readonly name: string;
  readonly note?: ReactNode;
}

/** Objects with their four axes, one below the other. */
export function NamedObjects({
  organization,
  objects,
  known,
  tab,
}: {
  organization: string;
  objects: readonly NamedObject[];
  known: Known;
  tab?: ObjectTab;
}) {
  if (objects.length === 0) return undefined;
  return (
    <ul className="@container">
      {objects.map(({ path, name, note }) => (
        <ObjectLine
          key={path}
          label={
            <>
              <ObjectLink organization={organization} path={path} {...(tab === undefined ? {} : { tab })}>
                {name}
              </ObjectLink>
              {note}
            </>
          }
          resource={known?.found.get(path)}
          missing={why(known, path)}
        />
      ))}
    </ul>
  );
}

/** One line of such a list: what it is called, and beside or below that how it is. */
export function ObjectLine({
  label,
  resource,
  missing = "",
}: {
  label: ReactNode;
  resource: Omit<ResourceDocument, "spec"> | undefined;
  /** Said where nothing is known of it. */
  missing?: string;
}) {
  return (
    <li className="grid items-center gap-x-3 gap-y-0.5 py-1 text-sm @2xl:grid-cols-[minmax(0,1fr)_29rem]">
      <span className="min-w-0 break-words">{label}</span>
      {resource === undefined ? <span className="text-xs text-soft">{missing}</span> : <AxesLine resource={resource} />}
    </li>
  );
}
