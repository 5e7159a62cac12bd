import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { InviteDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, OnceActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Chip, type Tone } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";
import { invitesQuery } from "./queries.ts";
import { placeWords, RolePlaceFields, useRolePlace } from "./role-place.tsx";

const tones: Readonly<Record<InviteDocument["state"], Tone>> = {
  open: "accent",
  accepted: "good",
  revoked: "plain",
  expired: "plain",
};

export function Invites({ organization }: { organization: string }) {
  const invites = useQuery(invitesQuery(organization));
  const [revoking, setRevoking] = useState<InviteDocument>();
  return (
    <Panel flush title="Invites">
      <Answer of={invites} what="invites">
        {(items) =>
          items.length === 0 ? (
            <p className="p-3.5 text-sm text-soft">
              Nobody was invited yet. An invite is for one e-mail address, and ends by itself.
            </p>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((invite) => (
                <li key={invite.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2 text-sm">
                  <span className="min-w-0 flex-1 basis-56">
                    <b className="font-medium break-all">{invite.email}</b>
                    <span className="block text-xs text-soft">
                      {rolesOf(invite)} · by {invite.invitedBy} <Ago at={invite.createdAt} />
                    </span>
                  </span>
                  <Chip tone={tones[invite.state]}>{invite.state}</Chip>
                  {invite.state === "open" ? (
                    <>
                      <span className="text-xs text-soft">
                        ends <Until at={invite.expiresAt} />
                      </span>
                      <Button
                        tone="danger"
                        aria-label={`Revoke… the invite of ${invite.email}`}
                        onClick={() => setRevoking(invite)}
                      >
                        Revoke…
                      </Button>
                    </>
                  ) : undefined}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {revoking === undefined ? undefined : (
        <RemoveDialog
          organization={organization}
          path={`${base(organization)}/invites/${revoking.id}`}
          verb="Revoke"
          name={`the invite of ${revoking.email}`}
          means={`Its link stops working at once: ${revoking.email} cannot join with it any more, and has to be invited anew.`}
          facts={[
            ["Would give", rolesOf(revoking)],
            ["Invited by", revoking.invitedBy],
            ["Would end", <Until key="ends" at={revoking.expiresAt} />],
          ]}
          close={() => setRevoking(undefined)}
        />
      )}
    </Panel>
  );
}

function rolesOf({ bindings }: InviteDocument): string {
  return bindings.map((binding) => `${binding.role} ${placeWords(binding)}`).join(", ") || "no role";
}

interface CreatedInvite {
  readonly mailed: boolean;
  readonly link?: string;
}

export function InviteDialog({ organization, close }: { organization: string; close: () => void }) {
  const [email, setEmail] = useState("");
  const place = useRolePlace();
  const invite = useAction(organization, () =>
    api<CreatedInvite>("POST", `${base(organization)}/invites`, {
      body: { email: email.trim(), bindings: [place.body] },
    }),
  );
  const made = invite.data;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Invite somebody"
      description="They sign up, or sign in, with exactly this e-mail address. The invite ends in seven days."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <TextField
          label="E-mail"
          type="email"
          required
          autoFocus
          autoComplete="off"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
        <RolePlaceFields organization={organization} place={place} />
        {invite.error === null ? undefined : <ProblemNote error={invite.error} />}
        {made?.link === undefined ? undefined : (
          <ShownOnce what="No mail server is set, so hand over this link." text={made.link} />
        )}
        {made?.mailed === true ? <p className="text-sm text-good">The invite was mailed.</p> : undefined}
        <OnceActions
          close={close}
          done={made !== undefined}
          icon="check"
          busy={invite.isPending}
          disabled={email.trim() === ""}
        >
          Invite
        </OnceActions>
      </form>
    </Dialog>
  );
}
