import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiProblem, get } from "../../api/client.ts";
import {
  accountsQuery,
  base,
  figuresQuery,
  heldQuery,
  keys,
  loopsQuery,
  pendingQuery,
  summaryQuery,
} from "../../api/queries.ts";
import type { AuditEntryDocument, DriftDocument, FiguresDocument } from "../../api/types.ts";
import { Budget } from "../../components/budget.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { Chip, Mark, type Tone, tones } from "../../components/mark.tsx";
import { type Known, NamedObjects, useNamed } from "../../components/named-objects.tsx";
import { pathOfLink } from "../../components/object-link.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { Ago, duration, useNowMs } from "../../components/time.tsx";
import { HeldRow, inOrder } from "../held/held-row.tsx";
import type { InventorySearch } from "../inventory/route.tsx";
import { failedLookCauses, failedLooksQuery } from "./failed-looks.ts";
import { FirstSteps } from "./first-steps.tsx";
import { needingSomebodyQuery, operationCause } from "./operation-causes.tsx";
import { nowRoute } from "./route.tsx";

/** What is bad now, how bad, since when, and what can be done about it, without a click. */
export function NowPage() {
  const { organization } = nowRoute.useParams();
  return (
    <>
      <PageHeader title="Now" lead="What needs somebody, what waits for approval, and what the loops are doing." />
      <FirstSteps organization={organization} />
      <Figures organization={organization} />
      <div className="mt-4 grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="min-w-0 space-y-4">
          <Attention organization={organization} />
          <Waiting organization={organization} />
          <Activity organization={organization} />
        </div>
        <div className="min-w-0 space-y-4">
          <Cycles organization={organization} />
          <Providers organization={organization} />
          <Services />
        </div>
      </div>
    </>
  );
}

function Figures({ organization }: { organization: string }) {
  const figures = useQuery(figuresQuery(organization));
  const sum = (of: keyof FiguresDocument["items"][number]) =>
    (figures.data ?? []).reduce((total, entry) => total + Number(entry[of]), 0);
  const tiles: readonly { title: string; count: number; tone: Tone; icon: IconName; search: InventorySearch }[] = [
    { title: "Resources", count: sum("total"), tone: "plain", icon: "stack", search: {} },
    { title: "Not ready", count: sum("notReady"), tone: "bad", icon: "cross", search: { ready: "no" } },
    { title: "Differ", count: sum("drifted"), tone: "warn", icon: "differs", search: { only: "drifted" } },
    { title: "Held", count: sum("held"), tone: "hold", icon: "hand", search: { only: "held" } },
    { title: "Unknown", count: sum("unknown"), tone: "plain", icon: "question", search: { ready: "unknown" } },
    { title: "Being deleted", count: sum("deleting"), tone: "plain", icon: "trash", search: { only: "deleting" } },
  ];
  return (
    <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 lg:grid-cols-6">
      {tiles.map(({ title, count, tone, icon, search }) => (
        <li key={title}>
          <Link
            to="/o/$organization/inventory"
            params={{ organization }}
            search={search}
            className="block h-full bg-panel px-3.5 py-2.5 hover:bg-sunken"
          >
            <Mark tone={count === 0 ? "plain" : tone} icon={icon}>
              {title}
            </Mark>
            <span className="block text-xl font-semibold tabular-nums">{figures.data === undefined ? "–" : count}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export interface Cause {
  readonly key: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly title: ReactNode;
  readonly note: ReactNode;
  readonly since: string;
  readonly resources: readonly { readonly name: string; readonly path: string }[];
  /** Of all that have it, named or not. */
  readonly resourceCount: number;
}

function Attention({ organization }: { organization: string }) {
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

function mayNotRead(error: unknown): boolean {
  return error instanceof ApiProblem && error.problem.status === 403;
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

function Waiting({ organization }: { organization: string }) {
  const held = useQuery(heldQuery(organization));
  if (mayNotRead(held.error)) return undefined;
  return (
    <Panel
      title="Waiting for a person"
      flush
      aside={
        <Link to="/o/$organization/held" params={{ organization }} className="text-accent hover:underline">
          All held changes
        </Link>
      }
    >
      <Answer of={held} what="held changes">
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="hand" title="Nothing waits">
              A change that is too large, or that somebody must decide, waits here with its numbers.
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {inOrder(items)
                .slice(0, 5)
                .map((change) => (
                  <HeldRow key={change.id} organization={organization} change={change} />
                ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}

function Cycles({ organization }: { organization: string }) {
  const loops = useQuery(loopsQuery);
  const nowMs = useNowMs();
  return (
    <Panel
      title="Live cycles"
      flush
      aside={
        <Link to="/o/$organization/loops" params={{ organization }} className="text-accent hover:underline">
          All loops
        </Link>
      }
    >
      <Answer of={loops} what="loops">
        {({ kinds }) => (
          <ul className="divide-y divide-line">
            {kinds
              .filter(({ everySeconds }) => everySeconds !== undefined)
              // What was measured is for operators alone; whoever sees it is spared the kinds that nobody uses.
              .filter(({ activity }) => activity !== undefined || kinds.every((other) => other.activity === undefined))
              .map(({ kind, everySeconds = 0, activity }) => (
                <li key={kind} className="flex flex-wrap items-center gap-x-2 px-3.5 py-2 text-sm">
                  <span className="w-28 font-medium">{kind}</span>
                  <span className="flex-1 whitespace-nowrap text-soft">
                    every {duration(everySeconds * 1_000)}
                    {activity?.lastCycleAt === undefined
                      ? ""
                      : ` · ${duration(nowMs - Date.parse(activity.lastCycleAt))} ago`}
                  </span>
                  {activity === undefined ? undefined : activity.failing > 0 ? (
                    <Chip tone="bad" icon="cross" title={`${activity.failing} of ${activity.subjects}`}>
                      {activity.failing} failing
                    </Chip>
                  ) : (
                    <span className="text-xs text-soft tabular-nums">
                      {activity.subjects} subject{activity.subjects === 1 ? "" : "s"}
                    </span>
                  )}
                </li>
              ))}
          </ul>
        )}
      </Answer>
    </Panel>
  );
}

function Activity({ organization }: { organization: string }) {
  const entries = useQuery({
    queryKey: keys.record(organization, "activity"),
    queryFn: async () =>
      (await get<{ items: readonly AuditEntryDocument[] }>(`${base(organization)}/audit?pageSize=60`)).items,
    retry: false,
  });
  if (mayNotRead(entries.error)) return undefined;
  return (
    <Panel
      title="Recent activity"
      flush
      aside={
        <Link to="/o/$organization/audit" params={{ organization }} className="text-accent hover:underline">
          The audit trail
        </Link>
      }
    >
      <Answer of={entries} what="the audit trail">
        {(items) => (
          <ul className="divide-y divide-line">
            {together(items)
              .slice(0, 12)
              .map(({ entry, about }) => (
                <li key={entry.position} className="flex items-baseline gap-3 px-3.5 py-1.5 text-sm">
                  <span className="min-w-0 flex-1 truncate" title={`${entry.actor}: ${entry.type} ${about.join(", ")}`}>
                    <span className="font-medium">{actorOf(entry)}</span>{" "}
                    <span className="text-soft">{words(entry, about)}</span>
                  </span>
                  <Ago at={entry.at} className="text-xs text-soft" />
                </li>
              ))}
          </ul>
        )}
      </Answer>
    </Panel>
  );
}

/** The same act of the same person many times in a row is one line. */
function together(
  items: readonly AuditEntryDocument[],
): readonly { readonly entry: AuditEntryDocument; readonly about: readonly string[] }[] {
  const lines: { entry: AuditEntryDocument; about: string[] }[] = [];
  for (const entry of items) {
    const last = lines.at(-1);
    if (last !== undefined && actorOf(last.entry) === actorOf(entry) && last.entry.type === entry.type)
      last.about.push(aboutOf(entry));
    else lines.push({ entry, about: [aboutOf(entry)] });
  }
  return lines;
}

/** Workers are known by an id that says nothing to people. */
function actorOf({ actor }: AuditEntryDocument): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(actor) ? "a worker" : actor;
}

function aboutOf({ data }: AuditEntryDocument): string {
  const { kind, name } = (data ?? {}) as { kind?: string; name?: string };
  return kind === undefined || name === undefined ? "" : `${kind}/${name}`;
}

function words({ type }: AuditEntryDocument, about: readonly string[]): string {
  const named = about.filter((name) => name !== "");
  const times = about.length > 1 ? ` ×${about.length}` : "";
  const names = named.length === 0 ? "" : `: ${named.slice(0, 3).join(", ")}${named.length > 3 ? ", …" : ""}`;
  return `${type.replace(".", " ").replaceAll("-", " ")}${times}${names}`;
}

/** How many calls each account has left; nothing for those who may not read accounts. */
function Providers({ organization }: { organization: string }) {
  const accounts = useQuery({ ...accountsQuery(organization), refetchInterval: 10_000 });
  if (accounts.data === undefined || accounts.data.length === 0) return undefined;
  return (
    <Panel
      title="Provider budgets"
      flush
      aside={
        <Link to="/o/$organization/providers" params={{ organization }} className="text-accent hover:underline">
          All providers
        </Link>
      }
    >
      <ul className="divide-y divide-line">
        {accounts.data.map((account) => (
          <li key={account.id} className="flex flex-wrap items-center gap-x-3 px-3.5 py-2 text-sm">
            <span className="min-w-0 flex-1 basis-28 font-medium break-words">
              {account.name} <span className="font-normal text-soft">{account.provider}</span>
            </span>
            <Budget account={account} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Services() {
  const summary = useQuery(summaryQuery);
  if (summary.data === undefined) return undefined;
  const { services, dueNow } = summary.data;
  return (
    <Panel title="Services" flush aside={`${dueNow} due now`}>
      <ul className="divide-y divide-line">
        {services.map(({ name, state, detail }) => (
          <li key={name} className="flex items-center gap-3 px-3.5 py-2 text-sm">
            <Icon
              name={state === "running" ? "check" : "cross"}
              className={state === "running" ? "text-good" : "text-bad"}
            />
            <span className="font-medium">{name}</span>
            <span className={state === "running" ? "text-soft" : "text-bad"}>{state}</span>
            <span className="min-w-0 flex-1 text-right text-xs break-words text-soft">{detail}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
