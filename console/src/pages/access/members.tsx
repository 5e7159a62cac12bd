import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { MemberDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { Icon } from "../../components/icons.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer, Command, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { InviteDialog, Invites } from "./invites.tsx";
import { invitesQuery, membersQuery, tokensQuery } from "./queries.ts";
import { placeWords, RolePlaceFields, useRolePlace } from "./role-place.tsx";

export function Members({ organization }: { organization: string }) {
  const members = useQuery(membersQuery(organization));
  const [inviting, setInviting] = useState(false);
  return (
    <div className="space-y-4">
      <Panel
        flush
        title="Members"
        aside={
          <Button tone="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite…
          </Button>
        }
      >
        <Answer of={members} what="members">
          {(items) =>
            items.length === 0 ? (
              <Empty icon="person" title="Nobody belongs to this organization yet">
                Operators of the platform see it without belonging to it. Invite somebody here, or with{" "}
                <Command>setpoint invite create</Command>
              </Empty>
            ) : (
              <ul className="divide-y divide-line">
                {items.map((member) => (
                  <MemberRow key={member.id} organization={organization} member={member} />
                ))}
              </ul>
            )
          }
        </Answer>
      </Panel>
      <Invites organization={organization} />
      {inviting ? <InviteDialog organization={organization} close={() => setInviting(false)} /> : undefined}
    </div>
  );
}

function MemberRow({ organization, member }: { organization: string; member: MemberDocument }) {
  const [asking, setAsking] = useState<"role" | "remove" | MemberDocument["bindings"][number]>();
  const path = `${base(organization)}/members/${encodeURIComponent(member.id)}`;
  const confirm = useAction(organization, () => api("POST", `${path}:confirm`));
  const close = () => setAsking(undefined);
  const { error } = confirm;
  return (
    <li className="px-3.5 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-56">
          <b className="font-medium break-all">{member.email}</b>
          <span className="block text-xs text-soft">
            added by {member.addedBy} <Ago at={member.addedAt} />
          </span>
        </span>
        {member.confirmed ? undefined : (
          <Button icon="check" busy={confirm.isPending} onClick={() => confirm.mutate()}>
            Still belongs here
          </Button>
        )}
        <Button icon="plus" aria-label={`Role… for ${member.email}`} onClick={() => setAsking("role")}>
          Role…
        </Button>
        <Button tone="danger" icon="trash" aria-label={`Remove… ${member.email}`} onClick={() => setAsking("remove")}>
          Remove…
        </Button>
      </div>
      <ul className="mt-1 flex flex-wrap gap-1.5">
        {member.bindings.length === 0 ? <li className="text-sm text-soft">no role: may see nothing</li> : undefined}
        {member.bindings.map((binding) => (
          <li key={binding.id} className="inline-flex min-w-0 items-center gap-0.5">
            <Chip tone="accent" icon="key" breaks>
              {binding.role} {placeWords(binding)}
            </Chip>
            <button
              type="button"
              aria-label={`Take ${binding.role} from ${member.email}`}
              className="rounded p-0.5 text-soft hover:text-bad"
              onClick={() => setAsking(binding)}
            >
              <Icon name="cross" size={13} />
            </button>
          </li>
        ))}
      </ul>
      {error === null ? undefined : <ProblemNote error={error} />}
      {asking === "role" ? <RoleDialog organization={organization} member={member} close={close} /> : undefined}
      {typeof asking === "object" ? (
        <RemoveDialog
          organization={organization}
          path={`${path}/bindings/${asking.id}`}
          name={`${asking.role} ${placeWords(asking)}`}
          means={`${member.email} can no longer do what only this role lets them do; ${member.bindings.length === 1 ? "it is their last one here, so they will see nothing" : `${member.bindings.length - 1} other role${member.bindings.length === 2 ? "" : "s"} stay`}.`}
          close={close}
        />
      ) : undefined}
      {asking === "remove" ? (
        <RemoveMember organization={organization} member={member} path={path} close={close} />
      ) : undefined}
    </li>
  );
}

/** With somebody go the tokens they made here and the invites that are open. */
function RemoveMember({ organization, member, path, close }: AboutMember & { readonly path: string }) {
  const { email, bindings } = member;
  const tokens = useQuery(tokensQuery(organization)).data;
  const invites = useQuery(invitesQuery(organization)).data;
  const theirs = tokens?.filter(({ maker, state }) => maker === email && state === "active");
  const open = invites?.filter(({ invitedBy, state }) => invitedBy === email && state === "open");
  return (
    <RemoveDialog
      organization={organization}
      path={path}
      name={email}
      means="They see nothing here any more, within five seconds, with open pages and streams. What they declared stays."
      facts={[
        ["Roles", bindings.map((binding) => `${binding.role} ${placeWords(binding)}`).join(", ") || "none"],
        ["Tokens that stop", namesOf(theirs?.map(({ name }) => name))],
        ["Invites that end", namesOf(open?.map((invite) => invite.email))],
      ]}
      close={close}
    />
  );
}

/** What was not read, or may not be, is not none. */
function namesOf(names: readonly string[] | undefined): string {
  return names === undefined ? "not known" : names.join(", ") || "none";
}

interface AboutMember {
  readonly organization: string;
  readonly member: MemberDocument;
  readonly close: () => void;
}

function RoleDialog({ organization, member, close }: AboutMember) {
  const place = useRolePlace();
  const path = `${base(organization)}/members/${encodeURIComponent(member.id)}/bindings`;
  const give = useAction(organization, () => api("POST", path, { body: place.body }), close);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`A role for ${member.email}`}
      description="In force within five seconds. Nobody can give more than they have."
    >
      <RolePlaceFields organization={organization} place={place} />
      {give.error === null ? undefined : <ProblemNote error={give.error} />}
      <DialogActions close={close}>
        <Button tone="primary" icon="check" busy={give.isPending} onClick={() => give.mutate()}>
          Give it
        </Button>
      </DialogActions>
    </Dialog>
  );
}
