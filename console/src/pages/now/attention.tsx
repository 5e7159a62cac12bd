import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client.ts";
import { base, figuresQuery, keys, loopsQuery, pendingQuery } from "../../api/queries.ts";
import type { DriftDocument } from "../../api/types.ts";
import { Icon, type IconName } from "../../components/icons.tsx";
import { type Tone, tones } from "../../components/mark.tsx";
import { type Known, NamedObjects, useNamed } from "../../components/named-objects.tsx";
import { pathOfLink } from "../../components/object-link.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import type { Cause } from "./cause.ts";
import { failedLookCauses, failedLooksQuery } from "./failed-looks.ts";
import { mayNotRead } from "./may-not-read.ts";
import { needingSomebodyQuery, operationCause } from "./operation-causes.tsx";

/** What differs, fails or needs somebody, by its cause. */
export function Attention({ organization }: { organization: string }) {
  const drift = useQuery({
    queryKey: keys.record(organization, "drift"),
    queryFn: () => get<DriftDocument>(`${base(organization)}/drift`),
  });
  const pending = useQuery(pendingQuery(organization));
  const operations = useQuery(needingSomebodyQuery(organization));
  const failed = useQuery(failedLooksQuery(organization));
  const loops = useQuery(loopsQuery).data;
  return (
    <Panel
      title="Needs attention"
      flush
      aside={
        drift.data === undefined
          ? undefined
          : drift.data.resources > 0 && (
              <Link to="/o/$organization/drift" params={{ organization }} className="text-accent hover:underline">
                {drift.data.resources === 1 ? "1 resource differs" : `${drift.data.resources} resources differ`}
              </Link>
            )
      }
    >
      <Answer
        of={allOf(drift, orNothing(pending, { items: [] }), orNothing(operations, []), failed)}
        what="what differs, fails or needs somebody"
      >
        {([{ causes }, { items }, needing, failedLooks]) => {
          const failing = failedLookCauses(failedLooks, loops);
          const failingPaths = new Set(failing.flatMap(({ resources }) => resources.map(({ path }) => path)));
          const all = [
            ...needing.map((operation) => operationCause(organization, operation)),
            ...failing,
            ...causes.map(driftCause),
            ...unseenCauses(items.filter(({ link }) => !failingPaths.has(pathOfLink(link)))),
          ];
          if (all.length === 0) return <Calm organization={organization} />;
          return <Causes organization={organization} causes={all} />;
        }}
      </Answer>
    </Panel>
  );
}

/** So many of the resources of a cause are named here; the Drift page and the table have the others. */
const namedEach = 3;

function Causes({ organization, causes }: { organization: string; causes: readonly Cause[] }) {
  const known = useNamed(
    organization,
    causes.flatMap(({ resources }) => resources.slice(0, namedEach).map(({ path }) => path)),
  );
  return (
    <ul className="divide-y divide-line">
      {causes.map((cause) => (
        <CauseRow key={cause.key} organization={organization} cause={cause} known={known} />
      ))}
    </ul>
  );
}

function CauseRow({ organization, cause, known }: { organization: string; cause: Cause; known: Known }) {
  const { tone, icon, title, note, since, resources, resourceCount } = cause;
  const more = resourceCount - Math.min(namedEach, resources.length);
  return (
    <li className="px-3.5 py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className={`min-w-0 flex-1 basis-60 text-sm font-medium break-words ${tones[tone]}`}>
          <Icon name={icon} size={14} className="mr-1 inline align-[-2px]" />
          {title}
        </span>
        {since === "" ? undefined : <Ago at={since} className="text-xs text-soft" />}
      </div>
      <p className="text-sm text-soft">{note}</p>
      <NamedObjects organization={organization} objects={resources.slice(0, namedEach)} known={known} />
      {more > 0 ? <p className="text-sm text-soft">and {more} more</p> : undefined}
    </li>
  );
}

/** Nothing needs attention: because all is well, or because nothing is declared yet. */
function Calm({ organization }: { organization: string }) {
  const figures = useQuery(figuresQuery(organization)).data ?? [];
  const total = figures.reduce((sum, entry) => sum + entry.total, 0);
  if (total > 0)
    return (
      <Empty icon="check" title="Everything is as declared">
        What differs, fails or is refused appears here, grouped by its cause.
      </Empty>
    );
  return (
    <Empty icon="stack" title="Nothing is declared yet">
      What differs, fails or is refused will appear here, grouped by its cause. Declare something first:{" "}
      <Command>bin/setpoint.mjs apply -f examples/colours.yaml</Command>
    </Empty>
  );
}

interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** What somebody may not read is not theirs to attend to. */
function orNothing<Data, Less>(asked: Asked<Data>, nothing: Less): Asked<Data | Less> {
  return mayNotRead(asked.error) ? { ...asked, data: nothing, error: null } : asked;
}

/** Several answers as one: that nothing needs attention is known only when all of them are there. */
function allOf<A, B, C, D>(
  first: Asked<A>,
  second: Asked<B>,
  third: Asked<C>,
  fourth: Asked<D>,
): Asked<readonly [A, B, C, D]> {
  const all = [first, second, third, fourth];
  const { data: a } = first;
  const { data: b } = second;
  const { data: c } = third;
  const { data: d } = fourth;
  return {
    data: a === undefined || b === undefined || c === undefined || d === undefined ? undefined : [a, b, c, d],
    error: all.find(({ data, error }) => data === undefined && error !== null)?.error ?? null,
    refetch: () => Promise.all(all.filter(({ data }) => data === undefined).map(({ refetch }) => refetch())),
  };
}

function driftCause(cause: DriftDocument["causes"][number]): Cause {
  const { kind, action, field, items, resources, resourceCount, since, guards } = cause;
  const things = `${items} item${items === 1 ? "" : "s"}`;
  const act = action === "takeover" ? "take over" : action;
  const what = field === "" ? `${act} ${things}` : `${field} differs`;
  const answer = answerTo(guards);
  return {
    key: `${kind} ${action} ${field}`,
    tone: answer.tone,
    icon: answer.icon,
    title: `${kind}: ${what}`,
    note: field === "" ? answer.words : `${things} to ${act}; ${answer.words}`,
    since,
    resources: resources.map(({ name, link }) => ({ name, path: pathOfLink(link) })),
    resourceCount,
  };
}

/** What becomes of a difference. The guard of an operation is no guard that somebody must answer: the work is under way. */
function answerTo(guards: readonly string[]): {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly words: string;
} {
  if (guards.length === 0) return { tone: "warn", icon: "differs", words: "being put right" };
  if (guards.every((guard) => guard === "hold"))
    return { tone: "accent", icon: "play", words: "an operation is at work on it" };
  return { tone: "hold", icon: "hand", words: `stopped by ${guards.join(", ")}` };
}

/** What nobody has looked at since it changed: no difference is known of it, and no failure either. */
function unseenCauses(
  items: readonly {
    readonly link: string;
    readonly name: string;
    readonly kind: string;
    readonly message: string;
    readonly differences: number;
    readonly since: string;
  }[],
): readonly Cause[] {
  const byMessage = Map.groupBy(
    items.filter(({ differences }) => differences === 0),
    ({ kind, message }) => `${kind}: ${message}`,
  );
  return [...byMessage].map(([title, group]) => ({
    key: title,
    tone: "plain",
    icon: "clock",
    title,
    note: `${group.length} resource${group.length === 1 ? "" : "s"}`,
    since: group.map(({ since }) => since).toSorted()[0] ?? "",
    resources: group.map(({ name, link }) => ({ name, path: pathOfLink(link) })),
    resourceCount: group.length,
  }));
}
