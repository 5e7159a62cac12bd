import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { AuditEntryDocument } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { Answer } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { mayNotRead } from "./may-not-read.ts";

/** Who did what of late. */
export function Activity({ organization }: { organization: string }) {
  const entries = useQuery({
    queryKey: keys.record(organization, "activity"),
    queryFn: async () =>
      (await get<{ items: readonly AuditEntryDocument[] }>(`${base(organization)}/audit?pageSize=60`)).items,
    retry: false,
  });
  if (mayNotRead(entries.error)) return undefined;
  return (
    <Panel
      title="Recent activity"
      flush
      aside={
        <Link to="/o/$organization/audit" params={{ organization }} className="text-accent hover:underline">
          The audit trail
        </Link>
      }
    >
      <Answer of={entries} what="the audit trail">
        {(items) => (
          <ul className="divide-y divide-line">
            {together(items)
              .slice(0, 12)
              .map(({ entry, about }) => (
                <li key={entry.position} className="flex items-baseline gap-3 px-3.5 py-1.5 text-sm">
                  <span className="min-w-0 flex-1 truncate" title={`${entry.actor}: ${entry.type} ${about.join(", ")}`}>
                    <span className="font-medium">{actorOf(entry)}</span>{" "}
                    <span className="text-soft">{words(entry, about)}</span>
                  </span>
                  <Ago at={entry.at} className="text-xs text-soft" />
                </li>
              ))}
          </ul>
        )}
      </Answer>
    </Panel>
  );
}

/** The same act of the same person many times in a row is one line. */
function together(
  items: readonly AuditEntryDocument[],
): readonly { readonly entry: AuditEntryDocument; readonly about: readonly string[] }[] {
  const lines: { entry: AuditEntryDocument; about: string[] }[] = [];
  for (const entry of items) {
    const last = lines.at(-1);
    if (last !== undefined && actorOf(last.entry) === actorOf(entry) && last.entry.type === entry.type)
      last.about.push(aboutOf(entry));
    else lines.push({ entry, about: [aboutOf(entry)] });
  }
  return lines;
}

/** Workers are known by an id that says nothing to people. */
function actorOf({ actor }: AuditEntryDocument): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(actor) ? "a worker" : actor;
}

function aboutOf({ data }: AuditEntryDocument): string {
  const { kind, name } = (data ?? {}) as { kind?: string; name?: string };
  return kind === undefined || name === undefined ? "" : `${kind}/${name}`;
}

function words({ type }: AuditEntryDocument, about: readonly string[]): string {
  const named = about.filter((name) => name !== "");
  const times = about.length > 1 ? ` ×${about.length}` : "";
  const names = named.length === 0 ? "" : `: ${named.slice(0, 3).join(", ")}${named.length > 3 ? ", …" : ""}`;
  return `${type.replace(".", " ").replaceAll("-", " ")}${times}${names}`;
}
