import { PageHeader } from "../../components/panel.tsx";
import { PartNav } from "../../components/part-nav.tsx";
import { Members } from "./members.tsx";
import { Roles } from "./roles.tsx";
import { accessRoute } from "./route.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

const parts = [
  { part: "members", title: "Members" },
  { part: "roles", title: "Roles" },
  { part: "tokens", title: "Tokens" },
  { part: "sessions", title: "Your sessions" },
] as const;

/** Who may do what: members and invites, roles, tokens, and where you are signed in. */
export function AccessPage() {
  const { organization } = accessRoute.useParams();
  const { part = "members" } = accessRoute.useSearch();
  return (
    <>
      <PageHeader
        title="Access"
        lead="Who belongs here, what their roles let them do, and what acts in their name. Nobody can give more than they have."
      />
      <PartNav label="Parts of access" parts={parts} part={part} />
      {part === "members" ? <Members organization={organization} /> : undefined}
      {part === "roles" ? <Roles organization={organization} /> : undefined}
      {part === "tokens" ? <Tokens organization={organization} /> : undefined}
      {part === "sessions" ? <Sessions /> : undefined}
    </>
  );
}
