import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditEntryDocument } from "../../api/types.ts";
import { Ago, fullTime } from "../../components/time.tsx";

/** One act: who, what, to what, when, why and from where; the rest on demand. */
export function Entry({ organization, entry }: { organization: string; entry: AuditEntryDocument }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="px-3.5 py-2 text-sm">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="w-12 text-xs text-soft tabular-nums">{entry.position}</span>
        <Who organization={organization} entry={entry} />
        <code className="text-xs break-words">{entry.type}</code>
        <What organization={organization} entry={entry} />
        <span className="flex-1" />
        <Ago at={entry.at} className="text-xs text-soft" />
        <button
          type="button"
          aria-expanded={open}
          aria-label={`All of it: entry ${entry.position}`}
          onClick={() => setOpen(!open)}
          className="cursor-pointer text-xs text-accent hover:underline"
        >
          All of it
        </button>
      </div>
      {entry.reason === undefined ? undefined : (
        <p className="break-words text-soft sm:pl-15">because: {entry.reason}</p>
      )}
      <By organization={organization} entry={entry} />
      {open ? (
        <div className="sm:pl-15">
          <Everything entry={entry} />
        </div>
      ) : undefined}
    </li>
  );
}

/** From where and with what; of what an operation did for somebody, which one. */
function By({ organization, entry: { address, credential } }: { organization: string; entry: AuditEntryDocument }) {
  const operation = credential?.startsWith("operation/") === true ? credential.slice("operation/".length) : undefined;
  if (address === undefined && operation === undefined) return undefined;
  return (
    <p className="text-xs break-all text-soft sm:pl-15">
      {operation === undefined ? (
        `from ${address ?? ""}${credential === undefined ? "" : ` with ${credential}`}`
      ) : (
        <>
          through operation{" "}
          <Link
            to="/o/$organization/operations/$id"
            params={{ organization, id: operation }}
            className="text-accent underline"
          >
            {operation}
          </Link>
        </>
      )}
    </p>
  );
}

/** A person or a machine by name. What an operation did itself is told by its work, and leads there. */
function Who({ organization, entry: { actor, data } }: { organization: string; entry: AuditEntryDocument }) {
  const { operation, pipeline } = fieldsOf(data);
  if (operation !== actor || typeof pipeline !== "string") return <b className="font-medium break-words">{actor}</b>;
  return (
    <Link
      to="/o/$organization/operations/$id"
      params={{ organization, id: actor }}
      className="font-medium break-words text-accent hover:underline"
    >
      operation {pipeline}
    </Link>
  );
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return (typeof data === "object" && data !== null ? data : {}) as Readonly<Record<string, unknown>>;
}

/** What it happened to leads to all that happened to it. */
function What({ organization, entry: { data, resource } }: { organization: string; entry: AuditEntryDocument }) {
  const { kind, name } = fieldsOf(data);
  const words = [kind, name].filter((part) => typeof part === "string").join("/");
  const asked = resource ?? (words === "" ? undefined : words);
  if (asked === undefined) return undefined;
  return (
    <Link
      to="/o/$organization/audit"
      params={{ organization }}
      search={{ resource: asked }}
      title="All that happened to it"
      className="break-all text-accent hover:underline"
    >
      {words === "" ? asked : words}
    </Link>
  );
}

function Everything({ entry }: { entry: AuditEntryDocument }) {
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ["When", fullTime(entry.at)],
    ["Acted as", entry.actorType],
    ["Request", entry.requestId],
    ["Resource", entry.resource],
    ["Revision", entry.revision],
    ["Before (SHA-256)", entry.before],
    ["After (SHA-256)", entry.after],
    ["Hash", entry.hash],
  ];
  return (
    <div className="mt-1 rounded-md bg-sunken p-2.5">
      <dl className="grid gap-x-4 gap-y-0.5 text-xs sm:grid-cols-[auto_minmax(0,1fr)]">
        {facts.map(([name, value]) =>
          value === undefined ? undefined : (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="mb-1 break-all sm:mb-0">{value}</dd>
            </div>
          ),
        )}
      </dl>
      <pre
        tabIndex={0}
        aria-label="What is recorded with it"
        className="mt-2 max-h-60 overflow-auto text-xs whitespace-pre-wrap break-all"
      >
        {JSON.stringify(entry.data, null, 2)}
      </pre>
    </div>
  );
}
