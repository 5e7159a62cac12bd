import { useQuery } from "@tanstack/react-query";
import { loopsQuery } from "../../../api/queries.ts";
import { ObjectLink, pathOf } from "../../../components/object-link.tsx";
import { Panel } from "../../../components/panel.tsx";
import type { AboutObject } from "../page.tsx";
import { useOfKind } from "./around.ts";
import { EffectivePolicy, layersOf } from "./effective-policy.tsx";
import { HostList } from "./host-list.tsx";

/** What this layer lets through, which hosts it is for, and what all layers of each of them let through together. */
export function FirewallPanel({ organization, resource }: AboutObject) {
  const loops = useQuery(loopsQuery).data;
  const hosts = useOfKind(organization, "Host").items;
  const firewalls = useOfKind(organization, "Firewall").items;
  const isOwn = (uid: string) => uid === resource.metadata.uid;
  // For whom it is, and with what else, is known with both alone: half of it would read as another policy.
  const isKnown = hosts !== undefined && firewalls !== undefined;
  const its = (isKnown ? hosts : []).filter((host) =>
    layersOf(host, firewalls ?? []).some(({ metadata }) => isOwn(metadata.uid)),
  );
  const sets = Map.groupBy(its, (host) =>
    layersOf(host, firewalls ?? [])
      .map(({ metadata }) => metadata.uid)
      .toSorted()
      .join(" "),
  );
  return (
    <>
      <Panel title="What this layer lets through">
        <EffectivePolicy organization={organization} layers={[resource]} />
      </Panel>
      {[...sets].map(([layers, members]) => {
        const [first] = members;
        if (first === undefined) return undefined;
        const all = layersOf(first, firewalls ?? []);
        const others = all.filter(({ metadata }) => !isOwn(metadata.uid));
        return (
          <Panel
            key={layers}
            title={`Effective policy of ${members.length} host${members.length === 1 ? "" : "s"}`}
            aside={
              others.length === 0 ? (
                "this layer alone"
              ) : (
                <span>
                  together with{" "}
                  {others.map((other, index) => (
                    <span key={other.metadata.uid}>
                      {index === 0 ? "" : ", "}
                      <ObjectLink organization={organization} path={pathOf(other, loops)}>
                        {other.metadata.name}
                      </ObjectLink>
                    </span>
                  ))}
                </span>
              )
            }
          >
            {others.length === 0 ? undefined : <EffectivePolicy organization={organization} layers={all} />}
            <div className={others.length === 0 ? "" : "mt-3"}>
              <HostList organization={organization} items={members} nobody="" />
            </div>
          </Panel>
        );
      })}
      {its.length === 0 ? (
        <Panel title="For whom">
          {isKnown ? (
            <p className="text-sm text-soft">
              No host: with <code>applies: named</code> it is for hosts whose spec names it, with{" "}
              <code>applies: scope</code> for every host of its scope or below.
            </p>
          ) : (
            <p className="text-sm text-soft">Hosts and firewalls are being read, or could not be read by you.</p>
          )}
        </Panel>
      ) : undefined}
    </>
  );
}
