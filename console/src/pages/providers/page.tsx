import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { accountsQuery, base } from "../../api/queries.ts";
import type { AccountDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Budget } from "../../components/budget.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogActions } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Chip, Mark } from "../../components/mark.tsx";
import { PageHeader, Panel } from "../../components/panel.tsx";
import { PartNav } from "../../components/part-nav.tsx";
import { Answer, Command, Empty, ProblemNote } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";
import { Pool } from "./pool.tsx";
import { providersRoute } from "./route.tsx";
import { Unmanaged } from "./unmanaged.tsx";

const parts = [
  { part: "accounts", title: "Accounts" },
  { part: "pool", title: "Pool" },
] as const;

export function ProvidersPage() {
  const { organization } = providersRoute.useParams();
  const { part = "accounts" } = providersRoute.useSearch();
  return (
    <>
      <PageHeader
        title="Providers"
        lead="The accounts that loops look at and write to. A look that failed is no absence: nothing is deleted from it."
      />
      <PartNav label="Parts of the providers" parts={parts} part={part} />
      {part === "accounts" ? <Accounts organization={organization} /> : <Pool organization={organization} />}
    </>
  );
}

/** Each account at a provider: its credential, its budget, whether it answers, and what is there that is not ours. */
function Accounts({ organization }: { organization: string }) {
  const accounts = useQuery({ ...accountsQuery(organization), refetchInterval: 5_000 });
  return (
    <Answer of={accounts} what="accounts">
      {(items) =>
        items.length === 0 ? (
          <Panel>
            <Empty icon="cloud" title="No account yet">
              An account is one credential's world at a provider. Add one with{" "}
              <Command>setpoint account add NAME --provider hetzner-cloud</Command>
            </Empty>
          </Panel>
        ) : (
          <div className="grid items-start gap-4 lg:grid-cols-2">
            {items.map((account) => (
              <AccountCard key={account.id} organization={organization} account={account} />
            ))}
          </div>
        )
      }
    </Answer>
  );
}

const credentials = {
  sealed: "sealed to the engine: no page, log or answer can show it",
  reference: "kept on the engine's own machine, and only named here",
  none: "none: nothing can be called",
} as const;

/** What a provider is told, as people call it; those of other providers keep their own names. */
const settings: Readonly<Record<string, string>> = { url: "Address", server: "Server", sentinel: "Marked by" };

function AccountCard({ organization, account }: { organization: string; account: AccountDocument }) {
  const [storing, setStoring] = useState(false);
  const { use } = account;
  const facts: readonly [string, React.ReactNode][] = [
    ["Credential", <Credential key="credential" {...{ organization, account }} />],
    ["Budget", <Budget key="budget" account={account} />],
    ["Latency", <Latency key="latency" account={account} />],
    ["Breaker", <Breaker key="breaker" account={account} />],
    ["Last look", use?.lastLookAt === undefined ? "not looked at yet" : <Ago key="last" at={use.lastLookAt} />],
    ["Last full inventory", <FullInventory key="inventory" account={account} />],
    ["Ours there", use === undefined ? "–" : `${use.owned} item${use.owned === 1 ? "" : "s"}`],
    ["Identity", account.fingerprint === undefined ? "not claimed yet" : <code key="id">{account.fingerprint}</code>],
    ...Object.entries(account.settings).map(([name, value]): [string, React.ReactNode] => [
      settings[name] ?? name,
      <code key={name} className="text-xs break-words">
        {typeof value === "string" ? value : JSON.stringify(value)}
      </code>,
    ]),
  ];
  return (
    <Panel
      title={
        <>
          {account.name} <span className="font-normal text-soft">{account.provider}</span>
        </>
      }
      aside={<Health account={account} />}
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
      <Unmanaged organization={organization} account={account.name} />
      <div className="mt-3 flex flex-wrap gap-2">
        {account.pool === undefined ? (
          <Button icon="key" onClick={() => setStoring(true)}>
            Store a credential…
          </Button>
        ) : undefined}
        <Link
          to="/o/$organization/audit"
          params={{ organization }}
          search={{ type: "account." }}
          className="inline-flex h-8 items-center text-sm text-accent hover:underline"
        >
          Who changed it
        </Link>
      </div>
      {storing ? (
        <CredentialDialog organization={organization} account={account.name} close={() => setStoring(false)} />
      ) : undefined}
    </Panel>
  );
}

function Credential({ organization, account }: { organization: string; account: AccountDocument }) {
  const { credential, pool } = account;
  if (pool === undefined) return credential === undefined ? "–" : credentials[credential];
  return (
    <>
      the operator's,{" "}
      <Link
        to="/o/$organization/providers"
        params={{ organization }}
        search={{ part: "pool" }}
        className="text-accent hover:underline"
      >
        {pool.account === undefined ? "to be claimed from the pool" : "from the pool"}
      </Link>
    </>
  );
}

/** How long the provider takes to answer: measured where the calls are made, failures and timeouts included. */
function Latency({ account: { use } }: { account: AccountDocument }) {
  const latency = use?.latency;
  if (latency === undefined)
    return <span className="text-soft">not measured yet: told with every eighth call or so</span>;
  const { medianMs, p95Ms, slowestMs, calls, at } = latency;
  return (
    <>
      <span className="tabular-nums">
        p50 {milliseconds(medianMs)}, p95 {milliseconds(p95Ms)}, slowest {milliseconds(slowestMs)}
      </span>{" "}
      <span className="text-xs text-soft">
        of the last {calls} call{calls === 1 ? "" : "s"}, <Ago at={at} />
      </span>
    </>
  );
}

function milliseconds(ms: number): string {
  if (ms < 1) return "under 1 ms";
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Whether everybody stays away from it for a while, because it said so or its budget ran out. */
function Breaker({ account: { use } }: { account: AccountDocument }) {
  if (use?.blockedUntil === undefined) return "closed: calls may be made";
  return (
    <>
      open: it asked us to wait, or was close to its limit; calls again <Until at={use.blockedUntil} />
    </>
  );
}

/** When everything there was last read whole: by list, where its subjects share lists. */
function FullInventory({ account: { use } }: { account: AccountDocument }) {
  if (use === undefined || (use.inventories.length === 0 && use.oldestLookAt === undefined)) return "none yet";
  if (use.inventories.length === 0)
    return (
      <>
        <Ago at={use.oldestLookAt ?? ""} />{" "}
        <span className="text-xs text-soft">(the oldest look at any of its subjects)</span>
      </>
    );
  return (
    <ul className="flex flex-wrap gap-x-3">
      {use.inventories.map(({ collection, completeAt }) => (
        <li key={collection} className="whitespace-nowrap">
          {collection} <Ago at={completeAt} className="text-soft" />
        </li>
      ))}
    </ul>
  );
}

function Health({ account: { use } }: { account: AccountDocument }) {
  if (use === undefined || use.subjects === 0)
    return (
      <Chip tone="plain" icon="question">
        unused
      </Chip>
    );
  if (use.blockedUntil !== undefined)
    return (
      <Chip tone="bad" icon="pause">
        breaker open
      </Chip>
    );
  if (use.failing > 0)
    return (
      <Chip tone="bad" icon="cross">
        {use.failing} of {use.subjects} looks fail
      </Chip>
    );
  return (
    <>
      <Mark tone="plain" icon="loop">
        {use.subjects} subject{use.subjects === 1 ? "" : "s"}
      </Mark>
      <Chip tone="good" icon="check">
        answers
      </Chip>
    </>
  );
}

function CredentialDialog({
  organization,
  account,
  close,
}: {
  organization: string;
  account: string;
  close: () => void;
}) {
  const [write, setWrite] = useState("");
  const [read, setRead] = useState("");
  const store = useAction(
    organization,
    () =>
      api("PUT", `${base(organization)}/accounts/${encodeURIComponent(account)}/credential`, {
        body: { write, ...(read === "" ? {} : { read }) },
      }),
    close,
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`The credential of ${account}`}
      description="Sealed as soon as it arrives, so that only the engine can read it. It replaces the one before."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          store.mutate();
        }}
      >
        <TextField
          label="For writing"
          type="password"
          required
          autoFocus
          autoComplete="new-password"
          value={write}
          onChange={({ target }) => setWrite(target.value)}
        />
        <TextField
          label="For looking alone"
          type="password"
          autoComplete="new-password"
          value={read}
          onChange={({ target }) => setRead(target.value)}
          hint="Where the provider has one that cannot write. Left empty, the other one is used for looking, too."
        />
        {store.error === null ? undefined : <ProblemNote error={store.error} />}
        <DialogActions close={close}>
          <Button tone="primary" icon="key" type="submit" busy={store.isPending} disabled={write === ""}>
            Store it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
