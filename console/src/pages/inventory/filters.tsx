import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { figuresQuery } from "../../api/queries.ts";
import { Chosen } from "../../components/chosen.tsx";
import { inputClass } from "../../components/field.tsx";
import type { InventorySearch } from "./route.tsx";

type Set = (change: Partial<Record<keyof InventorySearch, string | undefined>>) => void;

/** What is typed is asked for when typing rests. */
const restMs = 250;

export function Filters({ organization, search, set }: { organization: string; search: InventorySearch; set: Set }) {
  const figures = useQuery(figuresQuery(organization)).data ?? [];
  const kinds = [...Map.groupBy(figures, ({ kind }) => kind)].map(([kind, entries]) => ({
    kind,
    total: entries.reduce((sum, entry) => sum + entry.total, 0),
  }));
  const projects = [...new Set(figures.map(({ scope }) => scope.split("/")[0] ?? ""))].filter((name) => name !== "");
  return (
    <form
      role="search"
      aria-label="Filters"
      className="mb-3 flex flex-wrap gap-2"
      onSubmit={(event) => event.preventDefault()}
    >
      <Typed label="Name begins with" value={search.name ?? ""} set={(name) => set({ name })} filter />
      <Chosen
        label="Kind"
        value={search.kind}
        set={(kind) => set({ kind })}
        any="Every kind"
        options={kinds.map(({ kind, total }) => [kind, `${kind} (${total})`])}
      />
      {projects.length === 0 ? undefined : (
        <Chosen
          rare
          label="Project"
          value={search.project}
          set={(project) => set({ project })}
          any="Every project"
          options={projects.map((name) => [name, name])}
        />
      )}
      <Chosen
        label="Ready"
        value={search.ready}
        set={(ready) => set({ ready })}
        any="Ready or not"
        options={[
          ["yes", "Ready"],
          ["no", "Not ready"],
          ["unknown", "Unknown"],
        ]}
      />
      <Chosen
        label="Only"
        value={search.only}
        set={(only) => set({ only })}
        any="In any state"
        options={[
          ["drifted", "Differs"],
          ["held", "Held"],
          ["deleting", "Being deleted"],
        ]}
      />
      <Chosen
        rare
        label="Mode"
        value={search.mode}
        set={(mode) => set({ mode })}
        any="Any mode"
        options={[
          ["observe", "Observe"],
          ["propose", "Propose"],
          ["enforce", "Enforce"],
        ]}
      />
      <Typed label="Labels, such as team=web" value={search.labels ?? ""} set={(labels) => set({ labels })} />
    </form>
  );
}

function Typed({
  label,
  value,
  set,
  filter = false,
}: {
  label: string;
  value: string;
  set: (value: string) => void;
  filter?: boolean;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => set(text.trim()), restMs);
    return () => clearTimeout(timer);
  }, [text, value, set]);
  return (
    <input
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      className={`${inputClass} !w-full sm:!w-32 sm:grow ${filter ? "" : "max-sm:hidden"}`}
      {...(filter ? { "data-filter": "" } : {})}
    />
  );
}
