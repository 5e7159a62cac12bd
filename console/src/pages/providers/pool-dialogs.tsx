import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { AccountDocument, PoolAccountDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { ProblemNote } from "../../components/states.tsx";

interface Closes {
  readonly close: () => void;
}

function ProviderField({ value, onChange }: { value: string; onChange: (provider: string) => void }) {
  return (
    <SelectField label="Provider" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="hetzner-cloud">Hetzner Cloud</option>
      <option value="ionos">IONOS</option>
    </SelectField>
  );
}

/** A name for what comes from the pool: it is claimed by what is first made there, and not by this. */
export function NewClaimDialog({ organization, close }: Closes & { organization: string }) {
  const [name, setName] = useState("");
  const [provider, setProvider] = useState("hetzner-cloud");
  const claim = useAction(
    organization,
    () => api("POST", `${base(organization)}/accounts`, { body: { name, provider, fromPool: true } }),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="An account from the pool"
      description="Nothing is claimed yet: the first host that is made there claims one of the operator's, which is then this organization's alone until it is given back. Where none is free, the host waits and says so."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          claim.mutate();
        }}
      >
        <TextField
          label="Name"
          required
          autoFocus
          value={name}
          onChange={({ target }) => setName(target.value)}
          hint="What hosts, networks and firewalls there name as their account."
        />
        <ProviderField value={provider} onChange={setProvider} />
        {claim.error === null ? undefined : <ProblemNote error={claim.error} />}
        <DialogActions close={close}>
          <Button tone="primary" icon="plus" type="submit" busy={claim.isPending} disabled={name === ""}>
            Prepare it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Says first what is there of the organization's: with anything left, it is refused. */
export function GiveBackDialog({
  organization,
  account,
  close,
}: Closes & { organization: string; account: AccountDocument }) {
  const { name, pool, use } = account;
  const subjects = use?.subjects ?? 0;
  const owned = use?.owned ?? 0;
  const giveBack = useAction(
    organization,
    () => api("POST", `${base(organization)}/accounts/${encodeURIComponent(name)}:release`),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`Give back what ${name} has`}
      description={`${pool?.account ?? "It"} goes back to the operator, who looks whether it is empty before anybody else has it. The account ${name} stays, and claims another one when it is needed.`}
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <dt className="text-soft">Resources of yours there</dt>
        <dd>{subjects}</dd>
        <dt className="text-soft">Things outside on record as yours</dt>
        <dd>{owned}</dd>
      </dl>
      {subjects === 0 ? undefined : (
        <p className="mt-2 text-sm">
          It is refused while any resource names the account, also one that is being deleted: delete them, and wait
          until they are gone.
        </p>
      )}
      {giveBack.error === null ? undefined : <ProblemNote error={giveBack.error} />}
      <DialogActions close={close}>
        <Button
          tone="danger"
          icon="back"
          busy={giveBack.isPending}
          disabled={subjects > 0}
          onClick={() => giveBack.mutate()}
        >
          Give it back
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** The word of an operator that an account is empty: the next organization sees whatever is left there. */
export function PutBackDialog({
  account: { name, state, organization },
  close,
}: Closes & { account: PoolAccountDocument }) {
  const [looked, setLooked] = useState(false);
  const putBack = useAction(undefined, () => api("POST", `/v1/pool/${encodeURIComponent(name)}:release`), close);
  const from =
    state === "claimed"
      ? `It is taken from ${organization ?? "the organization"} that has it, unless anything of theirs still names it: then it is refused.`
      : `${organization ?? "An organization"} had it last.`;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`Put ${name} back`}
      description={`${from} From then on any organization may claim it, and would see whatever is still there.`}
    >
      <label className="flex items-start gap-2 text-sm">
        <input
          type="checkbox"
          className="mt-0.5 size-4"
          checked={looked}
          onChange={({ target }) => setLooked(target.checked)}
        />
        I have looked at the provider: nothing is left there.
      </label>
      {putBack.error === null ? undefined : <ProblemNote error={putBack.error} />}
      <DialogActions close={close}>
        <Button
          tone="primary"
          icon="check"
          busy={putBack.isPending}
          disabled={!looked}
          onClick={() => putBack.mutate()}
        >
          Put it back
        </Button>
      </DialogActions>
    </Dialog>
  );
}

export function NewPoolAccountDialog({ close }: Closes) {
  const [name, setName] = useState("");
  const [provider, setProvider] = useState("hetzner-cloud");
  const [credentialRef, setCredentialRef] = useState("");
  const [places, setPlaces] = useState("");
  const add = useAction(
    undefined,
    () => api("POST", "/v1/pool", { body: { name, provider, credentialRef, locations: wordsOf(places) } }),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Put an account into the pool"
      description="Any organization that needs one may claim it from now on. What is made there is paid with it."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <TextField label="Name" required autoFocus value={name} onChange={({ target }) => setName(target.value)} />
        <ProviderField value={provider} onChange={setProvider} />
        <TextField
          label="Where its credential is"
          required
          placeholder="env:HETZNER_1_TOKEN"
          value={credentialRef}
          onChange={({ target }) => setCredentialRef(target.value)}
          hint="A variable or a file of the machine that the scheduler and the worker run on: env:NAME or file:PATH. The credential itself stays there."
        />
        <TextField
          label="Locations"
          placeholder="fsn1, nbg1"
          value={places}
          onChange={({ target }) => setPlaces(target.value)}
          hint="In the provider's own names; empty: everywhere."
        />
        {add.error === null ? undefined : <ProblemNote error={add.error} />}
        <DialogActions close={close}>
          <Button
            tone="primary"
            icon="plus"
            type="submit"
            busy={add.isPending}
            disabled={name === "" || credentialRef === ""}
          >
            Put it in
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,]+/u).filter((word) => word !== "");
}
