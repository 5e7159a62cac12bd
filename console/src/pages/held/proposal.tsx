import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { ProposalDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { Panel } from "../../components/panel.tsx";
import { ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

/** A set of changes that somebody proposed, with its plan. Approving binds to its digest; applying is all or nothing. */
export function ProposalCard({ organization, proposal }: { organization: string; proposal: ProposalDocument }) {
  const path = `${base(organization)}/proposals/${proposal.id}`;
  const approve = useAction(organization, async () => {
    await api("POST", `${path}:approve`, { body: { digest: proposal.digest } });
    await api("POST", `${path}:apply`);
  });
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
      {approve.error === null ? undefined : <ProblemNote error={approve.error} />}
      <div className="mt-3 flex items-center gap-3">
        <Button tone="primary" icon="check" busy={approve.isPending} onClick={() => approve.mutate()}>
          Approve and apply
        </Button>
        <code className="text-xs text-soft">{proposal.digest.slice(0, 16)}</code>
      </div>
    </Panel>
  );
}
