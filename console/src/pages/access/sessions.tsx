import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SessionDocument } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Chip } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";
import { Proofs } from "./proofs.tsx";
import { sessionsQuery } from "./queries.ts";

/** Where you are signed in, and what you prove yourself with. */
export function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const [ending, setEnding] = useState<SessionDocument>();
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(20rem,2fr)]">
      <Panel flush title="Where you are signed in">
        <Answer of={sessions} what="your sessions">
          {(items) => (
            <ul className="divide-y divide-line">
              {items.map((session) => (
                <li key={session.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2 text-sm">
                  <span className="min-w-0 flex-1 basis-64">
                    <b className="font-medium break-words">{browserOf(session.userAgent)}</b>{" "}
                    <span className="text-soft">from {session.address}</span>
                    <span className="block text-xs text-soft">
                      since <Ago at={session.createdAt} /> · last seen <Ago at={session.lastSeenAt} /> · ends{" "}
                      <Until at={session.endsAt} />
                    </span>
                  </span>
                  {session.current ? (
                    <Chip tone="good" icon="check">
                      this one
                    </Chip>
                  ) : (
                    <Button
                      tone="danger"
                      aria-label={`End… the session of ${browserOf(session.userAgent)} since ${session.createdAt}`}
                      onClick={() => setEnding(session)}
                    >
                      End…
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )}
        </Answer>
        {ending === undefined ? undefined : (
          <RemoveDialog
            organization={undefined}
            path={`/v1/sessions/${ending.id}`}
            verb="End"
            name="a session of yours"
            means="Whoever uses it, you or somebody else, is signed out within five seconds. What was typed there and not sent is lost; everything that was done stays done."
            facts={[
              ["Browser", browserOf(ending.userAgent)],
              ["From", ending.address],
              ["Signed in", <Ago key="since" at={ending.createdAt} />],
              ["Last seen", <Ago key="seen" at={ending.lastSeenAt} />],
            ]}
            icon="cross"
            close={() => setEnding(undefined)}
          />
        )}
      </Panel>
      <Proofs />
    </div>
  );
}

/** Long enough to tell two of them apart. */
function browserOf(userAgent: string): string {
  const name = /(Firefox|Edg|Chrome|HeadlessChrome|Safari|curl|setpoint)\/([\d.]+)/.exec(userAgent);
  const system = /\(([^;)]+)/.exec(userAgent)?.[1];
  if (name === null) return userAgent === "" ? "a program" : userAgent.slice(0, 60);
  return `${name[1]} ${name[2]?.split(".")[0] ?? ""}${system === undefined ? "" : ` on ${system}`}`;
}
