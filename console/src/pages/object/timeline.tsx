import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { HistoryDocument } from "../../api/types.ts";
import { Differences } from "../../components/differences.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { Panel } from "../../components/panel.tsx";
import { plainWords } from "../../components/plain-words.ts";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago, fullTime } from "../../components/time.tsx";
import type { AboutObject } from "./page.tsx";
import { historyQuery } from "./queries.ts";
import { type TimelineGroup, timelineGroups } from "./timeline-groups.ts";

const icons: Readonly<Record<HistoryDocument["type"], IconName>> = {
  change: "bolt",
  verdict: "shield",
  declaration: "pen",
};

/** What was declared, decided and done, newest first. */
export function Timeline({ organization, path, limit }: AboutObject & { limit?: number }) {
  const history = useQuery(historyQuery(organization, path));
  return (
    <Panel title="Timeline" flush>
      <Answer of={history} what="its history">
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="clock" title="Nothing has happened to it yet" />
          ) : (
            <Groups organization={organization} path={path} groups={timelineGroups(items)} limit={limit} />
          )
        }
      </Answer>
    </Panel>
  );
}

function Groups({
  organization,
  path,
  groups,
  limit,
}: {
  organization: string;
  path: string;
  groups: readonly TimelineGroup[];
  limit: number | undefined;
}) {
  return (
    <>
      <ol className="divide-y divide-line">
        {groups.slice(0, limit).map((group, index) => (
          <Entry key={`${group[0].at} ${index}`} organization={organization} group={group} />
        ))}
      </ol>
      {limit !== undefined && groups.length > limit ? (
        <p className="border-t border-line px-3.5 py-2 text-sm">
          <Link
            to="/o/$organization/objects/$"
            params={{ organization, _splat: path }}
            search={{ tab: "history" }}
            className="text-accent underline"
          >
            what was before
          </Link>
        </p>
      ) : undefined}
    </>
  );
}

function Entry({ organization, group }: { organization: string; group: TimelineGroup }) {
  const [entry] = group;
  const failed = entry.result !== undefined && !["done", "succeeded", "intended"].includes(entry.result);
  return (
    <li className="flex gap-2.5 px-3.5 py-2 text-sm">
      <Icon name={icons[entry.type]} className={`mt-0.5 ${failed ? "text-bad" : "text-soft"}`} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <span className="min-w-0 flex-1 basis-56 break-words">
            {entry.type === "change" ? <Change group={group} failed={failed} /> : undefined}
            {entry.type === "verdict" ? plainWords(entry.words) : undefined}
            {entry.type === "verdict" && group.length > 1 ? (
              <span className="text-soft"> {group.length} times</span>
            ) : undefined}
            {entry.type === "declaration" ? <Declared entry={entry} /> : undefined}
          </span>
          <Ago at={entry.at} className="text-xs text-soft" />
        </p>
        {entry.type === "change" ? <Cause organization={organization} group={group} /> : undefined}
        {group.length === 1 ? <Fields differences={entry.differences ?? []} /> : undefined}
        {group.length > 1 && entry.type === "change" ? <Each group={group} /> : undefined}
      </div>
    </li>
  );
}

/** What was done to which thing, and how that ended where it did not end well. */
function Change({ group, failed }: { group: TimelineGroup; failed: boolean }) {
  const [entry] = group;
  return (
    <>
      <b className="font-medium">{entry.action}</b> {group.length === 1 ? entry.key : `${group.length} items`}
      {failed ? <span className="text-bad"> {entry.result}</span> : undefined}
      {entry.answer === undefined || ["", "ok"].includes(entry.answer) ? undefined : (
        <span className="block text-xs text-soft">{entry.answer}</span>
      )}
    </>
  );
}

const fieldsNamed = 3;

/** A first declaration has every field, which says nothing; a later one those that it changed. */
function Declared({ entry: { by, revision, changes = [], words } }: { entry: HistoryDocument }) {
  if (by === undefined) return plainWords(words);
  if (revision === 1) return `${by} declared it`;
  const named = changes.slice(0, fieldsNamed).map(({ pointer }) => pointer);
  const more = changes.length - named.length;
  return (
    <>
      {by} changed what is declared
      {named.length === 0 ? "" : ": "}
      <code className="text-xs">{named.join(", ")}</code>
      {more === 0 ? "" : ` and ${more} more field${more === 1 ? "" : "s"}`}
    </>
  );
}

/** What made a cycle run, in words; an operation is linked. */
const causes: Readonly<Record<string, string>> = {
  person: "a person asked for it",
  event: "something it is computed from changed",
  first: "it was looked at for the first time",
  resync: "the loop found it so",
};

function Cause({ organization, group }: { organization: string; group: TimelineGroup }) {
  const { trigger = "", declaredBy = [], approved = false } = group[0];
  const operation = trigger.startsWith("operation ") ? trigger.slice("operation ".length) : undefined;
  const authors = new Set(group.flatMap((entry) => (entry.declaredBy ?? []).map(({ author }) => author)));
  const said = [
    ...(group.length === 1
      ? declaredBy.map(({ author, at }) => `declared by ${author}, ${fullTime(at)}`)
      : [...authors].map((author) => `declared by ${author}`)),
    ...(approved ? ["approved"] : []),
    ...(operation === undefined ? [causes[trigger] ?? trigger] : []),
  ];
  return (
    <p className="text-xs break-words text-soft">
      {said.join(" · ")}
      {operation === undefined ? undefined : (
        <>
          {said.length === 0 ? "" : " · "}
          <Link
            to="/o/$organization/operations/$id"
            params={{ organization, id: operation }}
            className="text-accent underline"
          >
            by an operation
          </Link>
        </>
      )}
    </p>
  );
}

/** Of what was made, all is new: that it was made is the news, and its fields are there on request. */
const fieldsAtOnce = 4;

function Fields({ differences }: { differences: NonNullable<HistoryDocument["differences"]> }) {
  const isNew = differences.every(({ seen }) => seen === undefined || seen === null);
  if (differences.length === 0) return undefined;
  if (differences.length <= (isNew ? 1 : fieldsAtOnce)) return <Differences differences={differences} />;
  return (
    <details className="mt-0.5">
      <summary className="w-fit cursor-pointer text-xs text-accent">{differences.length} fields</summary>
      <Differences differences={differences} />
    </details>
  );
}

function Each({ group }: { group: TimelineGroup }) {
  return (
    <details className="mt-0.5">
      <summary className="w-fit cursor-pointer text-xs text-accent">each of them</summary>
      <ul className="mt-1 space-y-1">
        {group.map((entry, index) => (
          <li key={`${entry.key} ${index}`}>
            <code className="text-xs break-words">{entry.key}</code>
            <Fields differences={entry.differences ?? []} />
          </li>
        ))}
      </ul>
    </details>
  );
}
