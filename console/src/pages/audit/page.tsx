import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { get, query } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { AuditEntryDocument } from "../../api/types.ts";
import { Button, buttonClass } from "../../components/button.tsx";
import { inputClass } from "../../components/field.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Answer, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
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
          head === undefined ? undefined : (
            <>
              Sealed up to entry {head.position}, hash <code>{head.hash.slice(0, 16)}</code>. Check an export with{" "}
              <code>setpoint audit verify</code>.
            </>
          )
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
      <Filter organization={organization} />
      <Panel flush>
        <Answer of={found} what="the audit trail">
          {({ pages }) => {
            const entries = pages.flatMap(({ items }) => items);
            if (entries.length === 0) return <Empty icon="book" title="No entry fits" />;
            return (
              <ol className="divide-y divide-line">
                {entries.map((entry) => (
                  <Entry key={entry.position} entry={entry} />
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

function Filter({ organization }: { organization: string }) {
  const search = auditRoute.useSearch();
  const navigate = useNavigate();
  const [actor, setActor] = useState(search.actor ?? "");
  const [type, setType] = useState(search.type ?? "");
  const ask = (event: { preventDefault(): void }) => {
    event.preventDefault();
    void navigate({
      to: "/o/$organization/audit",
      params: { organization },
      search: { ...(actor === "" ? {} : { actor }), ...(type === "" ? {} : { type }) },
    });
  };
  return (
    <form role="search" aria-label="Filters" onSubmit={ask} className="mb-3 flex flex-wrap gap-2">
      <input
        data-filter=""
        aria-label="Who"
        placeholder="Who, such as ada@example.org"
        value={actor}
        onChange={({ target }) => setActor(target.value)}
        className={`${inputClass} sm:!w-60`}
      />
      <input
        aria-label="What"
        placeholder="What, such as resource. or pause.placed"
        value={type}
        onChange={({ target }) => setType(target.value)}
        className={`${inputClass} sm:!w-72`}
      />
      <Button type="submit" icon="search">
        Search
      </Button>
    </form>
  );
}

function Entry({ entry }: { entry: AuditEntryDocument }) {
  const { kind, name } = (entry.data ?? {}) as { kind?: string; name?: string };
  return (
    <li className="px-3.5 py-2 text-sm">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="w-12 text-xs text-soft tabular-nums">{entry.position}</span>
        <b className="font-medium break-all">{entry.actor}</b>
        <code className="text-xs">{entry.type}</code>
        {kind === undefined || name === undefined ? undefined : (
          <span className="break-all">
            {kind}/{name}
          </span>
        )}
        <span className="flex-1" />
        <Ago at={entry.at} className="text-xs text-soft" />
      </p>
      {entry.reason === undefined ? undefined : <p className="pl-15 break-words text-soft">because: {entry.reason}</p>}
      {entry.address === undefined ? undefined : (
        <p className="pl-15 text-xs break-all text-soft">
          from {entry.address}
          {entry.credential === undefined ? "" : ` with ${entry.credential}`}
        </p>
      )}
    </li>
  );
}
