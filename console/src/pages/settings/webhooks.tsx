import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { WebhookDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, OnceActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { ConfirmDialog, type Fact, RemoveDialog } from "../../components/remove-dialog.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { Answer, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { Deliveries } from "./deliveries.tsx";

interface WithSecret {
  readonly secret: string;
}

/** Places that are told by a signed message, each with its delivery log. */
export function Webhooks({ organization }: { organization: string }) {
  const webhooks = useQuery({
    queryKey: keys.record(organization, "webhook"),
    queryFn: async () => (await get<{ items: readonly WebhookDocument[] }>(`${base(organization)}/webhooks`)).items,
  });
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      flush
      title="Webhooks"
      aside={
        <Button tone="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a webhook…
        </Button>
      }
    >
      <Answer of={webhooks} what="webhooks">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="bolt" title="Nobody is told by webhook">
              Messages are signed (Standard Webhooks), tried again for a day when nobody answers, and every answer is
              kept.
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((webhook) => (
                <WebhookRow key={webhook.id} organization={organization} webhook={webhook} />
              ))}
            </ul>
          )
        }
      </Answer>
      {adding ? <NewWebhook organization={organization} close={() => setAdding(false)} /> : undefined}
    </Panel>
  );
}

function WebhookRow({ organization, webhook }: { organization: string; webhook: WebhookDocument }) {
  const path = `${base(organization)}/webhooks/${webhook.id}`;
  const [open, setOpen] = useState(false);
  const send = useAction(
    organization,
    () => api("POST", `${path}:test`),
    () => setOpen(true),
  );
  const [made, setMade] = useState<WithSecret>();
  const [asking, setAsking] = useState<"remove" | "off" | "rotate">();
  const close = () => setAsking(undefined);
  const { url, events, description, state } = webhook;
  const setState = (next: typeof state) => api("PUT", path, { body: { url, events, description, state: next } });
  const switchOn = useAction(organization, () => setState("enabled"));
  const error = send.error ?? switchOn.error;
  return (
    <li className="px-3.5 py-2.5 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <b className="min-w-0 flex-1 basis-64 font-medium break-all">{url}</b>
        {state === "enabled" ? (
          <Chip tone={webhook.failingSince === undefined ? "good" : "warn"}>
            {webhook.failingSince === undefined ? "enabled" : "failing"}
          </Chip>
        ) : (
          <Chip tone="plain">disabled</Chip>
        )}
      </div>
      <p className="text-xs break-words text-soft">
        {description === "" ? "" : `${description} · `}
        {events.join(", ") === "*" ? "everything" : events.join(", ")} · added by {webhook.createdBy}{" "}
        <Ago at={webhook.createdAt} />
        {webhook.disabledReason === undefined ? "" : ` · ${webhook.disabledReason}`}
      </p>
      <div className="mt-1.5 flex flex-wrap gap-1.5">
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide deliveries" : "Deliveries"}
        </Button>
        <Button busy={send.isPending} onClick={() => send.mutate()}>
          Send a test
        </Button>
        <Button onClick={() => setAsking("rotate")}>New secret…</Button>
        {state === "enabled" ? (
          <Button onClick={() => setAsking("off")}>Switch off…</Button>
        ) : (
          <Button busy={switchOn.isPending} onClick={() => switchOn.mutate()}>
            Switch on
          </Button>
        )}
        <Button tone="danger" icon="trash" aria-label={`Remove… ${url}`} onClick={() => setAsking("remove")}>
          Remove…
        </Button>
      </div>
      {error === null ? undefined : <ProblemNote error={error} />}
      {made === undefined ? undefined : (
        <ShownOnce what="Both secrets sign for a day. The new one:" text={made.secret} />
      )}
      {open ? <Deliveries organization={organization} webhook={webhook.id} /> : undefined}
      {asking === "remove" ? (
        <RemoveDialog
          organization={organization}
          path={path}
          name={url}
          means="It is told nothing any more: messages that are on their way there end, and its delivery log and its secret go with it."
          facts={factsOf(webhook)}
          close={close}
        />
      ) : undefined}
      {asking === "off" ? (
        <ConfirmDialog
          organization={organization}
          act={() => setState("disabled")}
          title={`Switch off ${url}`}
          means="What happens while it is off is not told there, then or later. Its secret and its delivery log stay."
          facts={factsOf(webhook)}
          verb="Switch off"
          icon="pause"
          close={close}
        />
      ) : undefined}
      {asking === "rotate" ? (
        <ConfirmDialog
          organization={organization}
          act={async () => setMade(await api<WithSecret>("POST", `${path}:rotate`))}
          title={`A new secret for ${url}`}
          means="It is shown once. For a day messages carry the signatures of both, then the old secret signs nothing: a receiver that does not have the new one by then refuses what it is sent."
          facts={factsOf(webhook)}
          verb="Make it"
          icon="key"
          close={close}
        />
      ) : undefined}
    </li>
  );
}

/** What would not be told, and whether anything is. */
function factsOf({ events, failingSince }: WebhookDocument): readonly Fact[] {
  return [
    ["Told of", events.join(", ") === "*" ? "everything" : events.join(", ")],
    ["Now", failingSince === undefined ? "nothing that was sent failed lately" : "failing"],
  ];
}

function NewWebhook({ organization, close }: { organization: string; close: () => void }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const add = useAction(organization, () =>
    api<WithSecret>("POST", `${base(organization)}/webhooks`, { body: { url: url.trim(), description } }),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Add a webhook"
      description="It is told of everything people are told of. Only https, and only public addresses."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <TextField
          label="Address"
          type="url"
          required
          autoFocus
          placeholder="https://example.org/setpoint"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <TextField
          label="What it is for"
          maxLength={200}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        {add.error === null ? undefined : <ProblemNote error={add.error} />}
        {add.data === undefined ? undefined : (
          <ShownOnce what="Receivers check webhook-signature with this secret." text={add.data.secret} />
        )}
        <OnceActions
          close={close}
          done={add.data !== undefined}
          icon="plus"
          busy={add.isPending}
          disabled={url.trim() === ""}
        >
          Add it
        </OnceActions>
      </form>
    </Dialog>
  );
}
