import { useState } from "react";
import { api } from "../../api/client.ts";
import type { RecoveryCodesDocument, TotpDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button, buttonClass } from "../../components/button.tsx";
import { Dialog, OnceActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Mark } from "../../components/mark.tsx";
import { QrCode } from "../../components/qr-code.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { ProblemNote } from "../../components/states.tsx";
import { Proof } from "./proof.tsx";

export function Codes({ areOn, recoveryCodes }: { areOn: boolean; recoveryCodes: number }) {
  const [open, setOpen] = useState<"on" | "off" | "recovery">();
  const close = () => setOpen(undefined);
  return (
    <Proof
      title="Codes of an app"
      state={
        <Mark tone={areOn ? "good" : "plain"} icon={areOn ? "check" : "question"}>
          {areOn ? "asked for after the password" : "off"}
        </Mark>
      }
    >
      {areOn ? (
        <>
          <p className="text-soft">
            {recoveryCodes} recovery code{recoveryCodes === 1 ? "" : "s"} left, for the day the app is gone.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button icon="refresh" onClick={() => setOpen("recovery")}>
              New recovery codes…
            </Button>
            <Button tone="danger" onClick={() => setOpen("off")}>
              Turn codes off…
            </Button>
          </div>
        </>
      ) : (
        <Button icon="plus" onClick={() => setOpen("on")}>
          Turn codes on…
        </Button>
      )}
      {open === "on" ? <TurnOn close={close} /> : undefined}
      {open === "recovery" ? <NewRecoveryCodes close={close} /> : undefined}
      {open === "off" ? (
        <RemoveDialog
          organization={undefined}
          path="/v1/me/totp"
          verb="Turn off"
          name="codes of an app"
          means="From then on your password alone signs you in. The recovery codes you have stop working, and the entry in your app is of no use any more."
          close={close}
        />
      ) : undefined}
    </Proof>
  );
}

/** First a secret for the app, then a code of it as proof that the app has it, and then the codes for the day it is gone. */
function TurnOn({ close }: { close: () => void }) {
  const [code, setCode] = useState("");
  const begin = useAction(undefined, () => api<TotpDocument>("POST", "/v1/me/totp"));
  const confirm = useAction(undefined, () =>
    api<RecoveryCodesDocument>("POST", "/v1/me/totp/confirm", { body: { code } }),
  );
  const error = confirm.error ?? begin.error;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Turn on codes of an app"
      description="An authenticator app then shows six digits that change every 30 seconds. Whoever signs in with your password is asked for them."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (begin.data === undefined) begin.mutate();
          else confirm.mutate();
        }}
      >
        {confirm.data === undefined ? (
          <SecretAndCode totp={begin.data} code={code} setCode={setCode} />
        ) : (
          <RecoveryCodes are={confirm.data} words="Codes are on." />
        )}
        {error === null ? undefined : <ProblemNote error={error} />}
        <OnceActions
          close={close}
          done={confirm.data !== undefined}
          icon="key"
          busy={begin.isPending || confirm.isPending}
          disabled={begin.data !== undefined && code.length !== 6}
        >
          {begin.data === undefined ? "Make a secret" : "Turn on"}
        </OnceActions>
      </form>
    </Dialog>
  );
}

function SecretAndCode({
  totp,
  code,
  setCode,
}: {
  totp: TotpDocument | undefined;
  code: string;
  setCode: (code: string) => void;
}) {
  if (totp === undefined)
    return <p className="text-sm">The app needs a secret that only it and this server know. It is made now.</p>;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-x-4">
        <figure>
          <QrCode text={totp.uri} label="QR code with the secret, for the camera of the app" />
          <figcaption className="mt-1 text-sm">Scan this with the app.</figcaption>
        </figure>
        <div className="min-w-0 flex-1 basis-48">
          <ShownOnce
            what="Or type this secret into the app."
            text={totp.secret}
            shownAs={totp.secret.replace(/.{4}(?=.)/g, "$& ")}
          />
          <a className={buttonClass()} href={totp.uri}>
            Open it in an app of this device
          </a>
        </div>
      </div>
      <TextField
        label="Code that the app shows now"
        hint="Codes are on once you have shown one; until then nothing is asked for."
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\d{6}"
        maxLength={6}
        required
        autoFocus
        value={code}
        onChange={({ target }) => setCode(target.value.replace(/\D/g, ""))}
      />
    </>
  );
}

function NewRecoveryCodes({ close }: { close: () => void }) {
  const make = useAction(undefined, () => api<RecoveryCodesDocument>("POST", "/v1/me/recovery-codes"));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="New recovery codes"
      description="The ones you have stop working at once."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        {make.data === undefined ? undefined : <RecoveryCodes are={make.data} words="The old ones are of no use." />}
        {make.error === null ? undefined : <ProblemNote error={make.error} />}
        <OnceActions close={close} done={make.data !== undefined} icon="refresh" busy={make.isPending} disabled={false}>
          Make new ones
        </OnceActions>
      </form>
    </Dialog>
  );
}

function RecoveryCodes({ are: { recoveryCodes }, words }: { are: RecoveryCodesDocument; words: string }) {
  return (
    <>
      <p className="text-sm">
        {words} Each of these works once instead of a code, for the day the app is gone. Keep them where the app is not.
      </p>
      <ShownOnce what="Keep this list of recovery codes now." text={recoveryCodes.join("\n")} />
    </>
  );
}
