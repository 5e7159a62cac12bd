import { useQuery } from "@tanstack/react-query";
import { Chip, Mark } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import type { AboutObject } from "./page.tsx";
import { observationQuery } from "./queries.ts";

/** The items as they were last seen outside: ours, and those of others, which are left alone. */
export function OutsideTab({ organization, path }: AboutObject) {
  const observation = useQuery(observationQuery(organization, path));
  return (
    <Answer of={observation} what="what was seen">
      {({ subjects }) =>
        subjects.length === 0 ? (
          <Panel>
            <Empty icon="eye" title="It was not looked at yet">
              The next cycle looks. “Look again” makes it now.
            </Empty>
          </Panel>
        ) : (
          <div className="space-y-4">
            {subjects.map((subject, index) => (
              <Panel
                key={subject.account ?? index}
                flush
                title={subject.account === undefined ? "Seen outside" : `Seen at ${subject.account}`}
                aside={
                  <>
                    <Chip
                      tone={subject.completeness === "complete" ? "good" : "warn"}
                      icon={subject.completeness === "complete" ? "check" : "question"}
                    >
                      {subject.completeness} look
                    </Chip>
                    last changed in our eyes <Ago at={subject.at} />
                  </>
                }
              >
                <div tabIndex={0} role="region" aria-label="Items seen outside" className="overflow-x-auto">
                  <table className="w-full min-w-[34rem] text-left text-sm">
                    <thead className="text-xs text-soft">
                      <tr className="border-b border-line">
                        <th className="px-3.5 py-2 font-medium">Item</th>
                        <th className="px-3.5 py-2 font-medium">Whose</th>
                        <th className="px-3.5 py-2 font-medium">Declared by</th>
                        <th className="px-3.5 py-2 font-medium">As seen</th>
                      </tr>
                    </thead>
                    <tbody className="divide-y divide-line">
                      {subject.items.map((item) => (
                        <tr key={item.key} className="align-top">
                          <th scope="row" className="px-3.5 py-2 font-normal">
                            <code className="break-all">{item.key}</code>
                          </th>
                          <td className="px-3.5 py-2">
                            {item.owned ? (
                              <Mark tone="good" icon="shield">
                                ours
                              </Mark>
                            ) : (
                              <Mark tone="plain" icon="person">
                                not ours
                              </Mark>
                            )}
                          </td>
                          <td className="px-3.5 py-2 break-words text-soft">
                            {item.declaredBy.map(({ kind, name }) => `${kind}/${name}`).join(", ") || "nobody"}
                          </td>
                          <td className="px-3.5 py-2">
                            <code className="text-xs break-all whitespace-pre-wrap">{JSON.stringify(item.item)}</code>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
                {subject.truncated ? (
                  <p className="border-t border-line px-3.5 py-2 text-sm text-soft">
                    Some items were left out to keep the record bounded.
                  </p>
                ) : undefined}
              </Panel>
            ))}
          </div>
        )
      }
    </Answer>
  );
}
