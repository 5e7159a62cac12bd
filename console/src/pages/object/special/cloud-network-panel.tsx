import { Panel } from "../../../components/panel.tsx";
import type { AboutObject } from "../page.tsx";
import { isNamed, specOf, useOfKind } from "./around.ts";
import type { CloudNetworkSpec, HostSpec } from "./cloud-specs.ts";
import { Facts, HostList } from "./host-list.tsx";

/** Its addresses, and the hosts that are in it. */
export function CloudNetworkPanel({ organization, resource }: AboutObject) {
  const { range, subnets = [], routes = [] } = specOf<CloudNetworkSpec>(resource);
  const hosts = useOfKind(organization, "Host").items;
  const members = (hosts ?? []).filter((host) =>
    (specOf<HostSpec>(host).networks ?? []).some((named) => isNamed(resource, host, named)),
  );
  return (
    <Panel
      title="Addresses and hosts"
      aside={hosts === undefined ? undefined : `${members.length} host${members.length === 1 ? "" : "s"} in it`}
    >
      <Facts
        facts={[
          ["Range", range ?? "the provider's choice"],
          ["Subnets", subnets.map((subnet) => subnet.range).join(", ") || "none"],
          ["Routes", routes.map(({ destination, gateway }) => `${destination} by ${gateway}`).join(", ") || "none"],
        ]}
      />
      <h3 className="mt-4 mb-1 text-xs font-semibold text-soft">Hosts</h3>
      <HostList
        organization={organization}
        items={members}
        nobody={
          hosts === undefined
            ? "Hosts are being read, or are not yours to see."
            : "No declared host is in this network."
        }
      />
    </Panel>
  );
}
