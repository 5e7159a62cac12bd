import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Chosen } from "../../components/chosen.tsx";
import { inputClass } from "../../components/field.tsx";
import { type AuditSearch, auditFilters, auditRoute } from "./route.tsx";

/** Who, what, of what, when, and how it ended. What is asked for is in the address, and exports take it too. */
export function Filter({ organization, types }: { organization: string; types: readonly string[] }) {
  const search = auditRoute.useSearch();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<AuditSearch>(search);
  useEffect(() => setAsked(search), [search]);
  const known = useId();
  // On a phone the entries come first: what is asked for less often is behind a button, unless it is in the address.
  const [all, setAll] = useState(() => [search.resource, search.from, search.to].some((value) => value !== undefined));
  const less = all ? "" : "max-sm:hidden";
  const ask = (filters: AuditSearch) =>
    void navigate({
      to: "/o/$organization/audit",
      params: { organization },
      search: Object.fromEntries(
        auditFilters.flatMap((name) => {
          const value = filters[name]?.trim() ?? "";
          return value === "" ? [] : [[name, value]];
        }),
      ),
    });
  const typed = (name: keyof AuditSearch) => ({
    value: asked[name] ?? "",
    onChange: ({ target }: { target: { value: string } }) => setAsked({ ...asked, [name]: target.value }),
  });
  return (
    <form
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        ask(asked);
      }}
      className="mb-3 flex flex-wrap gap-2"
    >
      <input
        data-filter=""
        aria-label="Who"
        placeholder="Who, such as ada@example.org"
        {...typed("actor")}
        className={`${inputClass} sm:!w-56`}
      />
      <input
        aria-label="What"
        placeholder="What, such as resource."
        list={known}
        {...typed("type")}
        className={`${inputClass} sm:!w-60`}
      />
      <datalist id={known}>
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <input
        aria-label="Of what"
        placeholder="Of what, such as DnsZone/shop"
        {...typed("resource")}
        className={`${inputClass} sm:!w-60 ${less}`}
      />
      <span className={`flex w-full flex-wrap gap-2 sm:w-auto ${less}`}>
        <Moment label="from" at={asked.from} set={(from) => setAsked({ ...asked, from })} />
        <Moment label="to" at={asked.to} set={(to) => setAsked({ ...asked, to })} />
      </span>
      <Chosen
        label="Outcome"
        value={search.outcome}
        any="Any outcome"
        set={(outcome) => ask({ ...asked, outcome: outcome ?? "" })}
        options={[
          ["done", "Done"],
          ["not-done", "Refused or not done"],
        ]}
      />
      <Button className="sm:hidden" aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? "Less" : "More…"}
      </Button>
      <Button type="submit" icon="search">
        Search
      </Button>
      {Object.keys(search).length === 0 ? undefined : (
        <Button tone="quiet" icon="cross" onClick={() => ask({})}>
          Clear
        </Button>
      )}
    </form>
  );
}

/** A time as people have it on the wall; the address has it in UTC. */
function Moment({ label, at, set }: { label: string; at: string | undefined; set: (at: string) => void }) {
  return (
    <label className="flex w-full items-center gap-1.5 text-sm text-soft sm:w-auto">
      <span className="w-9 sm:w-auto">{label}</span>
      <input
        type="datetime-local"
        aria-label={label === "from" ? "Not before" : "Before"}
        value={at === undefined ? "" : localTime(at)}
        onChange={({ target }) => set(target.value === "" ? "" : new Date(target.value).toISOString())}
        className={`${inputClass} sm:!w-auto`}
      />
    </label>
  );
}

function localTime(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
