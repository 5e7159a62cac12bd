import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get, query } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { OperationDocument } from "../../api/types.ts";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { Ago, duration, Until, useNowMs } from "../../components/time.tsx";
import { operationStates, operationsRoute } from "./route.tsx";
import { standingWords } from "./standing-words.ts";
import { OperationState } from "./state-mark.tsx";

const titles = {
  running: "Running",
  held: "Held",
  attention: "Needs somebody",
  succeeded: "Succeeded",
  "not-run": "Not run",
  cancelled: "Cancelled",
} as const;

/** Long work: what runs, what waits and for what, and how it ended. Nothing that was asked for is invisible. */
export function OperationsPage() {
  const { organization } = operationsRoute.useParams();
  const { state } = operationsRoute.useSearch();
  const found = useQuery({
    queryKey: [...keys.record(organization, "operation"), "list", state ?? "all"],
    queryFn: () =>
      get<{ items: readonly OperationDocument[]; nextPage?: string }>(
        `${base(organization)}/operations${query({ state, pageSize: 100 })}`,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 3_000,
  });
  return (
    <>
      <PageHeader
        title="Operations"
        lead="Long work in journalled steps. A worker that dies leaves nothing behind: another goes on from the journal."
      />
      <nav aria-label="State" className="mb-3 flex flex-wrap gap-1">
        {[undefined, ...operationStates].map((entry) => (
          <Link
            key={entry ?? "all"}
            to="/o/$organization/operations"
            params={{ organization }}
            search={entry === undefined ? {} : { state: entry }}
            aria-current={entry === state ? "page" : undefined}
            className={`rounded-md px-2.5 py-1 text-sm font-medium ${entry === state ? "bg-accent-wash text-accent" : "text-soft hover:bg-sunken"}`}
          >
            {entry === undefined ? "All" : titles[entry]}
          </Link>
        ))}
      </nav>
      <Panel flush>
        <Answer of={found} what="operations">
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                icon="bolt"
                title={state === undefined ? "No operation has run yet" : "No operation is in this state"}
              >
                Creating a host or upgrading a cluster takes minutes and touches many systems: that is an operation, and
                it is shown here from its first second. <Command>setpoint ops list</Command>
              </Empty>
            ) : (
              <ul className="divide-y divide-line">
                {items.map((operation) => (
                  <Row key={operation.id} organization={organization} operation={operation} />
                ))}
              </ul>
            )
          }
        </Answer>
      </Panel>
    </>
  );
}

function Row({ organization, operation }: { organization: string; operation: OperationDocument }) {
  const nowMs = useNowMs();
  const { resource, startedAt, endedAt, createdAt, dueAt } = operation;
  const words = standingWords(operation);
  return (
    <li>
      <Link
        to="/o/$organization/operations/$id"
        params={{ organization, id: operation.id }}
        className="flex items-center gap-3 px-3.5 py-2.5 hover:bg-sunken"
      >
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium break-words">
              {operation.pipeline} <span className="text-soft">of</span> {resource.kind}/{resource.name}
            </span>
            <OperationState operation={operation} />
            {operation.needsAttention && operation.state !== "attention" ? (
              <Chip tone="warn" icon="clock">
                takes long
              </Chip>
            ) : undefined}
          </span>
          {words === undefined ? undefined : (
            <span className="block text-sm break-words text-soft">
              {operation.step === undefined ? "" : `${operation.step}: `}
              {words}
            </span>
          )}
          <span className="block text-xs text-soft">
            asked for by {operation.startedBy} <Ago at={createdAt} />
            {operation.state === "running" && dueAt !== undefined && Date.parse(dueAt) > nowMs ? (
              <>
                {" "}
                · goes on <Until at={dueAt} />
              </>
            ) : undefined}
            {endedAt === undefined
              ? ""
              : ` · took ${duration(Date.parse(endedAt) - Date.parse(startedAt ?? createdAt))}`}
            {operation.attempts > 0 ? ` · attempt ${operation.attempts + 1}` : ""}
          </span>
        </span>
        <Icon name="arrow" className="text-soft" />
      </Link>
    </li>
  );
}
