import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { EmailsDocument, NotificationDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Panel } from "../../components/panel.tsx";
import { plainWords } from "../../components/plain-words.ts";
import { Answer, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { Mailed } from "./deliveries.tsx";
import { Webhooks } from "./webhooks.tsx";

export function Notifications({ organization }: { organization: string }) {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(20rem,2fr)]">
      <div className="min-w-0 space-y-4">
        <Webhooks organization={organization} />
        <Told organization={organization} />
      </div>
      <Emails organization={organization} />
    </div>
  );
}

/** What people were told: one entry per cause and window. */
function Told({ organization }: { organization: string }) {
  const told = useQuery({
    queryKey: keys.record(organization, "notification"),
    queryFn: async () =>
      (await get<{ items: readonly NotificationDocument[] }>(`${base(organization)}/notifications`)).items,
  });
  return (
    <Panel flush title="What was told" aside="the same cause is told once, not once per resource">
      <Answer of={told} what="what was told">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="info" title="Nothing was worth telling yet">
              A change that waits, a guard that refuses, a freeze, and what stalls or recovers is told once, not once
              per resource.
            </Empty>
          ) : (
            <ul className="max-h-96 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label="What was told">
              {items.map((entry) => (
                <li key={entry.id} className="px-3.5 py-2 text-sm">
                  <p className="flex flex-wrap items-baseline gap-x-3">
                    <code className="text-xs">{entry.type}</code>
                    <span className="min-w-0 flex-1 basis-56 break-words">
                      {plainWords(entry.summary.replace(/^resource\/[0-9a-f-]+:/, "One resource:"))}{" "}
                      <SeeIt organization={organization} links={entry.items.map(({ link }) => link)} />
                    </span>
                    <Ago at={entry.toldAt ?? entry.openedAt} className="text-xs text-soft" />
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}

/** Leads to what was told of, where it has a page of its own. */
function SeeIt({ organization, links }: { organization: string; links: readonly (string | undefined)[] }) {
  const [, part, id] = /\/(held-changes|operations)\/([^/]+)$/.exec(links[0] ?? "") ?? [];
  if (part === undefined || id === undefined) return undefined;
  return (
    <Link
      to={part === "operations" ? "/o/$organization/operations/$id" : "/o/$organization/held/$id"}
      params={{ organization, id }}
      className="text-accent underline"
    >
      see it
    </Link>
  );
}

function Emails({ organization }: { organization: string }) {
  const emails = useQuery({
    queryKey: keys.record(organization, "notification-emails"),
    queryFn: () => get<EmailsDocument>(`${base(organization)}/notification-emails`),
  });
  return (
    <Panel title="By e-mail">
      <Answer of={emails} what="who is told by e-mail">
        {(found) => (
          <>
            {found.mailServer ? undefined : (
              <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
                No mail server is set, so nothing is mailed. Whoever runs the installation sets{" "}
                <code>SETPOINT_SMTP_URL</code>.
              </p>
            )}
            <EmailForm key={found.addresses.join(" ")} organization={organization} addresses={found.addresses} />
            <Mailed organization={organization} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

function EmailForm({ organization, addresses }: { organization: string; addresses: readonly string[] }) {
  const [text, setText] = useState(addresses.join(", "));
  const next = text
    .split(/[\s,;]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const save = useAction(organization, () =>
    api("PUT", `${base(organization)}/notification-emails`, { body: { addresses: next } }),
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextField
        label="Addresses"
        value={text}
        onChange={({ target }) => setText(target.value)}
        hint="Separated by commas, at most 20."
      />
      {save.error === null ? undefined : <ProblemNote error={save.error} />}
      <div className="flex justify-end">
        <Button type="submit" busy={save.isPending} disabled={next.join(" ") === addresses.join(" ")}>
          Save
        </Button>
      </div>
    </form>
  );
}
