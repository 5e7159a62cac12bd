import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/queries.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { ConfirmDialog, type Fact } from "../../components/remove-dialog.tsx";

/** Taking back what you proposed yourself. Of what others proposed, whoever may decide rejects it, with the reason. */
export function Withdraw({
  organization,
  path,
  by,
  facts,
}: {
  organization: string;
  /** Its route in the API. */
  path: string;
  /** Who proposed it. */
  by: string | undefined;
  facts: readonly Fact[];
}) {
  const me = useQuery(meQuery).data;
  const [asking, setAsking] = useState(false);
  if (me === undefined || me.name !== by) return undefined;
  return (
    <p className="mt-3 flex flex-wrap items-center gap-2 border-t border-line pt-3 text-sm text-soft">
      You proposed this.
      <Button icon="back" onClick={() => setAsking(true)}>
        Withdraw…
      </Button>
      {asking ? (
        <WithdrawDialog organization={organization} path={path} facts={facts} close={() => setAsking(false)} />
      ) : undefined}
    </p>
  );
}

function WithdrawDialog({
  organization,
  path,
  facts,
  close,
}: {
  organization: string;
  path: string;
  facts: readonly Fact[];
  close: () => void;
}) {
  const [text, setText] = useState("");
  const comment = text.trim();
  return (
    <ConfirmDialog
      organization={organization}
      act={() => api("POST", `${path}:withdraw`, { body: comment === "" ? {} : { comment } })}
      title="Withdraw what you proposed"
      means="Nobody is asked about it any more, and nothing of it happens. It stays in the record as withdrawn; who wants it later proposes it again."
      facts={facts}
      verb="Withdraw"
      icon="back"
      close={close}
    >
      <div className="mt-3">
        <TextField
          label="Why"
          maxLength={1_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
          hint="Optional; kept with it."
        />
      </div>
    </ConfirmDialog>
  );
}
