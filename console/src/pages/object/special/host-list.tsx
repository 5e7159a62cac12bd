import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { loopsQuery } from "../../../api/queries.ts";
import type { ResourceDocument } from "../../../api/types.ts";
import { AxisMark, axesOf } from "../../../components/axes.tsx";
import { ObjectLink, pathOf } from "../../../components/object-link.tsx";
import { useNowMs } from "../../../components/time.tsx";

/** Resources with their four axes, and what is to be said about each. */
export function HostList({
  organization,
  items,
  about,
  nobody,
}: {
  organization: string;
  items: readonly ResourceDocument[];
  about?: (resource: ResourceDocument) => ReactNode;
  nobody: string;
}) {
  const loops = useQuery(loopsQuery).data;
  const nowMs = useNowMs();
  if (items.length === 0) return <p className="text-sm text-soft">{nobody}</p>;
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {items.map((resource) => {
        const axes = axesOf(resource, nowMs);
        return (
          <li
            key={resource.metadata.uid}
            className="flex flex-wrap items-center gap-x-4 gap-y-0.5 px-2.5 py-1.5 text-sm"
          >
            <span className="min-w-28 flex-1">
              <ObjectLink organization={organization} path={pathOf(resource, loops)}>
                {resource.metadata.name}
              </ObjectLink>
              {about === undefined ? undefined : <span className="block text-xs text-soft">{about(resource)}</span>}
            </span>
            <AxisMark axis={axes.ready} />
            <AxisMark axis={axes.synced} />
            <AxisMark axis={axes.fresh} />
            <AxisMark axis={axes.guard} />
          </li>
        );
      })}
    </ul>
  );
}

/** Names of facts with what they are. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 text-sm sm:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-soft">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
