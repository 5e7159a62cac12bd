import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { api } from "../api/client.ts";
import { assertPasskey } from "../api/passkey.ts";
import { passkeyHindrance } from "../api/passkey-place.ts";
import { meQuery } from "../api/queries.ts";
import type { MeDocument } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { Dialog, DialogActions } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { Answer, ProblemNote } from "../components/states.tsx";

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
        reject(new Error("This asks for a fresh proof of who you are. Nothing was done."));
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
  const me = useQuery(meQuery);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && gaveUp()}
      title="Prove that it is you"
      description="What you are about to do makes, shows or moves a way in. A screen that somebody left open must not be enough for that, so it asks for a proof that is at most five minutes old."
    >
      <Answer of={me} what="what you can prove it with">
        {(known) => <Ways ways={waysOf(known)} proven={proven} gaveUp={gaveUp} />}
      </Answer>
    </Dialog>
  );
}

type Way = "password" | "code" | "passkey";

const names: Readonly<Record<Way, string>> = { password: "Password", code: "Code of your app", passkey: "Passkey" };

/** What this person has, and nothing else. */
function waysOf({ hasPassword = false, secondFactor }: MeDocument): readonly Way[] {
  const ways: Way[] = [];
  if (hasPassword) ways.push("password");
  if (secondFactor?.totp === true) ways.push("code");
  if ((secondFactor?.passkeys ?? 0) > 0) ways.push("passkey");
  return ways;
}

function Ways({ ways, proven, gaveUp }: { ways: readonly Way[] } & Waiting) {
  const [way, setWay] = useState(ways[0]);
  const [text, setText] = useState("");
  const { prove, error, isBusy, forget } = useProof(proven, () => setText(""));
  const hindrance = way === "passkey" ? passkeyHindrance(location.href, isSecureContext) : undefined;
  if (way === undefined) return <NoWay gaveUp={gaveUp} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void prove(way, text);
      }}
    >
      {ways.length === 1 ? undefined : (
        <WayChoice
          ways={ways}
          way={way}
          choose={(chosen) => {
            setWay(chosen);
            setText("");
            forget();
          }}
        />
      )}
      {way === "passkey" ? (
        <p className="mb-3 text-sm">
          {hindrance === undefined
            ? "Your browser then asks for the device or key that has it."
            : `It cannot be used here. ${hindrance.why}`}
        </p>
      ) : (
        <ProofField key={way} way={way} text={text} setText={setText} isRefused={error !== undefined} />
      )}
      {error === undefined ? undefined : <ProblemNote error={error} />}
      <DialogActions close={gaveUp}>
        <Button
          tone="primary"
          type="submit"
          busy={isBusy}
          icon={way === "passkey" ? "key" : undefined}
          disabled={way === "passkey" ? hindrance !== undefined : text.trim() === ""}
        >
          {way === "passkey" ? "Use a passkey" : "Go on"}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Shows one to the server. Whatever it answers, the session stays as it is. */
function useProof(proven: () => void, refused: () => void) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const prove = async (way: Way, text: string) => {
    setError(undefined);
    setBusy(true);
    try {
      await api("POST", "/v1/session/prove", { body: await bodyOf(way, text) });
      proven();
    } catch (thrown) {
      setError(thrown);
      refused();
    } finally {
      setBusy(false);
    }
  };
  return { prove, error, isBusy, forget: () => setError(undefined) };
}

async function bodyOf(way: Way, text: string): Promise<unknown> {
  if (way === "password") return { password: text };
  if (way === "code") return { code: text.trim() };
  const { publicKey } = await api<{ publicKey: Record<string, unknown> }>("POST", "/v1/session/prove-options");
  return { passkey: await assertPasskey(publicKey) };
}

function WayChoice({ ways, way, choose }: { ways: readonly Way[]; way: Way; choose: (way: Way) => void }) {
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-sm font-medium">One of what you have is enough</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1.5 text-sm">
        {ways.map((one) => (
          <label key={one} className="inline-flex items-center gap-1.5">
            <input type="radio" name="way" checked={one === way} onChange={() => choose(one)} />
            {names[one]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ProofField({
  way,
  text,
  setText,
  isRefused,
}: {
  way: "password" | "code";
  text: string;
  setText: (text: string) => void;
  isRefused: boolean;
}) {
  const place = useRef<HTMLInputElement>(null);
  // Whoever mistyped types again, without looking for the field first.
  useEffect(() => {
    if (isRefused) place.current?.focus();
  }, [isRefused]);
  const isCode = way === "code";
  return (
    <TextField
      ref={place}
      label={isCode ? "Code" : "Password"}
      hint={isCode ? "The six digits that your app shows now, or one of your recovery codes." : undefined}
      type={isCode ? "text" : "password"}
      autoComplete={isCode ? "one-time-code" : "current-password"}
      spellCheck={false}
      value={text}
      autoFocus
      onChange={({ target }) => setText(target.value)}
    />
  );
}

function NoWay({ gaveUp }: { gaveUp: () => void }) {
  return (
    <>
      <p className="text-sm">
        You have neither a password nor a passkey, so a link signs you in: open a new one, which counts as a proof.
        Under
        <b> Access, Your sessions</b> you can set a password right after that.
      </p>
      <DialogActions close={gaveUp}>{undefined}</DialogActions>
    </>
  );
}
