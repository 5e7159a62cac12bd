import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { get, query } from "../api/client.ts";
import type { ResourcePage } from "../api/parts.ts";
import { agesReadEveryMs, base, keys, loopsQuery } from "../api/queries.ts";
import type { LoopsDocument, ResourceDocument } from "../api/types.ts";
import type { ObjectTab } from "../pages/object/route.tsx";
import { AxesLine } from "./axes.tsx";
import { ObjectLink, pathOf } from "./object-link.tsx";

/** As many as the server answers for at once. */
const askedAtMost = 100;

/** How things are that a page names by their place below the organization; undefined while they are read. */
export type Known = ReadonlyMap<string, ResourceDocument> | undefined;

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
  return found === undefined || loops === undefined ? undefined : byPath(found.items, loops);
}

function byPath(items: readonly ResourceDocument[], loops: LoopsDocument): Known {
  return new Map(items.map((resource) => [pathOf(resource, loops), resource]));
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
          resource={known?.get(path)}
          missing={known === undefined ? "reading…" : "not there any more"}
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
