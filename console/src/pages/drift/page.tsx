import { useQuery } from "@tanstack/react-query";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { DriftDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Chip } from "../../components/mark.tsx";
import { ObjectLink, pathOfLink } from "../../components/object-link.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { driftRoute } from "./route.tsx";

type Cause = DriftDocument["causes"][number];

/** What differs from its declaration, by cause and field; and what is left alone on purpose. */
export function DriftPage() {
  const { organization } = driftRoute.useParams();
  const drift = useQuery({
    queryKey: keys.record(organization, "drift"),
    queryFn: () => get<DriftDocument>(`${base(organization)}/drift`),
  });
  return (
    <>
      <PageHeader
        title="Drift"
        lead="Many resources with one cause are one entry. What is ours is put right by its loop; what a guard stops waits for you."
      />
      <Answer of={drift} what="what differs">
        {({ causes, ignored = [], truncated }) => (
          <div className="space-y-4">
            {causes.length === 0 ? (
              <Panel>
                <Empty icon="equal" title="Nothing differs">
                  Everything that was looked at is as declared.
                </Empty>
              </Panel>
            ) : undefined}
            {causes.map((cause) => (
              <CausePanel
                key={`${cause.kind} ${cause.action} ${cause.field}`}
                organization={organization}
                cause={cause}
              />
            ))}
            {truncated ? <p className="text-sm text-soft">There is more: this is the oldest part of it.</p> : undefined}
            <Panel title="Left alone on purpose" flush>
              {ignored.length === 0 ? (
                <Empty icon="eye" title="No rule ignores anything">
                  A field that somebody else may change can be left alone, with a reason:{" "}
                  <Command>setpoint ignore dnszone/shop /ttlSeconds --reason …</Command>
                </Empty>
              ) : (
                <ul className="divide-y divide-line">
                  {ignored.map((rule) => (
                    <li key={`${rule.kind} ${rule.name ?? ""} ${rule.field}`} className="px-3.5 py-2 text-sm">
                      <code>{rule.field}</code> of {rule.kind}
                      {rule.name === undefined ? "" : `/${rule.name}`}: {rule.reason}{" "}
                      <span className="text-soft">(a rule of {rule.from})</span>
                    </li>
                  ))}
                </ul>
              )}
            </Panel>
          </div>
        )}
      </Answer>
    </>
  );
}

function CausePanel({ organization, cause }: { organization: string; cause: Cause }) {
  const look = useAction(organization, async () => {
    for (const { link } of cause.resources) await api("POST", `${link}:reconcile`);
  });
  const { kind, action, field, items, resources, resourceCount, guards, since } = cause;
  return (
    <Panel
      title={`${kind}: ${field === "" ? action : `${field} differs`}`}
      aside={
        <>
          since <Ago at={since} />
          <Button icon="refresh" busy={look.isPending} onClick={() => look.mutate()}>
            Look again
          </Button>
        </>
      }
    >
      <p className="flex flex-wrap items-center gap-2 text-sm">
        {items} item{items === 1 ? "" : "s"} to {action} in {resourceCount} resource{resourceCount === 1 ? "" : "s"}
        {guards.length === 0 ? (
          <Chip tone="accent" icon="refresh">
            being put right
          </Chip>
        ) : (
          guards.map((guard) => (
            <Chip key={guard} tone="hold" icon="hand">
              {guard}
            </Chip>
          ))
        )}
      </p>
      <p className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {resources.map(({ name, link }) => (
          <ObjectLink key={link} organization={organization} path={pathOfLink(link)}>
            {name}
          </ObjectLink>
        ))}
        {resourceCount > resources.length ? (
          <span className="text-soft">and {resourceCount - resources.length} more</span>
        ) : undefined}
      </p>
      {look.error === null ? undefined : <ProblemNote error={look.error} />}
    </Panel>
  );
}
