import { useQuery } from "@tanstack/react-query";
import { get, query } from "../../api/client.ts";
import { base, keys, loopsQuery } from "../../api/queries.ts";
import type { ResourcePage } from "../../api/parts.ts";
import type { LoopsDocument, ObservationDocument, ResourceDocument } from "../../api/types.ts";
import { ObjectLine } from "../../components/named-objects.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";

/** So many resources are asked what they saw; a page that is open all day must stay cheap. */
const asked = 40;

interface Strangers {
  readonly resource: ResourceDocument;
  readonly keys: readonly string[];
}

/** What is at the provider and nobody declares: reported, and left alone. */
export function Unmanaged({ organization, account }: { organization: string; account: string }) {
  const loops = useQuery(loopsQuery).data;
  const found = useQuery({
    queryKey: [...keys.record(organization, "unmanaged"), account],
    queryFn: async () => await strangersAt(organization, account, loops),
    enabled: loops !== undefined,
  });
  if (found.data === undefined) return undefined;
  const count = found.data.reduce((sum, entry) => sum + entry.keys.length, 0);
  if (count === 0) return <p className="mt-2 text-sm text-soft">Nothing was seen there that nobody declares.</p>;
  return (
    <details className="mt-2 text-sm">
      <summary className="cursor-pointer text-accent">
        {count} thing{count === 1 ? "" : "s"} there that nobody declares
      </summary>
      <ul className="@container mt-1">
        {found.data.map(({ resource, keys: strange }) => (
          <ObjectLine
            key={resource.metadata.uid}
            label={
              <>
                <ObjectLink organization={organization} path={pathOf(resource, loops)}>
                  {resource.kind}/{resource.metadata.name}
                </ObjectLink>
                <span className="block text-xs break-all text-soft">
                  {strange.slice(0, 8).join(", ")}
                  {strange.length > 8 ? ` and ${strange.length - 8} more` : ""}
                </span>
              </>
            }
            resource={resource}
          />
        ))}
      </ul>
    </details>
  );
}

async function strangersAt(
  organization: string,
  account: string,
  loops: LoopsDocument | undefined,
): Promise<readonly Strangers[]> {
  const looking = (loops?.kinds ?? []).filter(({ everySeconds }) => everySeconds !== undefined);
  const pages = await Promise.all(
    looking.map(({ kind }) => get<ResourcePage>(`${base(organization)}/resources${query({ kind, pageSize: asked })}`)),
  );
  const resources = pages
    .flatMap(({ items }) => items)
    .filter(({ status }) => status.subjects.some((subject) => subject.account === account))
    .slice(0, asked);
  const seen = await Promise.all(
    resources.map(async (resource): Promise<Strangers> => {
      const path = pathOf(resource, loops);
      const { subjects } = await get<ObservationDocument>(`${base(organization)}/${path}/observation`);
      const strange = subjects
        .filter((subject) => subject.account === account)
        .flatMap(({ items }) => items.filter(({ owned, declaredBy }) => !owned && declaredBy.length === 0));
      return { resource, keys: strange.map(({ key }) => key) };
    }),
  );
  return seen.filter((entry) => entry.keys.length > 0);
}
