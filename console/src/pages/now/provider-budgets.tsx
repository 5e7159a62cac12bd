import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { accountsQuery } from "../../api/queries.ts";
import { Budget } from "../../components/budget.tsx";
import { Panel } from "../../components/panel.tsx";

/** How many calls each account has left; nothing for those who may not read accounts. */
export function ProviderBudgets({ organization }: { organization: string }) {
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
