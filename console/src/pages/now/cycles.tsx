import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { loopsQuery } from "../../api/queries.ts";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer } from "../../components/states.tsx";
import { duration, useNowMs } from "../../components/time.tsx";

/** When each loop looked last, and whether it fails. */
export function Cycles({ organization }: { organization: string }) {
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
