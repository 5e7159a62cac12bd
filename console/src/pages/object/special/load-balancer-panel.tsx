import { Panel } from "../../../components/panel.tsx";
import type { AboutObject } from "../page.tsx";
import { specOf, useOfKind } from "./around.ts";
import type { BalancerTarget, LoadBalancerSpec } from "./cloud-specs.ts";
import { Facts, HostList } from "./host-list.tsx";
import { isTarget } from "./host-panel.tsx";

/** What it listens to, and the hosts that its visitors go to, each with its own axes. */
export function LoadBalancerPanel({ organization, resource }: AboutObject) {
  const spec = specOf<LoadBalancerSpec>(resource);
  const hosts = useOfKind(organization, "Host").items;
  const { services = [], targets = [] } = spec;
  const members = (hosts ?? []).filter((host) => isTarget(resource, host));
  const ready = members.filter(({ status }) =>
    status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  const addresses = targets.flatMap((target) => ("ip" in target ? [target.ip] : []));
  return (
    <Panel
      title="Services and targets"
      aside={`${ready.length} of ${members.length} host${members.length === 1 ? "" : "s"} ready`}
    >
      <Facts
        facts={[
          ["Type", spec.type],
          ["Location", spec.location],
          ["Algorithm", spec.algorithm ?? "round-robin"],
          ["Public", spec.public === false ? "no" : "yes"],
          ["Network", spec.network?.name ?? "none"],
          ["Chosen by", targets.map(targetWords).join("; ") || "nothing yet"],
        ]}
      />
      <h3 className="mt-4 mb-1 text-xs font-semibold text-soft">Listens to</h3>
      <div tabIndex={0} role="region" aria-label="Services" className="overflow-x-auto rounded-md border border-line">
        <table className="w-full text-left text-sm">
          <thead className="text-xs text-soft">
            <tr className="border-b border-line">
              <th className="px-2.5 py-1.5 font-medium">Port</th>
              <th className="px-2.5 py-1.5 font-medium">Goes to</th>
              <th className="px-2.5 py-1.5 font-medium">Asked whether it answers</th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {services.map(({ protocol, listenPort, targetPort, check, redirectHttp, sticky }) => (
              <tr key={listenPort}>
                <th scope="row" className="px-2.5 py-1.5 font-medium">
                  {protocol} {listenPort}
                  <span className="block text-xs font-normal text-soft">
                    {[redirectHttp === true ? "and 80, sent on" : "", sticky === undefined ? "" : "sticky"]
                      .filter((word) => word !== "")
                      .join(", ")}
                  </span>
                </th>
                <td className="px-2.5 py-1.5">port {targetPort}</td>
                <td className="px-2.5 py-1.5 text-soft">
                  {check?.protocol ?? (protocol === "tcp" ? "tcp" : "http")}
                  {protocol === "tcp" ? "" : ` ${check?.path ?? "/"}`} every {check?.everySeconds ?? 15} s
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3 className="mt-4 mb-1 text-xs font-semibold text-soft">Targets</h3>
      <HostList
        organization={organization}
        items={members}
        nobody={
          hosts === undefined ? "Hosts are being read, or are not yours to see." : "No declared host is a target."
        }
      />
      {addresses.length === 0 ? undefined : <p className="mt-2 text-sm">And by address: {addresses.join(", ")}</p>}
    </Panel>
  );
}

function targetWords(target: BalancerTarget): string {
  if ("ip" in target) return `address ${target.ip}`;
  if ("host" in target) return `host ${target.host}`;
  return Object.entries(target.labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(", ");
}
