import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { Command, ProblemNote } from "../../components/states.tsx";
import { connectProject, hetznerUrl } from "./connect.ts";
import { Project } from "./project.tsx";
import { connectRoute } from "./route.tsx";

/** One's own Hetzner project: from a token to what is there, without a write; then as far as its owner wants to go. */
export function ConnectPage() {
  const { organization } = connectRoute.useParams();
  const { account } = connectRoute.useSearch();
  return (
    <>
      <PageHeader
        title={account === undefined ? "Look at your own Hetzner project" : `Your Hetzner project: ${account}`}
        lead="Read-only. It is looked at in mode observe: nothing is written there, not even a mark, until you say so."
      />
      {account === undefined ? (
        <TokenForm organization={organization} />
      ) : (
        <Project key={account} organization={organization} account={account} />
      )}
    </>
  );
}

function TokenForm({ organization }: { organization: string }) {
  const navigate = useNavigate();
  const [name, setName] = useState("my-hetzner");
  const [token, setToken] = useState("");
  const [url, setUrl] = useState(hetznerUrl);
  const connect = useAction(
    organization,
    () => connectProject(organization, { name: name.trim(), token: token.trim(), url: url.trim() }),
    () => {
      setToken("");
      void navigate({ to: "/o/$organization/connect", params: { organization }, search: { account: name.trim() } });
    },
  );
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="A token of the project">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            connect.mutate();
          }}
        >
          <TextField
            label="API token"
            type="password"
            required
            autoFocus
            autoComplete="off"
            value={token}
            onChange={({ target }) => setToken(target.value)}
            hint="In Hetzner's console: your project, Security, API tokens. One with permission Read is enough to look."
          />
          <TextField
            label="What to call it here"
            required
            value={name}
            onChange={({ target }) => setName(target.value)}
            hint="Lower-case letters, digits and hyphens."
          />
          <details className="mb-3 text-sm">
            <summary className="cursor-pointer text-soft">Where its API listens</summary>
            <div className="mt-2">
              <TextField
                label="URL"
                required
                value={url}
                onChange={({ target }) => setUrl(target.value)}
                hint="With its version. Another one only for a gateway of your own, or a simulated cloud."
              />
            </div>
          </details>
          {connect.error === null ? undefined : <ProblemNote error={connect.error} />}
          <div className="mt-3 flex justify-end">
            <Button
              tone="primary"
              icon="eye"
              type="submit"
              busy={connect.isPending}
              disabled={token.trim() === "" || name.trim() === ""}
            >
              Look at it
            </Button>
          </div>
        </form>
      </Panel>
      <Panel title="What happens with it">
        <ul className="list-disc space-y-1.5 pl-5 text-sm">
          <li>
            The token is sealed as soon as it arrives, so that only the engine can open it. No page, answer, log or
            backup of the database shows it.
          </li>
          <li>
            The project becomes an account of the organization <b>{organization}</b>, watched by a ComputeProvider in
            mode observe. Looking makes GET requests and no others.
          </li>
          <li>You see what is there. What you do not choose is left alone, for good.</li>
          <li>
            The same from a terminal:
            <div className="mt-0.5">
              <Command>{`bin/setpoint.mjs connect hetzner -O ${organization}`}</Command>
            </div>
          </li>
        </ul>
      </Panel>
    </div>
  );
}
