import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { heldQuery, proposalsQuery } from "../../api/queries.ts";
import type { ProposalDocument } from "../../api/types.ts";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { HeldRow, inOrder } from "./held-row.tsx";
import { DecidedProposal, ProposalCard } from "./proposal.tsx";
import { heldRoute, heldStates } from "./route.tsx";

const names = { open: "Waiting", approved: "Approved", rejected: "Rejected", withdrawn: "Withdrawn" } as const;

/** One inbox for everything that waits for a person. */
export function HeldPage() {
  const { organization } = heldRoute.useParams();
  const { state = "open" } = heldRoute.useSearch();
  const held = useQuery(heldQuery(organization, state));
  const proposals: readonly ProposalDocument[] = useQuery(proposalsQuery(organization, state)).data ?? [];
  return (
    <>
      <PageHeader
        title="Held changes"
        lead="What is too large, or must be decided, waits here. Deletes come first. An approval is for exactly what you see."
      />
      <nav aria-label="State" className="mb-3 flex flex-wrap gap-1">
        {heldStates.map((entry) => (
          <Link
            key={entry}
            to="/o/$organization/held"
            params={{ organization }}
            search={entry === "open" ? {} : { state: entry }}
            aria-current={entry === state ? "page" : undefined}
            className={`rounded-md px-2.5 py-1 text-sm font-medium ${entry === state ? "bg-accent-wash text-accent" : "text-soft hover:bg-sunken"}`}
          >
            {names[entry]}
          </Link>
        ))}
      </nav>
      <Panel flush>
        <Answer of={held} what="held changes">
          {({ items, truncated }) =>
            items.length === 0 && proposals.length === 0 ? (
              <Empty
                icon="hand"
                title={state === "open" ? "Nothing waits for a person" : `Nothing was ${state} lately`}
              >
                When a plan deletes more than its budget, replaces something, or loosens a rule, it waits here. On the
                command line: <Command>setpoint held list</Command>
              </Empty>
            ) : (
              <ul className="divide-y divide-line">
                {inOrder(items).map((change) => (
                  <HeldRow key={change.id} organization={organization} change={change} />
                ))}
                {truncated ? (
                  <li className="px-3.5 py-2 text-sm text-soft">There are more: decide some of these first.</li>
                ) : undefined}
              </ul>
            )
          }
        </Answer>
      </Panel>
      {proposals.length === 0 ? undefined : (
        <section className="mt-4 space-y-3">
          <h2 className="text-sm font-semibold">Proposals</h2>
          {state === "open" ? (
            proposals.map((proposal) => (
              <ProposalCard key={proposal.id} organization={organization} proposal={proposal} />
            ))
          ) : (
            <Panel flush>
              <ul className="divide-y divide-line">
                {proposals.map((proposal) => (
                  <DecidedProposal key={proposal.id} proposal={proposal} />
                ))}
              </ul>
            </Panel>
          )}
        </section>
      )}
    </>
  );
}
