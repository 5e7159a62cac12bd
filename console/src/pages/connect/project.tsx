import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { ResourcePage } from "../../api/parts.ts";
import type { ObservationDocument, ResourceDocument } from "../../api/types.ts";
import { BulkDialog } from "../../components/bulk-dialog.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { ObjectLine } from "../../components/named-objects.tsx";
import { ObjectLink } from "../../components/object-link.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { Things } from "./things.tsx";

/** The next look is not far, and whoever has just pasted a token waits for it. */
const lookEveryMs = 2_000;

/** A connected project: whether it answers, what is there, and the way onward. */
export function Project({ organization, account }: { organization: string; account: string }) {
  const path = `computeproviders/${account}`;
  const provider = useQuery({
    queryKey: [...keys.record(organization, "object"), "connect", account],
    queryFn: () => get<ResourceDocument>(`${base(organization)}/${path}`),
    refetchInterval: lookEveryMs,
  });
  const observation = useQuery({
    queryKey: [...keys.record(organization, "object"), "connect", account, "observation"],
    queryFn: () => get<ObservationDocument>(`${base(organization)}/${path}/observation`),
    refetchInterval: lookEveryMs,
  });
  const hosts =
    useQuery({
      queryKey: [...keys.record(organization, "resources"), "connect", account],
      queryFn: async () =>
        (await get<ResourcePage>(`${base(organization)}/hosts?pageSize=500`)).items.filter(
          ({ spec }) => (spec as { account?: unknown }).account === account,
        ),
    }).data ?? [];
  return (
    <Answer of={provider} what="the project">
      {(resource) => (
        <div className="space-y-4">
          <State organization={organization} account={account} provider={resource} seen={observation.data} />
          <Seen organization={organization} seen={observation.data} hosts={hosts} />
          <Onward organization={organization} provider={resource} hosts={hosts} />
        </div>
      )}
    </Answer>
  );
}

function State({
  organization,
  account,
  provider,
  seen,
}: {
  organization: string;
  account: string;
  provider: ResourceDocument;
  seen: ObservationDocument | undefined;
}) {
  const failed = provider.status.conditions.find(({ type, reason }) => type === "Ready" && reason === "LookFailed");
  const at = seen?.subjects[0]?.at;
  return (
    <Panel>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <Chip tone="plain" icon="eye">
          {provider.metadata.mode ?? "observe"}
        </Chip>
        {failed !== undefined ? (
          <span className="min-w-0 flex-1 text-bad">{failed.message}</span>
        ) : at === undefined ? (
          <span role="status" className="flex-1 text-soft">
            Looking at it for the first time…
          </span>
        ) : (
          <span className="flex-1">
            Looked at <Ago at={at} />. Nothing was written there by looking.
          </span>
        )}
        <ObjectLink organization={organization} path={`computeproviders/${account}`}>
          ComputeProvider/{account}
        </ObjectLink>
        <Link to="/o/$organization/connect" params={{ organization }} className="text-accent hover:underline">
          {failed === undefined ? "Another project" : "Another token"}
        </Link>
      </div>
    </Panel>
  );
}

function Seen({
  organization,
  seen,
  hosts,
}: {
  organization: string;
  seen: ObservationDocument | undefined;
  hosts: readonly ResourceDocument[];
}) {
  const [subject] = seen?.subjects ?? [];
  if (subject === undefined) return undefined;
  if (subject.items.length === 0)
    return (
      <Panel title="What is there">
        <Empty icon="cloud" title="The project is empty">
          No servers, networks, firewalls, volumes or load balancers. What you make there appears with the next look.
        </Empty>
      </Panel>
    );
  return (
    <Things
      organization={organization}
      items={subject.items}
      watched={new Set(hosts.map(({ metadata }) => metadata.name))}
      isWhole={subject.completeness === "complete"}
    />
  );
}

/** From looking to keeping, one server at a time, and never by itself. */
function Onward({
  organization,
  provider,
  hosts,
}: {
  organization: string;
  provider: ResourceDocument;
  hosts: readonly ResourceDocument[];
}) {
  const [letting, setLetting] = useState(false);
  if (hosts.length === 0) return undefined;
  return (
    <Panel title="Declared from it" aside={`${hosts.length} host${hosts.length === 1 ? "" : "s"}`}>
      <ul className="@container">
        {hosts.map((host) => (
          <ObjectLine
            key={host.metadata.uid}
            label={
              <ObjectLink organization={organization} path={`hosts/${host.metadata.name}`}>
                {host.metadata.name}
              </ObjectLink>
            }
            resource={host}
          />
        ))}
      </ul>
      <p className="mt-3 max-w-prose text-sm text-soft">
        They are watched: what differs from how they were when you chose them is shown, and nothing is put right. To
        have them kept, let them act. Each server then gets Setpoint's labels, just as it is, and the project a mark by
        which it is known again; from then on differences are put right, under the guards. The token must be able to
        write by then.
      </p>
      <div className="mt-3">
        <Button icon="shield" onClick={() => setLetting(true)}>
          Let them act…
        </Button>
      </div>
      {letting ? (
        <BulkDialog
          organization={organization}
          act="mode"
          picked={[provider, ...hosts]}
          note="Choose enforce to have them kept."
          close={() => setLetting(false)}
        />
      ) : undefined}
      <p className="mt-3 flex items-center gap-1.5 text-xs text-soft">
        <Icon name="info" /> To stop, delete the hosts and the ComputeProvider, with “Leave what it made outside where
        it is”.
      </p>
    </Panel>
  );
}
