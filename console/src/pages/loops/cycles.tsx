import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, query } from "../../api/client.ts";
import { base, keys, loopsQuery } from "../../api/queries.ts";
import type { CycleTraceDocument, ResourceDocument } from "../../api/types.ts";
import { type Act, BulkDialog } from "../../components/bulk-dialog.tsx";
import { Button } from "../../components/button.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";
import { Ago, fullTime } from "../../components/time.tsx";

/** The newest of a loop's resources; whoever has more looks at the others in the inventory. */
const most = 100;
/** As many as there is room for on a narrow screen, each wide enough for a finger. */
const shownCycles = 12;

interface Page {
  readonly items: readonly ResourceDocument[];
  readonly nextPageToken?: string;
}

interface Cycle extends CycleTraceDocument {
  readonly resource: ResourceDocument;
}

/** What a loop did of late: its diff sets as a line, its last cycle as a waterfall, and what a person can tell it. */
export function LoopCycles({ organization, kind }: { organization: string; kind: string }) {
  const page = useQuery({
    queryKey: [...keys.record(organization, "object"), "cycles", kind],
    queryFn: () => get<Page>(`${base(organization)}/resources${query({ kind, pageSize: most })}`),
  }).data;
  const [act, setAct] = useState<Act>();
  const [chosen, setChosen] = useState<string>();
  const cycles = cyclesOf(page?.items ?? []).slice(-shownCycles);
  const cycle = cycles.find((entry) => keyOf(entry) === chosen) ?? cycles.at(-1);
  return (
    <div className="mt-3 border-t border-line pt-3">
      <div className="mb-3 flex flex-wrap gap-2">
        <Button icon="refresh" onClick={() => setAct("look")}>
          Run now…
        </Button>
        <Button icon="pause" onClick={() => setAct("pause")}>
          Suspend…
        </Button>
        <Button icon="shield" onClick={() => setAct("mode")}>
          Mode…
        </Button>
      </div>
      {cycle === undefined ? (
        <p className="text-xs text-soft">
          No cycle has changed anything yet. Cycles that find everything as declared are only counted.
        </p>
      ) : (
        <>
          <Sparkline cycles={cycles} chosen={keyOf(cycle)} choose={setChosen} />
          <Waterfall organization={organization} cycle={cycle} />
        </>
      )}
      {act === undefined || page === undefined ? undefined : (
        <BulkDialog
          organization={organization}
          act={act}
          picked={page.items}
          note={page.nextPageToken === undefined ? undefined : `There are more than ${most}: choose in the inventory.`}
          close={() => setAct(undefined)}
        />
      )}
    </div>
  );
}

/** All cycles that the statuses tell of, the oldest first. */
function cyclesOf(resources: readonly ResourceDocument[]): readonly Cycle[] {
  return resources
    .flatMap((resource) =>
      resource.status.subjects.flatMap(({ cycles = [] }) => cycles.map((cycle) => ({ ...cycle, resource }))),
    )
    .toSorted((left, right) => (left.at < right.at ? -1 : 1));
}

function keyOf({ at, resource }: Cycle): string {
  return `${at} ${resource.metadata.uid}`;
}

const sets = [
  ["create", "bg-good", "+"],
  ["update", "bg-accent", "~"],
  ["delete", "bg-bad", "−"],
] as const;

/** One column per cycle, as high as its diff sets together; each is a button that shows that cycle below. */
function Sparkline({
  cycles,
  chosen,
  choose,
}: {
  cycles: readonly Cycle[];
  chosen: string;
  choose: (key: string) => void;
}) {
  const highest = Math.max(1, ...cycles.map((cycle) => cycle.create + cycle.update + cycle.delete));
  const total = (of: (typeof sets)[number][0]) => cycles.reduce((sum, cycle) => sum + cycle[of], 0);
  return (
    <div>
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs text-soft">
        <span title="Cycles that found everything as they left it are only counted">Diff sets of its last cycles</span>
        {sets.map(([of, colour, sign]) => (
          <span key={of} className="inline-flex items-center gap-1 tabular-nums">
            <span className={`size-2 rounded-sm ${colour}`} /> {sign}
            {total(of)} {of}
          </span>
        ))}
      </p>
      <div className="mt-1 flex h-12 items-end gap-px" role="group" aria-label="Cycles, the oldest first">
        {cycles.map((cycle) => (
          <button
            key={keyOf(cycle)}
            type="button"
            aria-pressed={keyOf(cycle) === chosen}
            aria-label={`${cycle.resource.metadata.name}, ${fullTime(cycle.at)}: ${wordsOf(cycle)}`}
            title={`${cycle.resource.metadata.name}: ${wordsOf(cycle)}`}
            onClick={() => choose(keyOf(cycle))}
            className={`flex h-full w-6 flex-col-reverse rounded-t-sm border-b-2 ${keyOf(cycle) === chosen ? "border-accent bg-accent-wash" : "border-strong-line hover:bg-sunken"}`}
          >
            {sets.map(([of, colour]) =>
              cycle[of] === 0 ? undefined : (
                <span
                  key={of}
                  className={`block w-full ${colour}`}
                  style={{ height: `${(cycle[of] / highest) * 92}%` }}
                />
              ),
            )}
          </button>
        ))}
      </div>
    </div>
  );
}

function wordsOf(cycle: Cycle): string {
  const sizes = sets.filter(([of]) => cycle[of] > 0).map(([of, , sign]) => `${sign}${cycle[of]}`);
  return `${cycle.result}${sizes.length === 0 ? ", nothing differs" : ` ${sizes.join(" ")}`}`;
}

const phases = [
  ["observe", "bg-warn"],
  ["diff", "bg-strong-line"],
  ["guard", "bg-hold"],
  ["act", "bg-accent"],
] as const;

/** Where the time of one cycle went, one part behind the other. */
function Waterfall({ organization, cycle }: { organization: string; cycle: Cycle }) {
  const loops = useQuery(loopsQuery).data;
  const { spentMs } = cycle;
  const wholeMs = Math.max(0.1, spentMs.observe + spentMs.diff + spentMs.guard + spentMs.act);
  let fromMs = 0;
  const rows = phases.map(([phase, colour]) => {
    const row = { phase, colour, fromMs, ms: spentMs[phase] };
    fromMs += row.ms;
    return row;
  });
  return (
    <div className="mt-3">
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <ObjectLink organization={organization} path={pathOf(cycle.resource, loops)}>
          {cycle.resource.metadata.name}
        </ObjectLink>
        <span className="text-soft">
          {wordsOf(cycle)}, {cycle.written} written, <Ago at={cycle.at} />
        </span>
      </p>
      <ol className="mt-1 space-y-1" aria-label="Where the time of this cycle went">
        {rows.map((row) => (
          <li key={row.phase} className="flex items-center gap-2 text-xs">
            <span className="w-14 shrink-0">{row.phase}</span>
            <span className="relative block h-3 flex-1 rounded bg-sunken">
              <span
                className={`absolute inset-y-0.5 rounded-sm ${row.colour}`}
                style={{
                  left: `min(100% - 2px, ${(row.fromMs / wholeMs) * 100}%)`,
                  width: `max(2px, ${(row.ms / wholeMs) * 100}%)`,
                }}
              />
            </span>
            <span className="w-16 shrink-0 text-right text-soft tabular-nums">{milliseconds(row.ms)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function milliseconds(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 10 || ms === 0 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}
