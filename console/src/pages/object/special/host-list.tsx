import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { loopsQuery } from "../../../api/queries.ts";
import type { ResourceDocument } from "../../../api/types.ts";
import { ObjectLine } from "../../../components/named-objects.tsx";
import { ObjectLink, pathOf } from "../../../components/object-link.tsx";

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
  if (items.length === 0) return <p className="text-sm text-soft">{nobody}</p>;
  return (
    <ul className="@container divide-y divide-line rounded-md border border-line px-2.5">
      {items.map((resource) => (
        <ObjectLine
          key={resource.metadata.uid}
          label={
            <>
              <ObjectLink organization={organization} path={pathOf(resource, loops)}>
                {resource.metadata.name}
              </ObjectLink>
              {about === undefined ? undefined : <span className="block text-xs text-soft">{about(resource)}</span>}
            </>
          }
          resource={resource}
        />
      ))}
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
