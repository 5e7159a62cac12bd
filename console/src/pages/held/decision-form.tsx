import { type ReactNode, useState } from "react";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { ProblemNote } from "../../components/states.tsx";

/** Asks for the number of deletes before anybody approves: nobody approves what they have not counted. */
export function DecisionForm({
  organization,
  deletes,
  may = true,
  approving,
  commentHint,
  approve,
  reject,
  explain,
  children,
}: {
  organization: string;
  deletes: number;
  /** Whether this person may decide it at all. */
  may?: boolean;
  /** What the button says. */
  approving: string;
  commentHint: string;
  approve: (comment: string) => Promise<unknown>;
  reject: (comment: string) => Promise<unknown>;
  /** What a refusal means here, beside its own words. */
  explain?: (error: Error) => ReactNode;
  /** What the decision binds to. */
  children: ReactNode;
}) {
  const [count, setCount] = useState("");
  const [comment, setComment] = useState("");
  const approval = useAction(organization, () => approve(comment.trim()));
  const rejection = useAction(organization, () => reject(comment.trim()));
  const error = approval.error ?? rejection.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        approval.mutate();
      }}
    >
      {deletes > 0 ? (
        <TextField
          label={`How many are deleted? Type ${deletes}`}
          inputMode="numeric"
          autoComplete="off"
          value={count}
          disabled={!may}
          onChange={({ target }) => setCount(target.value)}
          hint="Counting is the last look before it happens."
        />
      ) : undefined}
      <TextField
        label="Comment"
        value={comment}
        maxLength={1_000}
        disabled={!may}
        onChange={({ target }) => setComment(target.value)}
        hint={commentHint}
      />
      {error === null ? undefined : (
        <div className="mb-3">
          <ProblemNote error={error} />
          {explain?.(error)}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          tone="primary"
          icon="check"
          type="submit"
          busy={approval.isPending}
          disabled={!may || (deletes > 0 && count.trim() !== String(deletes))}
        >
          {approving}
        </Button>
        <Button
          tone="danger"
          icon="cross"
          busy={rejection.isPending}
          disabled={!may || comment.trim().length < 3}
          onClick={() => rejection.mutate()}
        >
          Reject
        </Button>
      </div>
      <p className="mt-3 text-xs text-soft">{children}</p>
    </form>
  );
}
