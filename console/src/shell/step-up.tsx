import { useState, useSyncExternalStore } from "react";
import { api } from "../api/client.ts";
import { assertPasskey } from "../api/passkey.ts";
import { Button } from "../components/button.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { ProblemNote } from "../components/states.tsx";

interface Waiting {
  readonly proven: () => void;
  readonly gaveUp: () => void;
}

let waiting: Waiting | undefined;
const listeners = new Set<() => void>();

function setWaiting(next: Waiting | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Asks the person to prove who they are; rejects when they would rather not. */
export function proveFirst(): Promise<void> {
  return new Promise((resolve, reject) => {
    setWaiting({
      proven: () => {
        setWaiting(undefined);
        resolve();
      },
      gaveUp: () => {
        setWaiting(undefined);
        reject(new Error("This asks for a fresh proof of who you are."));
      },
    });
  });
}

/** The question itself; it is part of the shell, so that any page can ask. */
export function StepUp() {
  const open = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting,
  );
  return open === undefined ? undefined : <StepUpDialog waiting={open} />;
}

function StepUpDialog({ waiting: { proven, gaveUp } }: { waiting: Waiting }) {
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>();
  const prove = async (body: () => Promise<unknown>) => {
    setError(undefined);
    try {
      await api("POST", "/v1/session/prove", { body: await body() });
      proven();
    } catch (thrown) {
      setError(thrown);
    }
  };
  const byPasskey = async () => {
    const { publicKey } = await api<{ publicKey: Record<string, unknown> }>("POST", "/v1/session/prove-options");
    return { passkey: await assertPasskey(publicKey) };
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && gaveUp()}
      title="Prove that it is you"
      description="What you are about to do asks for a proof that is at most five minutes old."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void prove(async () => ({ password }));
        }}
      >
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          autoFocus
          onChange={(event) => setPassword(event.target.value)}
        />
        {error === undefined ? undefined : <ProblemNote error={error} />}
        <DialogActions close={gaveUp}>
          <Button icon="key" onClick={() => void prove(byPasskey)}>
            Use a passkey
          </Button>
          <Button tone="primary" type="submit" disabled={password === ""}>
            Go on
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
