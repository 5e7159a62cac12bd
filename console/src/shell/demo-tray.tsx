import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { DemoScenario } from "../../../src/control-api/demo-tray.ts";
import { api } from "../api/client.ts";
import { demoQuery } from "../api/demo.ts";
import { useAction } from "../components/action.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Icon } from "../components/icons.tsx";
import { ProblemNote } from "../components/states.tsx";
import { useCommand } from "./commands.ts";

/** Where the demo runs: things to break, each by the real code, with what to expect and what to do. */
export function DemoTray({ organization }: { organization: string }) {
  const tray = useQuery(demoQuery).data;
  const [open, setOpen] = useState(false);
  const isHere = tray !== undefined && tray.organization === organization && tray.items.length > 0;
  useCommand(isHere ? { title: "Break something…", icon: "bolt", run: () => setOpen(true) } : undefined);
  if (!isHere) return undefined;
  return (
    <>
      <Button icon="bolt" aria-label="Break something…" onClick={() => setOpen(true)}>
        <span>
          Break<span className="hidden sm:inline"> something</span>…
        </span>
      </Button>
      {open ? (
        <Dialog
          wide
          open
          onOpenChange={setOpen}
          title="Break something"
          description="The providers of this organization are simulated; everything else is real. Pick what should go wrong."
        >
          <div className="space-y-4">
            {places.map(({ where, name }) => (
              <section key={where} aria-label={name}>
                <h3 className="mb-1.5 text-xs font-semibold tracking-wide text-soft uppercase">{name}</h3>
                <ul className="space-y-2">
                  {tray.items
                    .filter((scenario) => scenario.where === where)
                    .map((scenario) => (
                      <ScenarioRow
                        key={scenario.id}
                        organization={organization}
                        scenario={scenario}
                        close={() => setOpen(false)}
                      />
                    ))}
                </ul>
              </section>
            ))}
            <section aria-label="Afterwards" className="border-t border-line pt-3 text-sm">
              <Link
                to="/o/$organization/connect"
                params={{ organization }}
                onClick={() => setOpen(false)}
                className="inline-flex items-center gap-1 font-medium text-accent hover:underline"
              >
                Look at your own Hetzner project, read-only <Icon name="arrow" size={13} />
              </Link>
              <p className="text-soft">Paste a token, and see what is there. Nothing is written in mode observe.</p>
            </section>
          </div>
        </Dialog>
      ) : undefined}
    </>
  );
}

const places = [
  { where: "clouds", name: "At the clouds" },
  { where: "dns", name: "At the DNS server" },
  { where: "setpoint", name: "In Setpoint itself" },
] as const;

function ScenarioRow({
  organization,
  scenario,
  close,
}: {
  organization: string;
  scenario: DemoScenario;
  close: () => void;
}) {
  const run = useAction(organization, () => api("POST", `/demo/scenarios/${scenario.id}`));
  const [path, search] = scenario.look.split("?");
  const row = useRef<HTMLLIElement>(null);
  // What it says grows below the button that was pressed, and may grow out of sight.
  useEffect(() => {
    if (run.isSuccess) row.current?.scrollIntoView({ block: "nearest" });
  }, [run.isSuccess]);
  return (
    <li ref={row} className={`rounded-md border p-3 ${run.isSuccess ? "border-accent" : "border-line"}`}>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h4 className="text-sm font-semibold">{scenario.title}</h4>
          <p className="text-sm text-soft">{scenario.does}</p>
        </div>
        <Button tone={run.isSuccess ? "plain" : "danger"} icon="bolt" busy={run.isPending} onClick={() => run.mutate()}>
          {run.isSuccess ? "Again" : "Break it"}
        </Button>
      </div>
      {run.error === null ? undefined : <ProblemNote error={run.error} />}
      {run.isSuccess ? (
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 border-t border-line pt-2 text-sm">
          <dt className="text-soft">Expect</dt>
          <dd>{scenario.expect}</dd>
          <dt className="text-soft">Guard</dt>
          <dd>{scenario.guard}</dd>
          <dt className="text-soft">You can</dt>
          <dd>{scenario.youCan}</dd>
          <dt className="text-soft">Look</dt>
          <dd>
            <Link
              to={`/o/${organization}/${path ?? ""}` as "/"}
              search={search === undefined ? {} : (Object.fromEntries(new URLSearchParams(search)) as object)}
              onClick={close}
              className="inline-flex items-center gap-1 font-medium text-accent hover:underline"
            >
              see what happens <Icon name="arrow" size={13} />
            </Link>
          </dd>
        </dl>
      ) : undefined}
    </li>
  );
}
