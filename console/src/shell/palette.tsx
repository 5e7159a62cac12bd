import { Dialog as Base } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { get, query } from "../api/client.ts";
import { base, keys, loopsQuery, organizationsQuery } from "../api/queries.ts";
import type { ResourcePage } from "../api/parts.ts";
import type { ResourceDocument } from "../api/types.ts";
import { AxesLine } from "../components/axes.tsx";
import { Icon, type IconName } from "../components/icons.tsx";
import { pathOf } from "../components/object-link.tsx";
import { pages } from "../pages/pages.ts";
import { offeredCommands } from "./commands.ts";

interface Entry {
  readonly key: string;
  readonly icon: IconName;
  readonly title: string;
  readonly note: string;
  /** Of a thing: how it is. */
  readonly resource?: ResourceDocument;
  readonly go: () => void;
}

/** Everything that can be gone to, by a few letters. */
export function Palette({
  organization,
  open,
  onOpenChange,
}: {
  organization: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Base.Popup className="fixed top-[10vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-panel shadow-raised outline-none">
          <Base.Title className="sr-only">Search or go to</Base.Title>
          <Search organization={organization} close={() => onOpenChange(false)} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function Search({ organization, close }: { organization: string; close: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const entries = useEntries(organization, useDeferredValue(text.trim().toLowerCase()), close);
  const at = Math.min(chosen, Math.max(0, entries.length - 1));
  const selected = useRef<HTMLLIElement>(null);
  // Whoever moves with the keyboard sees where they are.
  useEffect(() => {
    selected.current?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen((at + 1) % Math.max(1, entries.length));
    else if (event.key === "ArrowUp") setChosen((at - 1 + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter") entries[at]?.go();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-3.5">
        <Icon name="search" className="text-soft" />
        <input
          role="combobox"
          aria-label="Search or go to"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={entries[at] === undefined ? undefined : `${list}-${at}`}
          autoFocus
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-soft"
          placeholder="Pages, names of resources, kinds, freeze…"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={press}
        />
      </div>
      <ul id={list} role="listbox" aria-label="Found" className="max-h-[55vh] overflow-y-auto p-1.5">
        {entries.map((entry, index) => (
          <li
            key={entry.key}
            ref={index === at ? selected : undefined}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={entry.go}
            onMouseMove={() => setChosen(index)}
            className={`flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 text-sm ${index === at ? "bg-accent-wash" : ""}`}
          >
            <Icon name={entry.icon} className="text-soft" />
            <span className="@container min-w-0 flex-1">
              <span className="block truncate" title={entry.title}>
                {entry.title}
              </span>
              {entry.resource === undefined ? undefined : <AxesLine resource={entry.resource} />}
            </span>
            <span className="max-w-[45%] truncate text-xs text-soft" title={entry.note}>
              {entry.note}
            </span>
          </li>
        ))}
        {entries.length === 0 ? (
          <li className="px-3 py-6 text-center text-sm text-soft">Nothing begins like that.</li>
        ) : undefined}
      </ul>
    </>
  );
}

function useEntries(organization: string, text: string, close: () => void): readonly Entry[] {
  const navigate = useNavigate();
  const found = useQuery({
    queryKey: [...keys.record(organization, "resources"), "palette", text],
    queryFn: ({ signal }) =>
      get<ResourcePage>(`${base(organization)}/resources${query({ namePrefix: text, pageSize: 12 })}`, signal),
    enabled: text !== "",
    placeholderData: keepPreviousData,
  });
  const loops = useQuery(loopsQuery).data;
  const organizations = useQuery(organizationsQuery).data ?? [];
  const then = (go: () => unknown) => () => {
    close();
    go();
  };
  const fits = (words: string) => words.toLowerCase().includes(text);
  return [
    // What is done is found by its word; a bare palette is for going somewhere.
    ...(text === "" ? [] : offeredCommands())
      .filter(({ title }) => fits(title))
      .map(({ title, icon, run }) => ({ key: `do ${title}`, icon, title, note: "do it", go: then(run) })),
    ...pages
      .filter(({ title }) => fits(title))
      .map(({ title, to, icon, key }) => ({
        key: to,
        icon,
        title,
        note: `g ${key}`,
        go: then(() => navigate({ to, params: { organization } })),
      })),
    ...[{ title: "Look at your own Hetzner project", to: "/o/$organization/connect" as const }]
      .filter(({ title }) => fits(title))
      .map(({ title, to }) => ({
        key: to,
        icon: "cloud" as const,
        title,
        note: "read-only",
        go: then(() => navigate({ to, params: { organization } })),
      })),
    ...(text === "" ? [] : (found.data?.items ?? [])).map((resource) => ({
      key: resource.metadata.uid,
      icon: "stack" as const,
      title: resource.metadata.name,
      note: [resource.kind, resource.metadata.project, resource.metadata.workspace]
        .filter((part) => part !== undefined)
        .join(" / "),
      resource,
      go: then(() =>
        navigate({ to: "/o/$organization/objects/$", params: { organization, _splat: pathOf(resource, loops) } }),
      ),
    })),
    ...(loops?.kinds ?? [])
      .filter(({ kind }) => text !== "" && fits(kind))
      .map(({ kind }) => ({
        key: `kind ${kind}`,
        icon: "list" as const,
        title: `Every ${kind}`,
        note: "Inventory",
        go: then(() => navigate({ to: "/o/$organization/inventory", params: { organization }, search: { kind } })),
      })),
    ...organizations
      .filter(({ name }) => name !== organization && fits(name))
      .map(({ name }) => ({
        key: `organization ${name}`,
        icon: "building" as const,
        title: name,
        note: "Organization",
        go: then(() => navigate({ to: "/o/$organization/now", params: { organization: name } })),
      })),
  ];
}
