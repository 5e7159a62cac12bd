import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { parse, stringify } from "yaml";
import { api } from "../../api/client.ts";
import { specSchema } from "../../api/json-schema.ts";
import { kindSchemasQuery } from "../../api/kind-schema.ts";
import { base } from "../../api/queries.ts";
import type { DryRunDocument, Manifest, ResourceDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { TextDifference, YamlEditor } from "../../components/text.tsx";
import { Ago } from "../../components/time.tsx";
import { fieldErrors } from "../../forms/form-context.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { manifestOf } from "./manifest.ts";
import type { AboutObject } from "./page.tsx";

/** Edits the declaration: by its form or as YAML. Nothing is declared before its plan was seen. */
export function SpecTab(about: AboutObject) {
  // What somebody is editing stays while others declare: the page follows what is newer when nothing would be lost.
  const [from, setFrom] = useState(about.resource);
  const [asYaml, setAsYaml] = useState(false);
  const [declared, setDeclared] = useState(false);
  const isNewer = about.resource.metadata.revision !== from.metadata.revision;
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Editor
        key={from.metadata.revision}
        {...about}
        resource={from}
        newer={isNewer ? about.resource : undefined}
        follow={() => setFrom(about.resource)}
        asYaml={asYaml}
        setAsYaml={setAsYaml}
        declared={declared}
        setDeclared={setDeclared}
      />
      <Owners {...about} />
    </div>
  );
}

interface Editing extends AboutObject {
  /** What was declared since the editing began. */
  readonly newer: ResourceDocument | undefined;
  /** Goes on from what is declared now. */
  readonly follow: () => void;
  readonly asYaml: boolean;
  readonly setAsYaml: (asYaml: boolean) => void;
  /** Whether what stands here was declared from here. */
  readonly declared: boolean;
  readonly setDeclared: (declared: boolean) => void;
}

function Editor({ organization, path, resource, newer, follow, asYaml, setAsYaml, declared, setDeclared }: Editing) {
  const [manifest, setManifest] = useState<Manifest>(manifestOf(resource));
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
    () => {
      plan.reset();
      setDeclared(true);
    },
  );
  const edit = (next: Manifest) => {
    plan.reset();
    declare.reset();
    setDeclared(false);
    setManifest(next);
  };
  const isEdited = JSON.stringify(manifest) !== JSON.stringify(manifestOf(resource));
  const follows = newer !== undefined && (!isEdited || declare.isSuccess);
  useEffect(() => {
    if (follows) follow();
  });
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
        {newer === undefined || follows ? undefined : <Overtaken newer={newer} follow={follow} />}
        {error === null ? undefined : <ProblemNote error={error} />}
        <div className="mt-3 flex flex-wrap justify-end gap-2">
          <Button tone="quiet" onClick={undo}>
            Undo the edits
          </Button>
          <Button
            type="submit"
            tone={plan.data === undefined ? "primary" : "plain"}
            busy={plan.isPending}
            disabled={broken !== undefined || isLeaving || newer !== undefined}
          >
            Show the plan
          </Button>
          {plan.data === undefined ? undefined : (
            <Button tone="primary" icon="check" busy={declare.isPending} onClick={() => declare.mutate()}>
              Declare it
            </Button>
          )}
        </div>
        {declared ? (
          <p role="status" className="mt-2 text-right text-sm text-good">
            Declared. Its loop has been woken.
          </p>
        ) : undefined}
      </form>
    </Panel>
  );
}

/** Somebody else declared it meanwhile: the edits are kept until their author lets go of them. */
function Overtaken({ newer, follow }: { newer: ResourceDocument; follow: () => void }) {
  return (
    <div role="alert" className="my-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
      <p>
        It was declared anew by {newer.metadata.declaredBy} <Ago at={newer.metadata.declaredAt} /> while you were
        editing. Your edits are still here; copy what you need of them and begin from what is declared now.
      </p>
      <Button className="mt-2" icon="refresh" onClick={follow}>
        Begin from what is declared now
      </Button>
    </div>
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
