import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { kindSchemasQuery, specSchema } from "../../api/kind-schema.ts";
import { base, loopsQuery } from "../../api/queries.ts";
import type { DryRunDocument, Manifest, ResourceDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { pathOf } from "../../components/object-link.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { SchemaForm } from "../../forms/schema-form.tsx";

export function DeclareButton({ organization }: { organization: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button tone="primary" icon="plus" onClick={() => setOpen(true)}>
        Declare…
      </Button>
      {open ? <DeclareDialog organization={organization} close={() => setOpen(false)} /> : undefined}
    </>
  );
}

/** Something new: its form is made from the kind's schema, its plan is shown, and only then is it declared. */
function DeclareDialog({ organization, close }: { organization: string; close: () => void }) {
  const loops = useQuery(loopsQuery).data;
  const kinds = (loops?.kinds ?? []).filter(({ scopes }) => scopes.some((scope) => scope !== "platform"));
  const [kind, setKind] = useState("");
  const [name, setName] = useState("");
  const [project, setProject] = useState("");
  const [mode, setMode] = useState("observe");
  const [spec, setSpec] = useState<Readonly<Record<string, unknown>>>({});
  const schemas = useQuery(kindSchemasQuery);
  const navigate = useNavigate();
  const chosen = kinds.find((entry) => entry.kind === kind);
  const path = `${base(organization)}${project === "" ? "" : `/projects/${project}`}/${chosen?.plural ?? ""}`;
  const manifest = {
    apiVersion: "setpoint/v1",
    kind,
    metadata: { name, ...(mode === "" ? {} : { mode }) },
    spec,
  } as Manifest;
  const plan = useAction(undefined, () => api<DryRunDocument>("POST", `${path}?dryRun=true`, { body: manifest }));
  const declare = useAction(
    organization,
    () => api<ResourceDocument>("POST", path, { body: manifest }),
    (made) => {
      close();
      void navigate({ to: "/o/$organization/objects/$", params: { organization, _splat: pathOf(made, loops) } });
    },
  );
  const edited = (act: () => void) => {
    plan.reset();
    act();
  };
  const error = plan.error ?? declare.error;
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Declare something"
      description="Nothing is written before you have seen the plan."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          plan.mutate();
        }}
      >
        <div className="grid gap-x-4 sm:grid-cols-2">
          <SelectField
            label="Kind"
            required
            value={kind}
            onChange={({ target }) =>
              edited(() => {
                setKind(target.value);
                setSpec({});
              })
            }
          >
            <option value="">choose</option>
            {kinds.map((entry) => (
              <option key={entry.kind} value={entry.kind}>
                {entry.kind}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Name"
            required
            value={name}
            onChange={({ target }) => edited(() => setName(target.value))}
            hint="Lower-case letters, digits, dots and dashes."
          />
          <TextField
            label="Project (optional)"
            value={project}
            onChange={({ target }) => edited(() => setProject(target.value.trim()))}
            hint="Empty: it lives in the organization itself."
          />
          <SelectField
            label="Mode"
            value={mode}
            onChange={({ target }) => edited(() => setMode(target.value))}
            hint="Begin with observe where it exists outside already."
          >
            <option value="observe">observe – look and report</option>
            <option value="propose">propose – every change waits</option>
            <option value="enforce">enforce – act within the guards</option>
            {chosen?.modeRequired === true ? undefined : <option value="">that of its scope</option>}
          </SelectField>
        </div>
        {kind === "" ? undefined : (
          <Answer of={schemas} what="the schema of the kind">
            {(found) => {
              const schema = specSchema(found, kind);
              return schema === undefined ? (
                <p className="text-sm">The schema of {kind} is not known.</p>
              ) : (
                <SchemaForm
                  key={kind}
                  schemas={found}
                  schema={schema}
                  value={spec}
                  change={(next) => edited(() => setSpec(next))}
                />
              );
            }}
          </Answer>
        )}
        {plan.data === undefined ? undefined : (
          <section className="mb-3 rounded-md border border-accent p-3">
            <h3 className="mb-2 text-sm font-semibold">The plan</h3>
            <DryRunView plan={plan.data} />
          </section>
        )}
        {error === null ? undefined : <ProblemNote error={error} />}
        <DialogActions close={close}>
          <Button
            type="submit"
            tone={plan.data === undefined ? "primary" : "plain"}
            busy={plan.isPending}
            disabled={kind === "" || name === ""}
          >
            Show the plan
          </Button>
          {plan.data === undefined ? undefined : (
            <Button tone="primary" busy={declare.isPending} onClick={() => declare.mutate()}>
              Declare
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}
