import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { SecretDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer, Command, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

/** That secrets are there, and never what they are. */
export function Secrets({ organization }: { organization: string }) {
  const secrets = useQuery({
    queryKey: keys.record(organization, "secret"),
    queryFn: async () => (await get<{ items: readonly SecretDocument[] }>(`${base(organization)}/secrets`)).items,
  });
  const [storing, setStoring] = useState<{ readonly name: string }>();
  const [removing, setRemoving] = useState<SecretDocument>();
  return (
    <Panel
      flush
      title="Secrets"
      aside={
        <Button tone="primary" icon="plus" onClick={() => setStoring({ name: "" })}>
          Store a secret…
        </Button>
      }
    >
      <Answer of={secrets} what="secrets">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="key" title="No secret is stored">
              A secret is sealed with a key of this organization as soon as it arrives, and is never shown again. On the
              command line: <Command>setpoint secret set NAME</Command>
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((secret) => (
                <li key={secret.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2 text-sm">
                  <span className="min-w-0 flex-1 basis-56">
                    <b className="font-medium break-all">{secret.name}</b>
                    <span className="block text-xs text-soft">
                      version {secret.version}, stored by {secret.changedBy} <Ago at={secret.changedAt} />
                    </span>
                  </span>
                  <Button aria-label={`Replace… ${secret.name}`} onClick={() => setStoring(secret)}>
                    Replace…
                  </Button>
                  <Button
                    tone="danger"
                    icon="trash"
                    aria-label={`Remove… ${secret.name}`}
                    onClick={() => setRemoving(secret)}
                  >
                    Remove…
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {storing === undefined ? undefined : (
        <StoreDialog organization={organization} name={storing.name} close={() => setStoring(undefined)} />
      )}
      {removing === undefined ? undefined : (
        <RemoveDialog
          organization={organization}
          path={`${base(organization)}/secrets/${encodeURIComponent(removing.name)}`}
          name={removing.name}
          means="For good: nobody can bring it back, from here or from a newer backup. Whatever uses it stops at its next use."
          close={() => setRemoving(undefined)}
        />
      )}
    </Panel>
  );
}

interface AboutSecret {
  readonly organization: string;
  readonly name: string;
  readonly close: () => void;
}

function StoreDialog({ organization, name: given, close }: AboutSecret) {
  const [name, setName] = useState(given);
  const [value, setValue] = useState("");
  const store = useAction(
    organization,
    () => api("PUT", `${base(organization)}/secrets/${encodeURIComponent(name.trim())}`, { body: { value } }),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={given === "" ? "Store a secret" : `Replace ${given}`}
      description="It is taken and never given back: in no answer, log, event or error."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          store.mutate();
        }}
      >
        {given === "" ? (
          <TextField
            label="Name"
            required
            autoFocus
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        ) : undefined}
        <TextField
          label="Value"
          type="password"
          required
          autoComplete="new-password"
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
        {store.error === null ? undefined : <ProblemNote error={store.error} />}
        <DialogActions close={close}>
          <Button
            tone="primary"
            icon="key"
            type="submit"
            busy={store.isPending}
            disabled={name.trim() === "" || value === ""}
          >
            Store it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
