import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { get, query } from "../../api/client.ts";
import { agesReadEveryMs, base, figuresQuery, keys, loopsQuery, pendingQuery } from "../../api/queries.ts";
import type { MapDocument } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Chosen } from "../../components/chosen.tsx";
import { PageHeader } from "../../components/panel.tsx";
import { useIsAtLeast } from "../../components/screen.ts";
import { Command, Empty, ProblemNote, Reading } from "../../components/states.tsx";
import { Canvas } from "./canvas.tsx";
import { Details } from "./details.tsx";
import { entriesOf } from "./entries.ts";
import { MapList } from "./list.tsx";
import { type MapSearch, mapRoute } from "./route.tsx";
import { useLayout } from "./use-layout.ts";

type Change = Partial<Record<keyof MapSearch, string | number | undefined>>;

/** Below this there is no room for a map that could be read. */
const wideRem = 40;

function useMap(organization: string, { kind, project, focus, hops }: MapSearch) {
  const asked = focus === undefined ? { kind, project } : { focus, hops };
  return useQuery({
    queryKey: [...keys.record(organization, "resources"), "map", asked],
    queryFn: ({ signal }) => get<MapDocument>(`${base(organization)}/map${query(asked)}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: agesReadEveryMs,
  });
}

/** What relates to what. Long lists are one card each; a focus shows what is around one thing. */
export function MapPage() {
  const { organization } = mapRoute.useParams();
  const search = mapRoute.useSearch();
  const navigate = useNavigate();
  const isWide = useIsAtLeast(wideRem);
  const found = useMap(organization, search);
  const loops = useQuery(loopsQuery).data;
  const plan = search.overlay === "plan";
  const pending = useQuery({ ...pendingQuery(organization), enabled: plan }).data;
  const entries = useMemo(
    () => (found.data === undefined ? [] : entriesOf(organization, found.data, loops, plan ? pending : undefined)),
    [found.data, organization, loops, plan, pending],
  );
  const input = useMemo(
    () => ({ cards: entries.map(({ id, area, kind }) => ({ id, area, kind })), edges: found.data?.edges ?? [] }),
    [entries, found.data],
  );
  const asList = !isWide || search.as === "list";
  const { layout, error } = useLayout(asList || found.data === undefined ? undefined : input);
  const set = useCallback(
    (change: Change) =>
      void navigate({
        to: "/o/$organization/map",
        params: { organization },
        search: (before: MapSearch) =>
          Object.fromEntries(
            Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined && value !== ""),
          ) as MapSearch,
        replace: true,
      }),
    [navigate, organization],
  );
  const choose = useCallback((card: string | undefined) => set({ card }), [set]);
  const chosen = entries.find(({ id }) => id === search.card);
  const edges = found.data?.edges ?? [];
  return (
    <div className={asList ? "" : "flex h-[calc(100dvh-9rem)] min-h-96 flex-col"}>
      <PageHeader title="Map" lead="What refers to what, and what is a part of what; an arrow ends at what is named." />
      <Filters organization={organization} search={search} set={set} focusTitle={titleOf(entries, search.focus)} />
      {found.error === null ? undefined : <ProblemNote error={found.error} retry={() => void found.refetch()} />}
      {error === undefined ? undefined : <ProblemNote error={error} />}
      {found.isPending ? (
        <Reading what="the map" rows={8} />
      ) : found.data === undefined ? undefined : entries.length === 0 ? (
        <Nothing filtered={Object.keys(search).length > 0} clear={() => set(cleared)} />
      ) : (
        <div className={asList ? "space-y-3" : "flex min-h-0 flex-1 flex-col gap-3 lg:flex-row"}>
          {isWide ? undefined : (
            <p className="text-sm text-soft">
              The map itself needs a wider screen. These are the same things; choose one to see what it relates to.
            </p>
          )}
          {asList ? undefined : (
            <div
              role="region"
              aria-label="Map"
              className="flex min-h-64 min-w-0 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-panel"
            >
              {layout === undefined ? (
                <Reading what="the places of the cards" />
              ) : (
                <Canvas
                  entries={entries}
                  edges={edges}
                  layout={layout}
                  plan={plan}
                  focus={search.focus}
                  chosen={search.card}
                  choose={choose}
                />
              )}
            </div>
          )}
          {chosen === undefined ? undefined : (
            <aside aria-label="Chosen card" className={asList ? "" : "shrink-0 overflow-y-auto lg:w-80"}>
              <Details
                organization={organization}
                entry={chosen}
                entries={entries}
                edges={edges}
                plan={plan}
                choose={choose}
                focus={(focus) => set({ focus, kind: undefined, project: undefined })}
              />
            </aside>
          )}
          {asList ? <MapList entries={entries} plan={plan} chosen={search.card} choose={choose} /> : undefined}
        </div>
      )}
      {entries.length === 0 || found.data === undefined ? undefined : (
        <Status map={found.data} planTruncated={plan && pending?.truncated === true} />
      )}
    </div>
  );
}

const cleared = {
  kind: undefined,
  project: undefined,
  focus: undefined,
  hops: undefined,
  card: undefined,
  overlay: undefined,
} as const;

function titleOf(entries: ReturnType<typeof entriesOf>, focus: string | undefined): string | undefined {
  const entry = entries.find(({ id }) => id === focus);
  return entry === undefined ? focus : `${entry.kind}/${entry.title}`;
}

function Filters({
  organization,
  search,
  set,
  focusTitle,
}: {
  organization: string;
  search: MapSearch;
  set: (change: Change) => void;
  focusTitle: string | undefined;
}) {
  const figures = useQuery(figuresQuery(organization)).data ?? [];
  const kinds = [...new Set(figures.map(({ kind }) => kind))];
  const projects = [...new Set(figures.map(({ scope }) => scope.split("/")[0] ?? ""))].filter((name) => name !== "");
  const { kind, project } = search;
  const table = { ...(kind === undefined ? {} : { kind }), ...(project === undefined ? {} : { project }) };
  return (
    <form
      role="search"
      aria-label="Filters"
      className="mb-3 flex flex-wrap items-center gap-2"
      onSubmit={(event) => event.preventDefault()}
    >
      {search.focus === undefined ? (
        <>
          <Chosen
            label="Kind"
            value={kind}
            set={(next) => set({ kind: next, card: undefined })}
            any="Every kind"
            options={kinds.map((one) => [one, one])}
          />
          {projects.length === 0 ? undefined : (
            <Chosen
              label="Project"
              value={project}
              set={(next) => set({ project: next, card: undefined })}
              any="Every project"
              options={projects.map((one) => [one, one])}
            />
          )}
        </>
      ) : (
        <>
          <span className="max-w-full truncate text-sm">
            Around <b>{focusTitle}</b>
          </span>
          <Chosen
            label="How far"
            value={search.hops === undefined ? undefined : String(search.hops)}
            set={(hops) => set({ hops: hops === undefined ? undefined : Number(hops) })}
            any="2 hops"
            options={["1", "3", "4"].map((hops) => [hops, hops === "1" ? "1 hop" : `${hops} hops`])}
          />
          <Button icon="back" onClick={() => set({ focus: undefined, hops: undefined })}>
            Everything
          </Button>
        </>
      )}
      <Chosen
        label="Overlay"
        value={search.overlay}
        set={(overlay) => set({ overlay })}
        any="The four axes"
        options={[["plan", "What the plan does"]]}
      />
      <span className="max-sm:hidden">
        <Chosen
          label="Shown as"
          value={search.as}
          set={(as) => set({ as })}
          any="As a map"
          options={[["list", "As a list"]]}
        />
      </span>
      <Link
        to="/o/$organization/inventory"
        params={{ organization }}
        search={table}
        className="text-sm text-accent hover:underline"
      >
        Table
      </Link>
    </form>
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
    <Empty icon="map" title="Nothing is declared yet">
      Declare something, and it has its place here: <Command>bin/setpoint.mjs apply -f examples/colours.yaml</Command>
    </Empty>
  );
}

function Status({ map, planTruncated }: { map: MapDocument; planTruncated: boolean }) {
  const { cards, groups, edges, leftOut, truncated } = map;
  const grouped = groups.reduce((sum, { total }) => sum + total, 0);
  return (
    <p className="pt-1.5 text-xs text-soft tabular-nums" role="status">
      {cards.length} card{cards.length === 1 ? "" : "s"}
      {groups.length === 0 ? "" : `, ${grouped} more in ${groups.length} group${groups.length === 1 ? "" : "s"}`},{" "}
      {edges.length} relation{edges.length === 1 ? "" : "s"}
      {truncated ? "; more relates to it than is drawn" : ""}
      {leftOut.resources === 0
        ? ""
        : `; ${leftOut.resources} in ${leftOut.groups} lists are left out: filter by project`}
      {planTruncated ? "; the plan has more than is marked" : ""}
    </p>
  );
}
