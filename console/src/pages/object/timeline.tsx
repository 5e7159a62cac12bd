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
            <ol className="divide-y divide-line">
              {items.slice(0, limit).map((entry, index) => (
                <Entry key={`${entry.at} ${index}`} organization={organization} entry={entry} />
              ))}
            </ol>
          )
        }
      </Answer>
    </Panel>
  );
}

function Entry({ organization, entry }: { organization: string; entry: HistoryDocument }) {
  const failed = entry.result !== undefined && !["done", "succeeded", "intended"].includes(entry.result);
  return (
    <li className="flex gap-2.5 px-3.5 py-2 text-sm">
      <Icon name={icons[entry.type]} className={`mt-0.5 ${failed ? "text-bad" : "text-soft"}`} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <span className="min-w-0 flex-1 basis-56 break-words">
            {entry.type === "change" ? <Change entry={entry} failed={failed} /> : plainWords(entry.words)}
          </span>
          <Ago at={entry.at} className="text-xs text-soft" />
        </p>
        {entry.type === "change" ? <Cause organization={organization} entry={entry} /> : undefined}
        <Fields differences={entry.differences ?? []} />
      </div>
    </li>
  );
}

/** What was done to which thing, and how that ended where it did not end well. */
function Change({ entry, failed }: { entry: HistoryDocument; failed: boolean }) {
  return (
    <>
      <b className="font-medium">{entry.action}</b> {entry.key}
      {failed ? <span className="text-bad"> {entry.result}</span> : undefined}
      {entry.answer === undefined || ["", "ok"].includes(entry.answer) ? undefined : (
        <span className="block text-xs text-soft">{entry.answer}</span>
      )}
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

function Cause({ organization, entry }: { organization: string; entry: HistoryDocument }) {
  const { trigger = "", declaredBy = [], approved = false } = entry;
  const operation = trigger.startsWith("operation ") ? trigger.slice("operation ".length) : undefined;
  const said = [
    ...declaredBy.map(({ author, at }) => `declared by ${author}, ${fullTime(at)}`),
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

const fieldsAtOnce = 4;

/** Many fields are folded: what happened is read first, and its details on request. */
function Fields({ differences }: { differences: NonNullable<HistoryDocument["differences"]> }) {
  if (differences.length <= fieldsAtOnce) return <Differences differences={differences} />;
  return (
    <details className="mt-0.5">
      <summary className="cursor-pointer text-xs text-accent">{differences.length} fields</summary>
      <Differences differences={differences} />
    </details>
  );
}
