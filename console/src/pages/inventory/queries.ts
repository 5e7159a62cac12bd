import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { get, query } from "../../api/client.ts";
import type { ResourcePage } from "../../api/parts.ts";
import { pagesKeptLive } from "../../api/live.ts";
import { agesReadEveryMs, base, keys } from "../../api/queries.ts";
import type { InventorySearch } from "./route.tsx";

/** Small enough that the first rows come at once; the next ones are asked for long before they are needed. */
const pageSize = 100;
const ready = { yes: "true", no: "false", unknown: "unknown" } as const;

export function resourcesQuery(organization: string, search: InventorySearch) {
  const { kind, project, name, labels, mode, only } = search;
  const filters = {
    kind,
    project,
    namePrefix: name,
    labels,
    mode,
    ready: search.ready === undefined ? undefined : ready[search.ready],
    ...(only === undefined ? {} : { [only]: true }),
  };
  return infiniteQueryOptions({
    queryKey: [...keys.record(organization, "resources"), "inventory", search],
    queryFn: ({ pageParam, signal }) =>
      get<ResourcePage>(
        `${base(organization)}/resources${query({ ...filters, pageSize, pageToken: pageParam })}`,
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    placeholderData: keepPreviousData,
    // What a person has scrolled far down is not read whole again for its ages; the page says then how old it is.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > pagesKeptLive ? false : agesReadEveryMs),
  });
}
