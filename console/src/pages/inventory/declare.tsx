import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api, get } from "../../api/client.ts";
import { specSchema } from "../../api/json-schema.ts";
import { kindSchemasQuery } from "../../api/kind-schema.ts";
import { accountsQuery, base, keys, loopsQuery } from "../../api/queries.ts";
import type { DryRunDocument, LoopsDocument, Manifest, ResourceDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { pathOf } from "../../components/object-link.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { fieldErrors } from "../../forms/form-context.ts";
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

interface Place {
  readonly project: string;
  readonly workspace: string;
}

/** Something new: its form is made from the kind's schema, its plan is shown, and only then is it declared. */
function DeclareDialog({ organization, close }: { organization: string; close: () => void }) {
  const loops = useQuery(loopsQuery).data;
  const kinds = (loops?.kinds ?? []).filter(({ scopes }) => scopes.some((scope) => scope !== "platform"));
  const [kind, setKind] = useState("");
  const [name, setName] = useState("");
  const [place, setPlace] = useState<Place>({ project: "", workspace: "" });
  const [mode, setMode] = useState("observe");
  const [spec, setSpec] = useState<Readonly<Record<string, unknown>>>({});
  const navigate = useNavigate();
  const chosen = kinds.find((entry) => entry.kind === kind);
  const path = `${base(organization)}${pathIn(place)}/${chosen?.plural ?? ""}`;
  // What has no loop of its own goes as far as what carries it out.
  const hasMode = chosen?.everySeconds !== undefined;
  const manifest = {
    apiVersion: "setpoint/v1",
    kind,
    metadata: { name, ...(mode === "" || !hasMode ? {} : { mode }) },
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
    declare.reset();
    act();
  };
  const error = plan.error ?? declare.error;
  const errors = fieldErrors(error);
  const form = useFirstInvalid(error);
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Declare something"
      description="Nothing is written before you have seen the plan."
    >
      <form
        ref={form}
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
            error={errors.get("/metadata/name")}
            onChange={({ target }) => edited(() => setName(target.value))}
            hint="Lower-case letters, digits, dots and dashes."
          />
          {chosen === undefined ? undefined : (
            <PlaceFields
              organization={organization}
              scopes={chosen.scopes}
              place={place}
              change={(next) => edited(() => setPlace(next))}
            />
          )}
          {hasMode ? (
            <SelectField
              label="Mode"
              value={mode}
              onChange={({ target }) => edited(() => setMode(target.value))}
              hint="Begin with observe where it exists outside already."
            >
              <option value="observe">observe – look and report</option>
              <option value="propose">propose – every change waits</option>
              <option value="enforce">enforce – act within the guards</option>
              {chosen.modeRequired ? undefined : <option value="">that of its scope</option>}
            </SelectField>
          ) : undefined}
        </div>
        {kind === "" ? undefined : (
          <SpecOf
            key={kind}
            organization={organization}
            kind={kind}
            spec={spec}
            errors={errors}
            change={(next) => edited(() => setSpec(next))}
          />
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

/** Whoever was refused goes on where the first refused field is. */
function useFirstInvalid(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = error === null ? undefined : form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    // What is folded away cannot be gone to.
    for (let around = field?.closest("details"); around; around = around.parentElement?.closest("details"))
      around.open = true;
    field?.focus();
  }, [error]);
  return form;
}

function pathIn({ project, workspace }: Place): string {
  if (project === "") return "";
  return `/projects/${project}${workspace === "" ? "" : `/workspaces/${workspace}`}`;
}

const scopesQuery = (organization: string, path: string) => ({
  queryKey: [...keys.record(organization, "scope"), path],
  queryFn: async () => (await get<{ items: readonly { name: string }[] }>(`${base(organization)}${path}`)).items,
  retry: false,
});

/** Where it lives, of what its kind may live in. */
function PlaceFields({
  organization,
  scopes,
  place,
  change,
}: {
  organization: string;
  scopes: LoopsDocument["kinds"][number]["scopes"];
  place: Place;
  change: (place: Place) => void;
}) {
  const { project, workspace } = place;
  const projects = useQuery(scopesQuery(organization, "/projects")).data ?? [];
  const below = `/projects/${project}/workspaces`;
  const workspaces = useQuery({ ...scopesQuery(organization, below), enabled: project !== "" }).data ?? [];
  const mayLiveIn = (scope: "organization" | "project" | "workspace") => scopes.includes(scope);
  if (!mayLiveIn("project") && !mayLiveIn("workspace")) return undefined;
  return (
    <>
      <SelectField
        label="Project"
        required={!mayLiveIn("organization")}
        value={project}
        onChange={({ target }) => change({ project: target.value, workspace: "" })}
      >
        <option value="">{mayLiveIn("organization") ? "none: in the organization itself" : "choose"}</option>
        {projects.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      {!mayLiveIn("workspace") || project === "" ? undefined : (
        <SelectField
          label="Workspace"
          required={!mayLiveIn("project")}
          value={workspace}
          onChange={({ target }) => change({ project, workspace: target.value })}
        >
          <option value="">{mayLiveIn("project") ? "none: in the project itself" : "choose"}</option>
          {workspaces.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}

function SpecOf({
  organization,
  kind,
  spec,
  errors,
  change,
}: {
  organization: string;
  kind: string;
  spec: Readonly<Record<string, unknown>>;
  errors: ReadonlyMap<string, string>;
  change: (spec: Readonly<Record<string, unknown>>) => void;
}) {
  const schemas = useQuery(kindSchemasQuery);
  const accounts = useQuery(accountsQuery(organization)).data ?? [];
  return (
    <Answer of={schemas} what="the schema of the kind">
      {(found) => {
        const schema = specSchema(found, kind);
        return schema === undefined ? (
          <p className="text-sm">The schema of {kind} is not known.</p>
        ) : (
          <SchemaForm
            schemas={found}
            schema={schema}
            value={spec}
            errors={errors}
            suggestions={{ account: accounts.map(({ name }) => name) }}
            change={change}
          />
        );
      }}
    </Answer>
  );
}
