import { useQuery } from "@tanstack/react-query";
import { loopsQuery } from "../../../api/queries.ts";
import type { ResourceDocument } from "../../../api/types.ts";
import { Mark } from "../../../components/mark.tsx";
import { ObjectLink, pathOf } from "../../../components/object-link.tsx";
import { Panel } from "../../../components/panel.tsx";
import { Answer } from "../../../components/states.tsx";
import type { AboutObject } from "../page.tsx";
import { observationQuery } from "../queries.ts";
import { isSameScope, isWithin, specOf, useOfKind } from "./around.ts";
import type { HostSpec, LoadBalancerSpec, SeenServer } from "./cloud-specs.ts";
import { EffectivePolicy, layersOf } from "./effective-policy.tsx";
import { Facts } from "./host-list.tsx";

/** The server of a host as it was seen, what may reach it, and who sends visitors to it. */
export function HostPanel({ organization, path, resource }: AboutObject) {
  const observation = useQuery(observationQuery(organization, path));
  const firewalls = useOfKind(organization, "Firewall").items;
  const balancers = useOfKind(organization, "LoadBalancer").items ?? [];
  return (
    <>
      <Panel title="Server">
        <Answer of={observation} what="the server">
          {({ subjects }) => {
            const items = subjects.flatMap((subject) => subject.items);
            const server = items.find(({ key, owned }) => key === "server" && owned)?.item as SeenServer | undefined;
            const build = items.find(({ key }) => key === "build")?.item as
              | { type: string; location: string }
              | undefined;
            return (
              <ServerFacts
                about={{ organization, path, resource }}
                server={server}
                build={build}
                balancers={balancers}
              />
            );
          }}
        </Answer>
      </Panel>
      <Panel title="Effective policy" aside="of all firewalls that are for it">
        {firewalls === undefined ? (
          <p className="text-sm text-soft">The firewalls around it are being read, or are not yours to see.</p>
        ) : (
          <EffectivePolicy organization={organization} layers={layersOf(resource, firewalls)} />
        )}
      </Panel>
    </>
  );
}

function ServerFacts({
  about: { organization, resource },
  server,
  build,
  balancers,
}: {
  about: AboutObject;
  server: SeenServer | undefined;
  build: { type: string; location: string } | undefined;
  balancers: readonly ResourceDocument[];
}) {
  const loops = useQuery(loopsQuery).data;
  const spec = specOf<HostSpec>(resource);
  const wanted = spec.power ?? "on";
  const sending = balancers.filter((balancer) => isTarget(balancer, resource));
  if (server === undefined)
    return <p className="text-sm text-soft">No server of this host was seen yet. An operation makes it; see Why.</p>;
  const { addresses } = server;
  const power =
    server.power === wanted ? (
      <Mark tone={server.power === "on" ? "good" : "plain"} icon={server.power === "on" ? "bolt" : "pause"}>
        {server.power}
      </Mark>
    ) : (
      <Mark tone="warn" icon="differs">
        {server.power}, should be {wanted}
      </Mark>
    );
  return (
    <Facts
      facts={[
        ["Power", power],
        ["Type", build?.type ?? spec.type],
        ["Location", build?.location ?? spec.location],
        ["Made from", spec.image],
        ["IPv4", addresses?.ipv4.join(", ") || "none"],
        ["IPv6", addresses?.ipv6.join(", ") || "none"],
        [
          "Private networks",
          Object.entries(server.networks)
            .map(([name, ip]) => `${name} ${ip}`)
            .join(", ") || "none",
        ],
        ["Reverse name", server.reverseDns ?? "none"],
        ["Volumes", server.volumes.join(", ") || "none"],
        ["Protected at the provider", server.protect ? "yes" : "no"],
        [
          "Visitors from",
          sending.length === 0
            ? "no load balancer"
            : sending.map((balancer, index) => (
                <span key={balancer.metadata.uid}>
                  {index === 0 ? "" : ", "}
                  <ObjectLink organization={organization} path={pathOf(balancer, loops)}>
                    {balancer.metadata.name}
                  </ObjectLink>
                </span>
              )),
        ],
        ["Group", spec.group ?? "none"],
      ]}
    />
  );
}

/** Whether a load balancer sends visitors to a host: by its name, or by labels that it has. */
export function isTarget(balancer: ResourceDocument, host: ResourceDocument): boolean {
  const { targets = [] } = specOf<LoadBalancerSpec>(balancer);
  const { labels = {} } = specOf<HostSpec>(host);
  return targets.some((target) => {
    if ("ip" in target) return false;
    if ("host" in target)
      return (
        target.host === host.metadata.name &&
        isSameScope(host.metadata, target.scope === "organization" ? {} : balancer.metadata)
      );
    return (
      isWithin(host.metadata, balancer.metadata) &&
      Object.entries(target.labels).every(([label, value]) => labels[label] === value)
    );
  });
}
