import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Dispatch, memo, type SetStateAction, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { loopsQuery } from "../../api/queries.ts";
import type { ResourceDocument } from "../../api/types.ts";
import { axesOf, AxisMark } from "../../components/axes.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";
import { PageHeader } from "../../components/panel.tsx";
import { Command, Empty, ProblemNote, Reading } from "../../components/states.tsx";
import { useNowMs } from "../../components/time.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { DeclareButton } from "./declare.tsx";
import { Filters } from "./filters.tsx";
import { resourcesQuery } from "./queries.ts";
import { type InventorySearch, inventoryRoute } from "./route.tsx";

/** The next page is asked for when so many rows are left. */
const readAhead = 150;
const rowPixels = 40;

/** One table for every kind. The server filters and pages; only the rows on the screen are drawn. */
export function InventoryPage() {
  const { organization } = inventoryRoute.useParams();
  const search = inventoryRoute.useSearch();
  const navigate = useNavigate();
  const found = useInfiniteQuery(resourcesQuery(organization, search));
  const rows = useMemo(() => (found.data?.pages ?? []).flatMap(({ items }) => items), [found.data]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const set = (change: Partial<Record<keyof InventorySearch, string | undefined>>) =>
    void navigate({
      to: "/o/$organization/inventory",
      params: { organization },
      search: Object.fromEntries(
        Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined && value !== ""),
      ) as InventorySearch,
      replace: true,
    });
  const picked = rows.filter(({ metadata }) => chosen.has(metadata.uid));
  return (
    <div className="flex h-[calc(100dvh-9rem)] min-h-80 flex-col">
      <PageHeader title="Inventory">
        <DeclareButton organization={organization} />
      </PageHeader>
      <Filters organization={organization} search={search} set={set} />
      {found.error === null ? undefined : <ProblemNote error={found.error} retry={() => void found.refetch()} />}
      {found.isPending ? (
        <Reading what="resources" rows={8} />
      ) : rows.length === 0 && !found.hasNextPage ? (
        <Nothing
          filtered={Object.keys(search).length > 0}
          clear={() => void navigate({ to: "/o/$organization/inventory", params: { organization }, search: {} })}
        />
      ) : (
        <Table
          organization={organization}
          rows={rows}
          chosen={chosen}
          choose={setChosen}
          more={() => {
            if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
          }}
          complete={!found.hasNextPage}
        />
      )}
      {picked.length === 0 ? undefined : (
        <BulkBar organization={organization} picked={picked} clear={() => setChosen(new Set())} />
      )}
    </div>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered)
    return (
      <Empty icon="search" title="Nothing fits these filters">
        <button type="button" className="text-accent underline" onClick={clear}>
          Clear them
        </button>
      </Empty>
    );
  return (
    <Empty icon="stack" title="Nothing is declared yet">
      Declare something with the button above, or on the command line:{" "}
      <Command>bin/setpoint.mjs apply -f examples/colours.yaml</Command>
    </Empty>
  );
}

interface TableProps {
  readonly organization: string;
  readonly rows: readonly ResourceDocument[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: Dispatch<SetStateAction<ReadonlySet<string>>>;
  readonly more: () => void;
  readonly complete: boolean;
}

function Table({ organization, rows, chosen, choose, more, complete }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels,
    overscan: 40,
  });
  const drawn = virtual.getVirtualItems();
  const last = drawn.at(-1)?.index ?? 0;
  // The next page is asked for long before its rows come into view.
  useEffect(() => {
    if (last >= rows.length - readAhead) more();
  }, [last, rows.length, more]);
  const above = drawn[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  const all = rows.length > 0 && rows.every(({ metadata }) => chosen.has(metadata.uid));
  const loops = useQuery(loopsQuery).data;
  // The same function for every row and every time: a row is drawn anew when it changes, not when the table moves.
  const toggle = useCallback(
    (uid: string) =>
      choose((before) => {
        const next = new Set(before);
        if (!next.delete(uid)) next.add(uid);
        return next;
      }),
    [choose],
  );
  return (
    <>
      <div
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Resources"
        className="min-h-0 flex-1 overflow-auto rounded-lg border border-line bg-panel"
      >
        <table className="w-full text-left text-sm">
          <thead className="sticky top-0 z-10 bg-panel text-xs text-soft shadow-[0_1px_0_var(--line)]">
            <tr className="h-9">
              <th className="w-9 pl-3.5">
                <input
                  type="checkbox"
                  aria-label="Choose all that were read"
                  checked={all}
                  onChange={() => choose(all ? new Set() : new Set(rows.map(({ metadata }) => metadata.uid)))}
                />
              </th>
              <th className="px-2 font-medium">Name</th>
              <th className="hidden px-2 font-medium sm:table-cell">Kind</th>
              <th className="hidden px-2 font-medium lg:table-cell">Scope</th>
              <th className="px-2 font-medium">Ready</th>
              <th className="hidden px-2 font-medium sm:table-cell">Synced</th>
              <th className="hidden px-2 font-medium md:table-cell">Freshness</th>
              <th className="hidden px-2 font-medium md:table-cell">Guard</th>
            </tr>
          </thead>
          <tbody>
            {above > 0 ? <Spacer pixels={above} /> : undefined}
            {drawn.map(({ index }) => {
              const resource = rows[index];
              if (resource === undefined) return undefined;
              return (
                <Row
                  key={resource.metadata.uid}
                  organization={organization}
                  resource={resource}
                  path={pathOf(resource, loops)}
                  chosen={chosen.has(resource.metadata.uid)}
                  toggle={toggle}
                />
              );
            })}
            {below > 0 ? <Spacer pixels={below} /> : undefined}
          </tbody>
        </table>
      </div>
      <p className="pt-1.5 text-xs text-soft tabular-nums" role="status">
        {rows.length} {complete ? "in all" : "read so far; more come as you scroll"}
      </p>
    </>
  );
}

function Spacer({ pixels }: { pixels: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={8} style={{ height: pixels, padding: 0 }} />
    </tr>
  );
}

const Row = memo(function Row({
  organization,
  resource,
  path,
  chosen,
  toggle,
}: {
  organization: string;
  resource: ResourceDocument;
  path: string;
  chosen: boolean;
  toggle: (uid: string) => void;
}) {
  const { metadata, kind } = resource;
  const { ready: isReady, synced, fresh, guard } = axesOf(resource, useNowMs());
  const scope = [metadata.project, metadata.workspace].filter((part) => part !== undefined).join(" / ");
  return (
    <tr className={`h-10 border-b border-line last:border-0 ${chosen ? "bg-accent-wash" : "hover:bg-sunken"}`}>
      <td className="pl-3.5">
        <input
          type="checkbox"
          aria-label={`Choose ${metadata.name}`}
          checked={chosen}
          onChange={() => toggle(metadata.uid)}
        />
      </td>
      <td className="max-w-0 min-w-40 px-2 sm:w-1/3">
        <div className="truncate" title={metadata.name}>
          <ObjectLink organization={organization} path={path}>
            {metadata.name}
          </ObjectLink>
          {metadata.deletion === undefined ? undefined : <span className="ml-2 text-xs text-bad">being deleted</span>}
        </div>
      </td>
      <td className="hidden px-2 text-soft sm:table-cell">{kind}</td>
      <td className="hidden max-w-40 truncate px-2 text-soft lg:table-cell" title={scope}>
        {scope === "" ? "organization" : scope}
      </td>
      <td className="px-2">
        <AxisMark axis={isReady} />
      </td>
      <td className="hidden px-2 sm:table-cell">
        <AxisMark axis={synced} />
      </td>
      <td className="hidden px-2 md:table-cell">
        <AxisMark axis={fresh} />
      </td>
      <td className="hidden px-2 md:table-cell">
        <AxisMark axis={guard} />
      </td>
    </tr>
  );
});
