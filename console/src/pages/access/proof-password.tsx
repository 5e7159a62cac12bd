import { useState } from "react";
import { api } from "../../api/client.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, OnceActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Mark } from "../../components/mark.tsx";
import { ProblemNote } from "../../components/states.tsx";
import { Proof } from "./proof.tsx";

export function Password({ isSet }: { isSet: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <Proof
      title="Password"
      state={
        <Mark tone={isSet ? "good" : "plain"} icon={isSet ? "check" : "question"}>
          {isSet ? "set" : "none yet"}
        </Mark>
      }
    >
      <Button icon="pen" onClick={() => setOpen(true)}>
        {isSet ? "Change the password…" : "Set a password…"}
      </Button>
      {open ? <PasswordDialog isSet={isSet} close={() => setOpen(false)} /> : undefined}
    </Proof>
  );
}

function PasswordDialog({ isSet, close }: { isSet: boolean; close: () => void }) {
  // What it was when this was opened: setting one must not turn the form into another.
  const [hadOne] = useState(isSet);
  const [oldPassword, setOldPassword] = useState("");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const change = useAction(undefined, () =>
    api("PUT", "/v1/me/password", { body: { ...(hadOne ? { oldPassword } : {}), password } }),
  );
  const differs = again !== "" && again !== password;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={hadOne ? "Change the password" : "Set a password"}
      description="Every other session of yours ends; this one goes on."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {change.isSuccess ? (
          <p role="status">The password is {hadOne ? "changed" : "set"}. Your other sessions have ended.</p>
        ) : (
          <>
            {hadOne ? (
              <SecretField label="Password you have now" kind="current-password" autoFocus onText={setOldPassword} />
            ) : undefined}
            <SecretField
              label="New password"
              kind="new-password"
              autoFocus={!hadOne}
              hint="At least 12 characters. A sentence is good; nothing asks for digits or signs."
              onText={setPassword}
            />
            <SecretField
              label="New password again"
              kind="new-password"
              error={differs ? "This is not the same as the one above." : undefined}
              onText={setAgain}
            />
          </>
        )}
        {change.error === null ? undefined : <ProblemNote error={change.error} />}
        <OnceActions
          close={close}
          done={change.isSuccess}
          icon="check"
          busy={change.isPending}
          disabled={password === "" || again !== password || (hadOne && oldPassword === "")}
        >
          {hadOne ? "Change it" : "Set it"}
        </OnceActions>
      </form>
    </Dialog>
  );
}

function SecretField({
  label,
  kind,
  autoFocus = false,
  hint,
  error,
  onText,
}: {
  label: string;
  kind: "current-password" | "new-password";
  autoFocus?: boolean;
  hint?: string;
  error?: string | undefined;
  onText: (text: string) => void;
}) {
  return (
    <TextField
      label={label}
      type="password"
      required
      autoComplete={kind}
      autoFocus={autoFocus}
      hint={hint}
      error={error}
      onChange={({ target }) => onText(target.value)}
    />
  );
}
