import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client.ts";
import { base, figuresQuery, freezeQuery, pendingQuery } from "../api/queries.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Counts } from "../components/counts.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { ProblemNote } from "../components/states.tsx";

const levels = [
  ["writes", "All writes – loops go on looking"],
  ["deletes", "Deletes only"],
  ["all", "Everything, looking too"],
] as const;
const spans = [
  [900, "15 minutes"],
  [3_600, "1 hour"],
  [14_400, "4 hours"],
  [86_400, "1 day"],
] as const;

/** Stops things. It asks little, because it must be quick; it says what it will stop. */
export function FreezeDialog({ organization, close }: { organization: string; close: () => void }) {
  const client = useQueryClient();
  const { isPending: isAsking, isSuccess: mayFreeze } = useQuery(freezeQuery);
  const [everywhere, setEverywhere] = useState(true);
  const [level, setLevel] = useState<string>("writes");
  const [forSeconds, setForSeconds] = useState(3_600);
  const [reason, setReason] = useState("");
  const freeze = useAction(
    organization,
    async () => {
      // Whoever is quicker than the answer to what they may stop must not stop less than they would have.
      const may = await client.query({ ...freezeQuery, staleTime: "static" }).then(
        () => true,
        () => false,
      );
      const platform = may && everywhere;
      return await api("POST", platform ? "/v1/freeze" : `${base(organization)}/pauses`, {
        body: { level, reason: reason.trim(), forSeconds, ...(platform ? {} : { on: "organization" }) },
      });
    },
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Freeze"
      description="In force within a second. Nothing is lost: what waits goes on when you resume, and resuming shows it first."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          freeze.mutate();
        }}
      >
        <Reach organization={organization} />
        {isAsking || mayFreeze ? (
          <SelectField
            label="What"
            value={everywhere ? "platform" : "organization"}
            onChange={(event) => setEverywhere(event.target.value === "platform")}
          >
            <option value="platform">The whole platform, every organization</option>
            <option value="organization">The organization {organization}</option>
          </SelectField>
        ) : (
          <p className="mb-3 text-sm">
            The organization <b>{organization}</b>. Freezing the whole platform is for its operators.
          </p>
        )}
        <div className="grid gap-x-3 sm:grid-cols-2">
          <SelectField label="Stop" value={level} onChange={(event) => setLevel(event.target.value)}>
            {levels.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </SelectField>
          <SelectField label="For" value={forSeconds} onChange={(event) => setForSeconds(Number(event.target.value))}>
            {spans.map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
          </SelectField>
        </div>
        <TextField
          label="Why"
          autoFocus
          required
          minLength={3}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          hint="Everybody sees it, and it goes into the audit trail."
        />
        {freeze.error === null ? undefined : <ProblemNote error={freeze.error} />}
        <DialogActions close={close}>
          <Button tone="danger" icon="snow" type="submit" busy={freeze.isPending} disabled={reason.trim().length < 3}>
            Freeze
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function Reach({ organization }: { organization: string }) {
  const figures = useQuery(figuresQuery(organization));
  const pending = useQuery(pendingQuery(organization));
  const box = "mb-3 rounded-md bg-sunken px-3 py-2 text-sm";
  // What is not known yet is not nothing.
  if (figures.data === undefined || pending.data === undefined)
    return (
      <p className={box}>
        {figures.isError || pending.isError
          ? "What this stops cannot be counted now; freezing works all the same."
          : "Counting what this stops…"}
      </p>
    );
  const total = figures.data.reduce((sum, entry) => sum + entry.total, 0);
  return (
    <p className={box}>
      {total} resource{total === 1 ? "" : "s"} in {organization}.{" "}
      {pending.data.totals.resources === 0 ? (
        "Nothing is being written to right now."
      ) : (
        <>
          {pending.data.totals.resources} of them differ from their declaration:{" "}
          <Counts counts={pending.data.totals.actions} />
        </>
      )}
    </p>
  );
}
