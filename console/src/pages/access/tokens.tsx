import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { base } from "../../api/queries.ts";
import type { TokenDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, OnceActions } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Chip, type Tone } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { type Fact, RemoveDialog } from "../../components/remove-dialog.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { Answer, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";
import { scopeWords } from "../../drift/scope-words.ts";
import { ownTokensQuery, rolesQuery, tokensQuery } from "./queries.ts";

const tones: Readonly<Record<TokenDocument["state"], Tone>> = {
  active: "good",
  expired: "plain",
  revoked: "bad",
  redeemed: "plain",
};

export function Tokens({ organization }: { organization: string }) {
  const tokens = useQuery(tokensQuery(organization));
  const own = useQuery(ownTokensQuery);
  const [making, setMaking] = useState<"organization" | "own">();
  return (
    <div className="space-y-4">
      <Panel
        flush
        title="Of the organization"
        aside={
          <Button tone="primary" icon="plus" onClick={() => setMaking("organization")}>
            Make a token…
          </Button>
        }
      >
        <TokenList
          asked={tokens}
          revokePath={`${base(organization)}/tokens`}
          empty="A program or an assistant that acts here needs a token of its own. Neither ever decides what waits for a person."
        />
      </Panel>
      <Panel
        flush
        title="Yours"
        aside={
          <Button icon="plus" onClick={() => setMaking("own")}>
            Make one of your own…
          </Button>
        }
      >
        <TokenList
          asked={own}
          revokePath="/v1/me/tokens"
          empty="A personal token acts in your name, as a machine, with at most your rights."
        />
      </Panel>
      {making === undefined ? undefined : (
        <NewToken organization={organization} of={making} close={() => setMaking(undefined)} />
      )}
    </div>
  );
}

function TokenList({
  asked,
  revokePath,
  empty,
}: {
  asked: { data: readonly TokenDocument[] | undefined; error: unknown; refetch: () => unknown };
  revokePath: string;
  empty: string;
}) {
  const [revoking, setRevoking] = useState<TokenDocument>();
  return (
    <>
      <Answer of={asked} what="tokens">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="key" title="No token yet">
              {empty}
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((token) => (
                <li key={token.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2 text-sm">
                  <span className="min-w-0 flex-1 basis-64">
                    <b className="font-medium break-all">{token.name}</b>{" "}
                    <span className="text-soft">{token.type}</span>
                    <span className="block text-xs text-soft">
                      made by {token.maker} <Ago at={token.madeAt} /> ·{" "}
                      {token.lastUsedAt === undefined ? (
                        "never used"
                      ) : (
                        <>
                          last used <Ago at={token.lastUsedAt} />
                        </>
                      )}{" "}
                      · ends <Until at={token.expiresAt} />
                    </span>
                    {token.access === undefined ? undefined : (
                      <span className="block text-xs break-all text-soft">
                        {token.access
                          .map(
                            ({ scope, rules }) =>
                              `${rules.length} rule${rules.length === 1 ? "" : "s"} in ${scopeWords(scope)}`,
                          )
                          .join(", ")}
                      </span>
                    )}
                  </span>
                  <Chip tone={tones[token.state]}>{token.state}</Chip>
                  {token.state === "active" ? (
                    <Button
                      tone="danger"
                      aria-label={`Revoke… the token ${token.name}`}
                      onClick={() => setRevoking(token)}
                    >
                      Revoke…
                    </Button>
                  ) : undefined}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {revoking === undefined ? undefined : (
        <RemoveDialog
          organization={undefined}
          path={`${revokePath}/${revoking.id}`}
          verb="Revoke"
          name={`the token ${revoking.name}`}
          means="Whatever shows it is refused from then on, everywhere within five seconds, and it cannot be brought back. What was done with it stays done."
          facts={factsOf(revoking)}
          close={() => setRevoking(undefined)}
        />
      )}
    </>
  );
}

/** What stops working with it. */
function factsOf({ type, maker, lastUsedAt, expiresAt, access }: TokenDocument): readonly Fact[] {
  return [
    ["Type", type],
    ["Acts for", maker],
    ["Last used", lastUsedAt === undefined ? "never" : <Ago key="used" at={lastUsedAt} />],
    ["May", access === undefined ? `whatever ${maker} may` : <Rights key="rights" access={access} />],
    ["Would end", <Until key="ends" at={expiresAt} />],
  ];
}

function Rights({ access }: { access: NonNullable<TokenDocument["access"]> }) {
  return (
    <ul className="max-h-40 overflow-y-auto" tabIndex={0} aria-label="What it may do">
      {access.flatMap(({ scope, rules }) =>
        rules.map(({ key, actions }) => (
          <li key={`${scope} ${key}`} className="break-all">
            <code>{key}</code> {actions.join(", ")} <span className="text-soft">in {scopeWords(scope)}</span>
          </li>
        )),
      )}
    </ul>
  );
}

/** What it may do is what a role says at this moment; a token never has more than its maker. */
function NewToken({
  organization,
  of,
  close,
}: {
  organization: string;
  of: "organization" | "own";
  close: () => void;
}) {
  const roles = (useQuery(rolesQuery(organization)).data ?? []).filter(({ rules }) => rules.length > 0);
  const [name, setName] = useState("");
  const [type, setType] = useState("service-token");
  const [days, setDays] = useState(30);
  const [role, setRole] = useState("member");
  const rules = roles.find((entry) => entry.name === role)?.rules ?? [];
  const make = useAction(undefined, () =>
    api<{ token: string }>("POST", of === "own" ? "/v1/me/tokens" : `${base(organization)}/tokens`, {
      body: {
        name: name.trim(),
        expiresInDays: days,
        ...(of === "own" ? {} : { type, access: [{ rules }] }),
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={of === "own" ? "A token of your own" : "A token of the organization"}
      description={
        of === "own" ? "It may do what you may do at the time it is used." : "For a program or an assistant of its own."
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="What it is for"
          required
          autoFocus
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <div className="grid gap-x-3 sm:grid-cols-2">
          {of === "own" ? undefined : (
            <>
              <SelectField label="For" value={type} onChange={({ target }) => setType(target.value)}>
                <option value="service-token">A program</option>
                <option value="assistant-token">An assistant: it may ask, never decide</option>
              </SelectField>
              <SelectField
                label="May do what this role may"
                value={role}
                onChange={({ target }) => setRole(target.value)}
              >
                {roles.map((entry) => (
                  <option key={entry.name} value={entry.name}>
                    {entry.name}
                  </option>
                ))}
              </SelectField>
            </>
          )}
          <SelectField label="Ends after" value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {[1, 7, 30, 90].map((count) => (
              <option key={count} value={count}>
                {count} day{count === 1 ? "" : "s"}
              </option>
            ))}
          </SelectField>
        </div>
        {make.error === null ? undefined : <ProblemNote error={make.error} />}
        {make.data === undefined ? undefined : <ShownOnce what="Keep the token now." text={make.data.token} />}
        <OnceActions
          close={close}
          done={make.data !== undefined}
          icon="key"
          busy={make.isPending}
          disabled={name.trim() === ""}
        >
          Make it
        </OnceActions>
      </form>
    </Dialog>
  );
}
