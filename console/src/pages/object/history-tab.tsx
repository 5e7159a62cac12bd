import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { DeclarationDocument, DryRunDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { Value } from "../../components/differences.tsx";
import { DryRunView } from "../../components/dry-run.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { TextDifference } from "../../components/text.tsx";
import { Ago } from "../../components/time.tsx";
import type { AboutObject } from "./page.tsx";
import { declarationsQuery } from "./queries.ts";
import { Timeline } from "./timeline.tsx";

/** Every declaration with what it changed; each can be declared again, after a look at the plan. */
export function HistoryTab(about: AboutObject) {
  const { organization, path, resource } = about;
  const declarations = useQuery(declarationsQuery(organization, path));
  const [chosen, setChosen] = useState<DeclarationDocument>();
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <Panel title="Declarations" flush>
        <Answer of={declarations} what="its declarations">
          {({ items }) => (
            <ol className="divide-y divide-line">
              {items.map((declaration) => (
                <li key={declaration.revision} className="px-3.5 py-2 text-sm">
                  <p className="flex flex-wrap items-center gap-x-3">
                    <b className="font-medium tabular-nums">revision {declaration.revision}</b>
                    <span className="text-soft">
                      generation {declaration.generation}, {declaration.by}
                    </span>
                    <span className="flex-1" />
                    <Ago at={declaration.at} className="text-xs text-soft" />
                    {declaration.revision === resource.metadata.revision ||
                    resource.metadata.deletion !== undefined ? undefined : (
                      <Button icon="back" onClick={() => setChosen(declaration)}>
                        Roll back…
                      </Button>
                    )}
                  </p>
                  <Changes declaration={declaration} />
                </li>
              ))}
            </ol>
          )}
        </Answer>
      </Panel>
      <Timeline {...about} />
      {chosen === undefined ? undefined : <RollbackDialog {...about} to={chosen} close={() => setChosen(undefined)} />}
    </div>
  );
}

const fieldsAtOnce = 8;

/** What it changed, folded where that is long. Of the first declaration all is new, and nothing was there before. */
function Changes({ declaration: { revision, changes = [] } }: { declaration: DeclarationDocument }) {
  const list = (
    <ul className="mt-1 space-y-0.5 text-xs">
      {changes.map(({ pointer, before, after }) => (
        <li key={pointer} className="flex flex-wrap gap-x-2 gap-y-0.5 break-words">
          <code className="text-soft">{pointer}</code>
          {revision === 1 ? undefined : (
            <Value value={before} sign="−" tone="bg-bad-wash text-bad" absent="not set before" />
          )}
          <Value value={after} sign="+" tone="bg-good-wash text-good" absent="no longer set" />
        </li>
      ))}
    </ul>
  );
  if (changes.length === 0 || (revision !== 1 && changes.length <= fieldsAtOnce)) return list;
  return (
    <details className="mt-0.5">
      <summary className="w-fit cursor-pointer text-xs text-accent">
        {revision === 1 ? "declared for the first time, with" : "changed"} {changes.length} field
        {changes.length === 1 ? "" : "s"}
      </summary>
      {list}
    </details>
  );
}

function RollbackDialog({
  organization,
  path,
  resource,
  to,
  close,
}: AboutObject & { to: DeclarationDocument; close: () => void }) {
  const link = `${base(organization)}/${path}:rollback`;
  const headers = { "if-match": `"${resource.metadata.revision}"` };
  const body = { toRevision: to.revision };
  const plan = useQuery({
    queryKey: ["rollback-plan", link, to.revision, resource.metadata.revision],
    queryFn: () => api<DryRunDocument>("POST", `${link}?dryRun=true`, { headers, body }),
    staleTime: 0,
  });
  const rollBack = useAction(organization, () => api("POST", link, { headers, body }), close);
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title={`Declare revision ${to.revision} again`}
      description="It becomes a new revision; what came between stays in the history."
    >
      <div className="mb-3">
        <TextDifference
          before={stringify(resource.spec)}
          after={stringify(to.spec)}
          beforeName="as it is declared now"
          afterName={`revision ${to.revision}`}
        />
      </div>
      <Answer of={plan} what="the plan">
        {(found) => <DryRunView plan={found} />}
      </Answer>
      {rollBack.error === null ? undefined : <ProblemNote error={rollBack.error} />}
      <DialogActions close={close}>
        <Button
          tone="primary"
          busy={rollBack.isPending}
          disabled={plan.data === undefined}
          onClick={() => rollBack.mutate()}
        >
          Declare it again
        </Button>
      </DialogActions>
    </Dialog>
  );
}
