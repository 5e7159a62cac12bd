import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { PermissionDocument, RoleDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { ExplainBox } from "./explain.tsx";
import { invitesQuery, membersQuery, permissionsQuery, rolesQuery } from "./queries.ts";

export function Roles({ organization }: { organization: string }) {
  const roles = useQuery(rolesQuery(organization));
  const [making, setMaking] = useState(false);
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(20rem,2fr)]">
      <Panel
        flush
        title="Roles"
        aside={
          <Button icon="plus" onClick={() => setMaking(true)}>
            Make a role…
          </Button>
        }
      >
        <Answer of={roles} what="roles">
          {(items) => (
            <ul className="divide-y divide-line">
              {items.map((role) => (
                <RoleRow key={role.name} organization={organization} role={role} />
              ))}
            </ul>
          )}
        </Answer>
      </Panel>
      <ExplainBox organization={organization} />
      {making ? <NewRole organization={organization} close={() => setMaking(false)} /> : undefined}
    </div>
  );
}

function RoleRow({ organization, role }: { organization: string; role: RoleDocument }) {
  const [removing, setRemoving] = useState(false);
  return (
    <li className="px-3.5 py-2.5 text-sm">
      <div className="flex flex-wrap items-center gap-x-3">
        <b className="font-medium break-all">{role.name}</b>
        {role.seed ? <Chip tone="plain">came with Setpoint</Chip> : <Chip tone="accent">your own</Chip>}
        <span className="flex-1" />
        {role.seed ? undefined : (
          <Button
            tone="danger"
            icon="trash"
            aria-label={`Remove… the role ${role.name}`}
            onClick={() => setRemoving(true)}
          >
            Remove…
          </Button>
        )}
      </div>
      <p className="break-words text-soft">{role.description}</p>
      <details className="mt-1">
        <summary className="cursor-pointer text-accent">
          {role.rules.length} rule{role.rules.length === 1 ? "" : "s"}
        </summary>
        <ul className="mt-1 space-y-0.5 text-xs">
          {role.rules.map(({ key, actions }) => (
            <li key={key} className="flex flex-wrap gap-x-3">
              <code className="break-all">{key}</code>
              <span className="text-soft">{actions.join(", ")}</span>
            </li>
          ))}
        </ul>
      </details>
      {removing ? <RemoveRole organization={organization} role={role} close={() => setRemoving(false)} /> : undefined}
    </li>
  );
}

/** Who has it is said first; while somebody does, it cannot go. */
function RemoveRole({
  organization,
  role: { name },
  close,
}: {
  organization: string;
  role: RoleDocument;
  close: () => void;
}) {
  const members = useQuery(membersQuery(organization));
  const invites = useQuery(invitesQuery(organization));
  const unread = members.error ?? invites.error;
  const having =
    members.data === undefined || invites.data === undefined
      ? undefined
      : [...members.data, ...invites.data.filter(({ state }) => state === "open")]
          .filter(({ bindings }) => bindings.some(({ role }) => role === name))
          .map(({ email }) => email);
  return (
    <RemoveDialog
      organization={organization}
      path={`${base(organization)}/roles/${encodeURIComponent(name)}`}
      name={name}
      means={having === undefined ? "Who has it is being read." : havingWords(having)}
      disabled={having === undefined}
      close={close}
    >
      {unread === null ? undefined : <ProblemNote error={unread} />}
    </RemoveDialog>
  );
}

function havingWords(emails: readonly string[]): string {
  if (emails.length === 0) return "No member has it, and no open invite would give it.";
  return `${emails.join(", ")} ${emails.length === 1 ? "has it, or is" : "have it, or are"} invited to it: take it from them first.`;
}

type Action = PermissionDocument["actions"][number];

/** A role out of what can be done inside an organization. */
function NewRole({ organization, close }: { organization: string; close: () => void }) {
  const permissions = useQuery(permissionsQuery);
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [chosen, setChosen] = useState<ReadonlyMap<string, ReadonlySet<Action>>>(new Map());
  const rules = [...chosen].flatMap(([key, actions]) => (actions.size === 0 ? [] : [{ key, actions: [...actions] }]));
  const make = useAction(
    organization,
    () => api("POST", `${base(organization)}/roles`, { body: { name: name.trim(), description, rules } }),
    close,
  );
  const toggle = (key: string, action: Action) => {
    const actions = new Set(chosen.get(key));
    if (!actions.delete(action)) actions.add(action);
    setChosen(new Map([...chosen, [key, actions]]));
  };
  return (
    <Dialog
      wide
      open
      onOpenChange={(open) => !open && close()}
      title="Make a role"
      description="Out of what you may do yourself. Whoever has it has its rules within five seconds of a change."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <div className="grid gap-x-3 sm:grid-cols-2">
          <TextField
            label="Name"
            required
            autoFocus
            value={name}
            onChange={({ target }) => setName(target.value)}
            hint="Small letters, digits and dashes."
          />
          <TextField
            label="What it is for"
            value={description}
            maxLength={500}
            onChange={({ target }) => setDescription(target.value)}
          />
        </div>
        <Answer of={permissions} what="permissions">
          {(items) => (
            <ul className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line">
              {items
                .filter(({ scope }) => scope !== "platform")
                .map(({ key, actions, description: words }) => (
                  <li key={key} className="px-3 py-2 text-sm">
                    <fieldset className="flex flex-wrap items-center gap-x-4">
                      <legend className="float-left w-full">
                        <code className="text-xs">{key}</code> <span className="text-xs text-soft">{words}</span>
                      </legend>
                      {actions.map((action) => (
                        <label key={action} className="inline-flex items-center gap-1.5 text-xs">
                          <input
                            type="checkbox"
                            checked={chosen.get(key)?.has(action) ?? false}
                            onChange={() => toggle(key, action)}
                          />
                          {action}
                        </label>
                      ))}
                    </fieldset>
                  </li>
                ))}
            </ul>
          )}
        </Answer>
        {make.error === null ? undefined : <ProblemNote error={make.error} />}
        <DialogActions close={close}>
          <Button
            tone="primary"
            icon="check"
            type="submit"
            busy={make.isPending}
            disabled={name.trim() === "" || rules.length === 0}
          >
            Make it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
