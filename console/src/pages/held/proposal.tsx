import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { ProposalDocument } from "../../api/types.ts";
import { DryRunView } from "../../components/dry-run.tsx";
import { Panel } from "../../components/panel.tsx";
import { Ago } from "../../components/time.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { Withdraw } from "./withdraw.tsx";

/**
 * A set of changes that somebody proposed, with its plan. Approving binds to its digest and asks for the number of deletes; applying is
 * all or nothing.
 */
export function ProposalCard({ organization, proposal }: { organization: string; proposal: ProposalDocument }) {
  const path = `${base(organization)}/proposals/${proposal.id}`;
  const { digest } = proposal;
  const deletes = proposal.plan.subjects.reduce((sum, { sizes }) => sum + sizes.delete + sizes.replace, 0);
  return (
    <Panel
      title={proposal.reason}
      aside={
        <>
          {proposal.author} ({proposal.authorType}), <Ago at={proposal.proposedAt} />
        </>
      }
    >
      <DryRunView plan={proposal.plan} />
      <div className="mt-3">
        <DecisionForm
          key={digest}
          organization={organization}
          deletes={deletes}
          approving="Approve and apply"
          commentHint="Needed to reject; whoever proposed it reads it."
          approve={async () => {
            await api("POST", `${path}:approve`, { body: { digest } });
            await api("POST", `${path}:apply`);
          }}
          reject={(comment) => api("POST", `${path}:reject`, { body: { digest, comment } })}
        >
          Binds to digest <code className="break-all">{digest.slice(0, 24)}</code>.
        </DecisionForm>
        <Withdraw
          organization={organization}
          path={path}
          by={proposal.author}
          facts={[
            ["Proposed because", proposal.reason],
            ["Would change", `${proposal.changes.length} declaration${proposal.changes.length === 1 ? "" : "s"}`],
          ]}
        />
      </div>
    </Panel>
  );
}

/** One that is not open any more: who proposed it, what became of it, and why. */
export function DecidedProposal({ proposal }: { proposal: ProposalDocument }) {
  const { reason, author, authorType, proposedAt, state, decidedBy, decidedAt, comment } = proposal;
  return (
    <li className="px-3.5 py-2.5 text-sm">
      <p className="font-medium break-words">{reason}</p>
      <p className="text-xs break-words text-soft">
        proposed by {author} ({authorType}) <Ago at={proposedAt} /> · {state}
        {decidedBy === undefined ? "" : ` by ${decidedBy} `}
        {decidedAt === undefined ? undefined : <Ago at={decidedAt} />}
      </p>
      {comment === undefined ? undefined : <p className="break-words text-soft">{comment}</p>}
    </li>
  );
}
