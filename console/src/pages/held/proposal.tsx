import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { ProposalDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { TextField } from "../../components/field.tsx";
import { Panel } from "../../components/panel.tsx";
import { ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

/**
 * A set of changes that somebody proposed, with its plan. Approving binds to its digest and asks for the number of deletes; applying is
 * all or nothing.
 */
export function ProposalCard({ organization, proposal }: { organization: string; proposal: ProposalDocument }) {
  const path = `${base(organization)}/proposals/${proposal.id}`;
  const { digest } = proposal;
  const [count, setCount] = useState("");
  const [comment, setComment] = useState("");
  const approve = useAction(organization, async () => {
    await api("POST", `${path}:approve`, { body: { digest } });
    await api("POST", `${path}:apply`);
  });
  const reject = useAction(organization, () =>
    api("POST", `${path}:reject`, { body: { digest, comment: comment.trim() } }),
  );
  const deletes = proposal.plan.subjects.reduce((sum, { sizes }) => sum + sizes.delete + sizes.replace, 0);
  const error = approve.error ?? reject.error;
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
      <form
        className="mt-3"
        onSubmit={(event) => {
          event.preventDefault();
          approve.mutate();
        }}
      >
        {deletes > 0 ? (
          <TextField
            label={`How many are deleted? Type ${deletes}`}
            inputMode="numeric"
            autoComplete="off"
            value={count}
            onChange={({ target }) => setCount(target.value)}
          />
        ) : undefined}
        <TextField
          label="Comment"
          value={comment}
          maxLength={2_000}
          onChange={({ target }) => setComment(target.value)}
          hint="Needed to reject; whoever proposed it reads it."
        />
        {error === null ? undefined : <ProblemNote error={error} />}
        <div className="mt-3 flex flex-wrap items-center gap-2">
          <Button
            type="submit"
            tone="primary"
            icon="check"
            busy={approve.isPending}
            disabled={deletes > 0 && count.trim() !== String(deletes)}
          >
            Approve and apply
          </Button>
          <Button
            tone="danger"
            icon="cross"
            busy={reject.isPending}
            disabled={comment.trim() === ""}
            onClick={() => reject.mutate()}
          >
            Reject
          </Button>
          <code className="text-xs text-soft">{digest.slice(0, 16)}</code>
        </div>
      </form>
    </Panel>
  );
}
