import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { get, query } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { AuditEntryDocument } from "../../api/types.ts";
import { Button, buttonClass } from "../../components/button.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { ChainPanel } from "./chain-panel.tsx";
import { Entry } from "./entry.tsx";
import { Filter } from "./filter.tsx";
import { auditRoute } from "./route.tsx";

interface AuditPageDocument {
  readonly items: readonly AuditEntryDocument[];
  readonly nextPageToken?: string;
}

/** Who did what, when, why and from where. The log is append-only and chained by hashes. */
export function AuditPage() {
  const { organization } = auditRoute.useParams();
  const search = auditRoute.useSearch();
  const path = `${base(organization)}/audit`;
  const found = useInfiniteQuery({
    queryKey: [...keys.record(organization, "activity"), "audit", search],
    queryFn: ({ pageParam }) =>
      get<AuditPageDocument>(`${path}${query({ ...search, pageSize: 100, pageToken: pageParam })}`),
    initialPageParam: "",
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    placeholderData: keepPreviousData,
  });
  const head = useQuery({
    queryKey: [...keys.record(organization, "activity"), "head"],
    queryFn: () => get<{ last?: { position: number; hash: string } }>(`${path}/head`),
  }).data?.last;
  return (
    <>
      <PageHeader
        title="Audit"
        lead={
          <>
            Who did what, when, why and from where.
            {head === undefined ? undefined : (
              <>
                {" "}
                Sealed up to entry {head.position}, hash <code>{head.hash.slice(0, 16)}</code>.
              </>
            )}
          </>
        }
      >
        {(["ndjson", "csv"] as const).map((format) => (
          <a
            key={format}
            className={buttonClass()}
            href={`${path}/export${query({ ...search, format })}`}
            download={`audit.${format}`}
          >
            Export {format.toUpperCase()}
          </a>
        ))}
      </PageHeader>
      <ChainPanel key={organization} organization={organization} head={head?.position} />
      <Filter organization={organization} types={knownTypes(found.data?.pages)} />
      <Panel flush>
        <Answer of={found} what="the audit trail">
          {({ pages }) => {
            const entries = pages.flatMap(({ items }) => items);
            if (entries.length === 0)
              return (
                <Empty icon="book" title="No entry fits">
                  Who is an e-mail or the name of a machine, in full; what is the beginning of a type. In a terminal:{" "}
                  <Command>setpoint audit list --type resource.</Command>
                </Empty>
              );
            return (
              <ol className="divide-y divide-line">
                {entries.map((entry) => (
                  <Entry key={entry.position} organization={organization} entry={entry} />
                ))}
              </ol>
            );
          }}
        </Answer>
      </Panel>
      {found.hasNextPage ? (
        <div className="mt-3 flex justify-center">
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Older entries
          </Button>
        </div>
      ) : undefined}
    </>
  );
}

/** Of what was read: whole types, and what many of them begin with. */
function knownTypes(pages: readonly AuditPageDocument[] = []): readonly string[] {
  const types = pages.flatMap(({ items }) => items.map(({ type }) => type));
  return [...new Set(types.flatMap((type) => [`${type.split(".")[0] ?? ""}.`, type]))].sort();
}
