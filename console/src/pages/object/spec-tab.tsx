import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { parse, stringify } from "yaml";
import { api } from "../../api/client.ts";
import { specSchema } from "../../api/json-schema.ts";
import { kindSchemasQuery } from "../../api/kind-schema.ts";
import { base } from "../../api/queries.ts";
import type { DryRunDocument, Manifest } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { TextDifference, YamlEditor } from "../../components/text.tsx";
import { fieldErrors } from "../../forms/form-context.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { manifestOf } from "./manifest.ts";
import type { AboutObject } from "./page.tsx";

/** Edits the declaration: by its form or as YAML. Nothing is declared before its plan was seen. */
export function SpecTab(about: AboutObject) {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Editor key={about.resource.metadata.revision} {...about} />
      <Owners {...about} />
    </div>
  );
}

function Editor({ organization, path, resource }: AboutObject) {
  const [manifest, setManifest] = useState<Manifest>(manifestOf(resource));
  const [asYaml, setAsYaml] = useState(false);
  const [broken, setBroken] = useState<string>();
  const schemas = useQuery(kindSchemasQuery);
  const link = `${base(organization)}/${path}`;
  const headers = { "if-match": `"${resource.metadata.revision}"` };
  const plan = useAction(undefined, () =>
    api<DryRunDocument>("PUT", `${link}?dryRun=true`, { headers, body: manifest }),
  );
  const declare = useAction(
    organization,
    () => api("PUT", link, { headers, body: manifest }),
    () => plan.reset(),
  );
  const edit = (next: Manifest) => {
    plan.reset();
    declare.reset();
    setManifest(next);
  };
  const [undone, setUndone] = useState(0);
  const undo = () => {
    edit(manifestOf(resource));
    setBroken(undefined);
    setUndone(undone + 1);
  };
  const error = plan.error ?? declare.error;
  const isLeaving = resource.metadata.deletion !== undefined;
  return (
    <Panel
      title="What is wanted"
      aside={
        <Button tone="quiet" onClick={() => setAsYaml(!asYaml)}>
          {asYaml ? "As a form" : "As YAML"}
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          plan.mutate();
        }}
      >
        {asYaml ? (
          <Yaml key={undone} manifest={manifest} edit={edit} broken={broken} setBroken={setBroken} />
        ) : (
          <Answer of={schemas} what="the schema of its kind">
            {(found) => {
              const schema = specSchema(found, resource.kind);
              if (schema === undefined)
                return <p className="text-sm">The schema of {resource.kind} is not known here.</p>;
              return (
                <SchemaForm
                  key={undone}
                  schemas={found}
                  schema={schema}
                  value={manifest.spec as Readonly<Record<string, unknown>>}
                  errors={fieldErrors(error)}
                  change={(spec) => edit({ ...manifest, spec: spec as Manifest["spec"] })}
                />
              );
            }}
          </Answer>
        )}
        {plan.data === undefined ? undefined : (
          <section className="my-3 rounded-md border border-accent p-3">
            <h3 className="mb-2 text-sm font-semibold">The plan</h3>
            {asYaml ? (
              <div className="mb-3">
                <TextDifference
                  before={stringify(manifestOf(resource))}
                  after={stringify(manifest)}
                  beforeName="as it is declared"
                  afterName="as it would be"
                />
              </div>
            ) : undefined}
            <DryRunView plan={plan.data} />
          </section>
        )}
        {error === null ? undefined : <ProblemNote error={error} />}
        <div className="mt-3 flex flex-wrap justify-end gap-2">
          <Button tone="quiet" onClick={undo}>
            Undo the edits
          </Button>
          <Button
            type="submit"
            tone={plan.data === undefined ? "primary" : "plain"}
            busy={plan.isPending}
            disabled={broken !== undefined || isLeaving}
          >
            Show the plan
          </Button>
          {plan.data === undefined ? undefined : (
            <Button tone="primary" icon="check" busy={declare.isPending} onClick={() => declare.mutate()}>
              Declare it
            </Button>
          )}
        </div>
        {declare.isSuccess ? (
          <p className="mt-2 text-right text-sm text-good">Declared. Its loop has been woken.</p>
        ) : undefined}
      </form>
    </Panel>
  );
}

const unread = /at line (\d+)/;

function Yaml({
  manifest,
  edit,
  broken,
  setBroken,
}: {
  manifest: Manifest;
  edit: (next: Manifest) => void;
  broken: string | undefined;
  setBroken: (broken: string | undefined) => void;
}) {
  const [text, setText] = useState(stringify(manifest));
  const line = broken === undefined ? undefined : Number(unread.exec(broken)?.[1]);
  return (
    <div className="mb-3">
      <p className="mb-1 text-sm font-medium">Manifest</p>
      <YamlEditor
        label="Manifest"
        describedBy="Labels, mode and protection are in metadata."
        text={text}
        broken={line}
        edit={(next) => {
          setText(next);
          try {
            edit(parse(next) as Manifest);
            setBroken(undefined);
          } catch (thrown) {
            setBroken(thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown));
          }
        }}
      />
      <p role="status" className={`mt-1 text-xs ${broken === undefined ? "text-soft" : "text-bad"}`}>
        {broken ?? "Labels, mode and protection are in metadata."}
      </p>
    </div>
  );
}

/** Who set which field: another owner is refused, and told this name. */
function Owners({ resource }: AboutObject) {
  const owners = Map.groupBy(Object.entries(resource.metadata.owners ?? {}), ([, owner]) => owner);
  return (
    <Panel title="Field owners" flush>
      {owners.size === 0 ? (
        <p className="p-3.5 text-sm text-soft">
          No field has an owner of its own: it was declared as a whole by {resource.metadata.declaredBy}.
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {[...owners].map(([owner, fields]) => (
            <li key={owner} className="px-3.5 py-2 text-sm">
              <p>
                <b className="font-medium break-words">{owner}</b>{" "}
                <span className="text-soft">
                  set {fields.length} field{fields.length === 1 ? "" : "s"}
                </span>
              </p>
              <ul className="mt-1 space-y-0.5 text-xs">
                {fields
                  .map(([pointer]) => pointer)
                  .toSorted()
                  .map((pointer) => (
                    <li key={pointer}>
                      <code className="break-words">{pointer}</code>
                    </li>
                  ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
