import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { createPasskey } from "../../api/passkey.ts";
import { type PasskeyHindrance, passkeyHindrance } from "../../api/passkey-place.ts";
import type { PasskeyDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { Proof } from "./proof.tsx";
import { passkeysQuery } from "./queries.ts";

export function Passkeys() {
  const passkeys = useQuery(passkeysQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<PasskeyDocument>();
  const hindrance = passkeyHindrance(location.href, isSecureContext);
  return (
    <Proof title="Passkeys">
      <p className="text-soft">A passkey of a device or a security key signs you in without password and code.</p>
      <Answer of={passkeys} what="your passkeys">
        {(items) =>
          items.length === 0 ? undefined : (
            <ul aria-label="Your passkeys" className="space-y-2">
              {items.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} remove={() => setRemoving(passkey)} />
              ))}
            </ul>
          )
        }
      </Answer>
      {hindrance === undefined ? (
        <Button icon="plus" onClick={() => setAdding(true)}>
          Add a passkey…
        </Button>
      ) : (
        <Hindered by={hindrance} />
      )}
      {adding ? <AddDialog close={() => setAdding(false)} /> : undefined}
      {removing === undefined ? undefined : (
        <RemoveDialog
          organization={undefined}
          path={`/v1/me/passkeys/${encodeURIComponent(removing.id)}`}
          name={`the passkey ${removing.label}`}
          means="It does not sign you in any more. What the device or key has of it stays there until you delete it there."
          close={() => setRemoving(undefined)}
        />
      )}
    </Proof>
  );
}

function PasskeyRow({ passkey, remove }: { passkey: PasskeyDocument; remove: () => void }) {
  const { label, relyingParty, createdAt, lastUsedAt } = passkey;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-0 flex-1 basis-40">
        <b className="font-medium break-all">{label}</b> <span className="break-all text-soft">for {relyingParty}</span>
        <span className="block text-xs text-soft">
          made <Ago at={createdAt} /> ·{" "}
          {lastUsedAt === undefined ? (
            "never used"
          ) : (
            <>
              last used <Ago at={lastUsedAt} />
            </>
          )}
        </span>
      </span>
      <Button tone="danger" aria-label={`Remove… the passkey ${label}`} onClick={remove}>
        Remove…
      </Button>
    </li>
  );
}

function Hindered({ by: { why, open } }: { by: PasskeyHindrance }) {
  return (
    <p className="rounded-md bg-sunken px-3 py-2">
      No passkey can be added here. {why}
      {open === undefined ? undefined : (
        <>
          {" "}
          Open{" "}
          <a className="break-all text-accent underline" href={open}>
            {open}
          </a>{" "}
          and sign in there.
        </>
      )}
    </p>
  );
}

function AddDialog({ close }: { close: () => void }) {
  const [label, setLabel] = useState("");
  const add = useAction(
    undefined,
    async () => {
      const { publicKey } = await api<{ publicKey: Record<string, unknown> }>("POST", "/v1/me/passkeys/options");
      const response = await createPasskey(publicKey);
      await api("POST", "/v1/me/passkeys", { body: { label: label.trim(), response } });
    },
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Add a passkey"
      description="Your browser then asks which device or key is to have it."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="By which you know it in the list, such as the device it is on."
          required
          autoFocus
          maxLength={100}
          value={label}
          onChange={({ target }) => setLabel(target.value)}
        />
        {add.error === null ? undefined : <ProblemNote error={add.error} />}
        <DialogActions close={close}>
          <Button tone="primary" icon="key" type="submit" busy={add.isPending} disabled={label.trim() === ""}>
            Add it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
