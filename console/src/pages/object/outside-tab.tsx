import { useQuery } from "@tanstack/react-query";
import { Chip, Mark } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import type { AboutObject } from "./page.tsx";
import { observationQuery } from "./queries.ts";

const cell = "block sm:table-cell sm:px-3.5 sm:py-2";

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
                    <span>
                      last change seen <Ago at={subject.at} />
                    </span>
                  </>
                }
              >
                <div tabIndex={0} role="region" aria-label="Items seen outside" className="overflow-x-auto">
                  <table className="w-full text-left text-sm">
                    <thead className="hidden text-xs text-soft sm:table-header-group">
                      <tr className="border-b border-line">
                        <th className="w-1/4 px-3.5 py-2 font-medium">Item</th>
                        <th className="px-3.5 py-2 font-medium">Whose</th>
                        <th className="w-1/5 px-3.5 py-2 font-medium">Declared by</th>
                        <th className="px-3.5 py-2 font-medium">As seen</th>
                      </tr>
                    </thead>
                    <tbody className="divide-y divide-line">
                      {subject.items.map((item) => (
                        // On a narrow screen each item is a small list of its own: nothing hides behind a scroll.
                        <tr key={item.key} className="block px-3.5 py-2 align-top sm:table-row sm:p-0">
                          <th scope="row" className="block font-normal sm:table-cell sm:px-3.5 sm:py-2">
                            <code className="break-words">{item.key}</code>
                          </th>
                          <td className={cell}>
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
                          <td className={`${cell} break-words text-soft`}>
                            <span className="sm:hidden">declared by </span>
                            {item.declaredBy.map(({ kind, name }) => `${kind}/${name}`).join(", ") || "nobody"}
                          </td>
                          <td className={cell}>
                            <Seen item={item.item} />
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

/** Each field with its name; what lies deeper stays as it is written. */
function Seen({ item }: { item: unknown }) {
  if (typeof item !== "object" || item === null || Array.isArray(item))
    return <code className="text-xs break-words whitespace-pre-wrap">{JSON.stringify(item)}</code>;
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
      {Object.entries(item).map(([name, value]) => (
        <div key={name} className="flex max-w-full min-w-0 gap-x-1.5">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0">
            <code className="break-words whitespace-pre-wrap">{textOf(value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))
    return value.join(", ");
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}
