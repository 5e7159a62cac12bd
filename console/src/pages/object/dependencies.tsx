import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { get, query } from "../../api/client.ts";
import { agesReadEveryMs, base, keys, loopsQuery } from "../../api/queries.ts";
import type { MapDocument } from "../../api/types.ts";
import { ObjectLine } from "../../components/named-objects.tsx";
import { ObjectLink, pathOf } from "../../components/object-link.tsx";
import { Panel } from "../../components/panel.tsx";
import { Answer } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import type { AboutObject } from "./page.tsx";

type Card = MapDocument["cards"][number];

/** What it needs, what needs it, and the accounts it lives at; each with what keeps it from working, if something does. */
export function Dependencies({ organization, resource }: AboutObject) {
  const { uid } = resource.metadata;
  const around = useQuery({
    queryKey: [...keys.record(organization, "object"), "around", uid],
    queryFn: () => get<MapDocument>(`${base(organization)}/map${query({ focus: uid, hops: 1 })}`),
    refetchInterval: agesReadEveryMs,
    retry: false,
  });
  const map = around.data;
  const cards = new Map((map?.cards ?? []).map((card) => [card.metadata.uid, card]));
  const ends = (from: "from" | "to", to: "from" | "to") =>
    (map?.edges ?? []).filter((edge) => edge[from] === uid).flatMap((edge) => cards.get(edge[to]) ?? []);
  const needs = ends("from", "to");
  const needed = ends("to", "from");
  const accounts = resource.status.subjects.filter(({ account }) => account !== undefined);
  if (needs.length === 0 && needed.length === 0 && accounts.length === 0 && around.error === null) return undefined;
  return (
    <Panel title="Dependencies" flush>
      {around.error === null ? undefined : (
        <Answer of={around} what="what it needs and what needs it">
          {() => undefined}
        </Answer>
      )}
      <Cards organization={organization} title="It needs" cards={needs} />
      <Cards organization={organization} title="Needed by" cards={needed} />
      {map?.truncated === true ? (
        <p className="border-b border-line px-3.5 py-2 text-sm text-soft">
          There is more around it than is named here.{" "}
          <Link
            to="/o/$organization/map"
            params={{ organization }}
            search={{ focus: uid }}
            className="text-accent underline"
          >
            See it on the map
          </Link>
        </p>
      ) : undefined}
      <ul className="divide-y divide-line text-sm">
        {accounts.map(({ account, owned, confirmedAt }) => (
          <li
            key={account}
            className="flex flex-wrap items-baseline gap-x-3 border-t border-line px-3.5 py-2 first:border-t-0"
          >
            <span>
              account{" "}
              <Link
                to="/o/$organization/providers"
                params={{ organization }}
                className="font-medium text-accent hover:underline"
              >
                {account}
              </Link>
            </span>
            {owned === undefined ? undefined : (
              <span className="text-soft">
                {owned} item{owned === 1 ? "" : "s"} of ours
              </span>
            )}
            <span className="flex-1" />
            {confirmedAt === undefined ? undefined : <Ago at={confirmedAt} className="text-xs text-soft" />}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const most = 12;

function Cards({ organization, title, cards }: { organization: string; title: string; cards: readonly Card[] }) {
  const loops = useQuery(loopsQuery).data;
  const [all, setAll] = useState(false);
  if (cards.length === 0) return undefined;
  return (
    <section className="border-b border-line px-3.5 py-2">
      <h3 className="text-xs font-semibold text-soft">{title}</h3>
      <ul className="@container">
        {cards.slice(0, all ? undefined : most).map((card) => (
          <ObjectLine
            key={card.metadata.uid}
            label={
              <ObjectLink organization={organization} path={pathOf(card, loops)}>
                {card.kind}/{card.metadata.name}
              </ObjectLink>
            }
            resource={card}
          />
        ))}
      </ul>
      {cards.length > most ? (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="cursor-pointer py-1 text-xs text-accent hover:underline"
        >
          {all ? "show fewer" : `show ${cards.length - most} more`}
        </button>
      ) : undefined}
    </section>
  );
}
