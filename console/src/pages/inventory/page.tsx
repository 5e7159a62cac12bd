import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type Dispatch,
  memo,
  type ReactNode,
  type SetStateAction,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { pagesKeptLive } from "../../api/live.ts";
import { loopsQuery } from "../../api/queries.ts";
import type { ResourceDocument } from "../../api/types.ts";
import { AxesLine, axesOf, AxisMark } from "../../components/axes.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";
import { PageHeader } from "../../components/panel.tsx";
import { useIsAtLeast } from "../../components/screen.ts";
import { Command, Empty, ProblemNote, Reading } from "../../components/states.tsx";
import { duration, useNowMs } from "../../components/time.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { DeclareButton } from "./declare.tsx";
import { Filters } from "./filters.tsx";
import { resourcesQuery } from "./queries.ts";
import { type InventorySearch, inventoryRoute } from "./route.tsx";

/** The next page is asked for when so many rows are left. */
const readAhead = 150;

/** How a row is laid out: with a column for each axis, or with the axes below its name, in one line or two and two. */
type Layout = "columns" | "line" | "square";
const rowPixels: Readonly<Record<Layout, number>> = { columns: 40, line: 56, square: 72 };
const rowClass: Readonly<Record<Layout, string>> = { columns: "h-10", line: "h-14", square: "h-18" };

function useRowLayout(): Layout {
  const hasColumns = useIsAtLeast(64);
  const hasLine = useIsAtLeast(40);
  return hasColumns ? "columns" : hasLine ? "line" : "square";
}

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
      ) : found.data === undefined ? undefined : rows.length === 0 && !found.hasNextPage ? (
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
          aside={
            (found.data?.pages.length ?? 0) > pagesKeptLive ? (
              <LongList readAtMs={found.dataUpdatedAt} again={() => void found.refetch()} />
            ) : undefined
          }
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
  /** Said beside the number of rows. */
  readonly aside: ReactNode;
}

/** What was scrolled far down is not kept young: its ages say how old things were, and this how long ago that was. */
function LongList({ readAtMs, again }: { readAtMs: number; again: () => void }) {
  return (
    <>
      {" "}
      · read {duration(useNowMs() - readAtMs)} ago, and not kept up to date at this length:{" "}
      <button type="button" className="text-accent underline" onClick={again}>
        read again
      </button>
    </>
  );
}

function Table({ organization, rows, chosen, choose, more, complete, aside }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useRowLayout();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels[layout],
    overscan: 40,
  });
  // Every row of a layout is as high as the others; a screen that is turned has another layout.
  useEffect(() => virtual.measure(), [layout, virtual]);
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
              {layout === "columns" ? (
                headings.map(([title, className]) => (
                  <th key={title} className={`px-2 font-medium ${className}`}>
                    {title}
                  </th>
                ))
              ) : (
                <th className="px-2 font-medium">Name, ready, synced, freshness, guard</th>
              )}
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
                  layout={layout}
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
        {aside}
      </p>
    </>
  );
}

const headings = [
  ["Name", ""],
  ["Kind", ""],
  ["Scope", "hidden xl:table-cell"],
  ["Ready", ""],
  ["Synced", ""],
  ["Freshness", ""],
  ["Guard", ""],
] as const;

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
  layout,
  chosen,
  toggle,
}: {
  organization: string;
  resource: ResourceDocument;
  path: string;
  layout: Layout;
  chosen: boolean;
  toggle: (uid: string) => void;
}) {
  const { metadata } = resource;
  return (
    <tr
      className={`${rowClass[layout]} border-b border-line last:border-0 ${chosen ? "bg-accent-wash" : "hover:bg-sunken"}`}
    >
      <td className="w-9 pl-3.5">
        <input
          type="checkbox"
          aria-label={`Choose ${metadata.name}`}
          checked={chosen}
          onChange={() => toggle(metadata.uid)}
        />
      </td>
      {layout === "columns" ? (
        <Columns organization={organization} resource={resource} path={path} />
      ) : (
        <td className="max-w-0 px-2">
          <Name organization={organization} resource={resource} path={path} withKind />
          <AxesLine resource={resource} className={layout === "line" ? "grid-cols-4" : "grid-cols-2"} />
        </td>
      )}
    </tr>
  );
});

interface RowProps {
  readonly organization: string;
  readonly resource: ResourceDocument;
  readonly path: string;
}

function Columns({ organization, resource, path }: RowProps) {
  const { metadata, kind } = resource;
  const { ready: isReady, synced, fresh, guard } = axesOf(resource, useNowMs());
  const scope = [metadata.project, metadata.workspace].filter((part) => part !== undefined).join(" / ");
  return (
    <>
      <td className="w-1/3 max-w-0 min-w-40 px-2">
        <Name organization={organization} resource={resource} path={path} />
      </td>
      <td className="px-2 text-soft">{kind}</td>
      <td className="hidden max-w-40 truncate px-2 text-soft xl:table-cell" title={scope}>
        {scope === "" ? "organization" : scope}
      </td>
      {[isReady, synced, fresh, guard].map((axis, index) => (
        <td key={index} className="px-2">
          <AxisMark axis={axis} />
        </td>
      ))}
    </>
  );
}

function Name({ organization, resource, path, withKind = false }: RowProps & { readonly withKind?: boolean }) {
  const { metadata, kind } = resource;
  return (
    <div className="truncate" title={metadata.name}>
      {withKind ? <span className="text-soft">{kind}/</span> : undefined}
      <ObjectLink organization={organization} path={path}>
        {metadata.name}
      </ObjectLink>
      {metadata.deletion === undefined ? undefined : <span className="ml-2 text-xs text-bad">being deleted</span>}
    </div>
  );
}
