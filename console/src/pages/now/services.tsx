import { useQuery } from "@tanstack/react-query";
import { summaryQuery } from "../../api/queries.ts";
import { Icon } from "../../components/icons.tsx";
import { Panel } from "../../components/panel.tsx";

/** Which processes of the installation are there. */
export function Services() {
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
