import { useQuery } from "@tanstack/react-query";
import type { HistoryDocument } from "../../api/types.ts";
import { Differences } from "../../components/differences.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
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
                <Entry key={`${entry.at} ${index}`} entry={entry} />
              ))}
            </ol>
          )
        }
      </Answer>
    </Panel>
  );
}

function Entry({ entry }: { entry: HistoryDocument }) {
  const failed = entry.result !== undefined && !["done", "succeeded", "intended"].includes(entry.result);
  return (
    <li className="flex gap-2.5 px-3.5 py-2 text-sm">
      <Icon name={icons[entry.type]} className={`mt-0.5 ${failed ? "text-bad" : "text-soft"}`} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <span className="min-w-0 flex-1 basis-56 break-words">{entry.words}</span>
          <Ago at={entry.at} className="text-xs text-soft" />
        </p>
        {entry.answer === undefined || entry.answer === "" ? undefined : (
          <p className="text-xs break-words text-soft">{entry.answer}</p>
        )}
        {entry.differences === undefined ? undefined : <Differences differences={entry.differences} />}
      </div>
    </li>
  );
}
