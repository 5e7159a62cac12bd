import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../api/client.ts";
import { accountsQuery, mayQuery } from "../../api/queries.ts";
import type { AccountDocument, PoolAccountDocument } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import type { IconName } from "../../components/icons.tsx";
import { Chip, type Tone } from "../../components/mark.tsx";
import { Panel } from "../../components/panel.tsx";
import { RemoveDialog } from "../../components/remove-dialog.tsx";
import { Answer, Command, Empty } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { GiveBackDialog, NewClaimDialog, NewPoolAccountDialog, PutBackDialog } from "./pool-dialogs.tsx";

/** What the operator of the platform offers to organizations, and what this one has of it. */
export function Pool({ organization }: { organization: string }) {
  const offers = useQuery(mayQuery({ permission: "platform.pool", action: "read" })).data === true;
  return (
    <div className="space-y-4">
      <Claimed organization={organization} />
      {offers ? <Offered /> : undefined}
    </div>
  );
}

/** The organization's own side: accounts of it that come from the pool. */
function Claimed({ organization }: { organization: string }) {
  const accounts = useQuery({ ...accountsQuery(organization), refetchInterval: 5_000 });
  const mayClaim = useMay("organization.account", "create", organization);
  const mayGiveBack = useMay("organization.account", "delete", organization);
  const [claiming, setClaiming] = useState(false);
  return (
    <Panel
      flush
      title={`What ${organization} has from the pool`}
      aside={
        mayClaim ? (
          <Button tone="primary" icon="plus" onClick={() => setClaiming(true)}>
            Claim one…
          </Button>
        ) : undefined
      }
    >
      <Answer of={accounts} what="accounts">
        {(all) => {
          const items = all.filter(({ pool }) => pool !== undefined);
          return items.length === 0 ? (
            <Empty icon="cloud" title="Nothing from the pool">
              An account of the operator's is claimed when the first host is made there. Prepare one here, or with{" "}
              <Command>setpoint account add NAME --provider hetzner-cloud --from-pool</Command>
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((account) => (
                <ClaimedRow key={account.id} {...{ organization, account, mayGiveBack }} />
              ))}
            </ul>
          );
        }}
      </Answer>
      {claiming ? <NewClaimDialog organization={organization} close={() => setClaiming(false)} /> : undefined}
    </Panel>
  );
}

function ClaimedRow({
  organization,
  account,
  mayGiveBack,
}: {
  organization: string;
  account: AccountDocument;
  mayGiveBack: boolean;
}) {
  const [givingBack, setGivingBack] = useState(false);
  const { name, provider, pool, use } = account;
  const has = pool?.account;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2.5 text-sm">
      <span className="min-w-0 flex-1 basis-56">
        <b className="font-medium break-all">{name}</b> <span className="text-soft">{provider}</span>
        <span className="block text-xs break-words text-soft">
          {has === undefined ? "has none yet: the first host that is made there claims one" : `has ${has}`} ·{" "}
          {placesOf(pool?.locations ?? [])} · {counted(use?.subjects ?? 0, "resource")} of yours there
        </span>
      </span>
      {has === undefined ? (
        <Chip tone="plain" icon="clock">
          waits for its claim
        </Chip>
      ) : (
        <Chip tone="good" icon="check">
          claimed
        </Chip>
      )}
      {mayGiveBack && has !== undefined ? (
        <Button tone="danger" icon="back" aria-label={`Give back… ${name}`} onClick={() => setGivingBack(true)}>
          Give back…
        </Button>
      ) : undefined}
      {givingBack ? <GiveBackDialog {...{ organization, account }} close={() => setGivingBack(false)} /> : undefined}
    </li>
  );
}

/** The operator's side: every account of the pool, and who has it. */
function Offered() {
  const pool = useQuery({
    queryKey: ["pool"],
    queryFn: async () => (await get<{ items: readonly PoolAccountDocument[] }>("/v1/pool")).items,
    refetchInterval: 10_000,
  });
  const mayAdd = useMay("platform.pool", "create");
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      flush
      title="The operator's pool"
      aside={
        mayAdd ? (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Put one in…
          </Button>
        ) : undefined
      }
    >
      <Answer of={pool} what="the pool">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="stack" title="The pool is empty">
              Organizations claim what stands here, one claimant each. Put an account in here, or with{" "}
              <Command>setpoint pool add NAME --provider hetzner-cloud --credential env:TOKEN</Command>
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {items.map((account) => (
                <OfferedRow key={account.name} account={account} />
              ))}
            </ul>
          )
        }
      </Answer>
      {adding ? <NewPoolAccountDialog close={() => setAdding(false)} /> : undefined}
    </Panel>
  );
}

const states: Readonly<Record<PoolAccountDocument["state"], { readonly tone: Tone; readonly icon: IconName }>> = {
  free: { tone: "good", icon: "check" },
  claimed: { tone: "accent", icon: "building" },
  returned: { tone: "warn", icon: "hand" },
};

function OfferedRow({ account }: { account: PoolAccountDocument }) {
  const [asking, setAsking] = useState<"put-back" | "take-out">();
  const mayPutBack = useMay("platform.pool", "execute");
  const mayTakeOut = useMay("platform.pool", "delete");
  const { name, provider, locations, state, organization, since, callsPerSecond } = account;
  const close = () => setAsking(undefined);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2.5 text-sm">
      <span className="min-w-0 flex-1 basis-56">
        <b className="font-medium break-all">{name}</b> <span className="text-soft">{provider}</span>
        <span className="block text-xs break-words text-soft">
          {placesOf(locations)} · {callsPerSecond} calls/s · {stateWords[state]}{" "}
          {state === "free" ? "" : (organization ?? "somebody")} <Ago at={since} />
          {state === "returned" ? ": waits for your word that it is empty" : ""}
        </span>
      </span>
      <Chip {...states[state]}>{state}</Chip>
      {state !== "free" && mayPutBack ? (
        <Button icon="check" aria-label={`Put back… ${name}`} onClick={() => setAsking("put-back")}>
          Put back…
        </Button>
      ) : undefined}
      {state !== "claimed" && mayTakeOut ? (
        <Button tone="danger" icon="trash" aria-label={`Take out… ${name}`} onClick={() => setAsking("take-out")}>
          Take out…
        </Button>
      ) : undefined}
      {asking === "put-back" ? <PutBackDialog account={account} close={close} /> : undefined}
      {asking === "take-out" ? (
        <RemoveDialog
          organization={undefined}
          path={`/v1/pool/${encodeURIComponent(name)}`}
          name={name}
          means="Nobody can claim it any more. Nothing at the provider is touched: what is there stays there, and its credential stays where it is."
          verb="Take out"
          close={close}
        />
      ) : undefined}
    </li>
  );
}

const stateWords: Readonly<Record<PoolAccountDocument["state"], string>> = {
  free: "there to be claimed",
  claimed: "claimed by",
  returned: "given back by",
};

function placesOf(locations: readonly string[]): string {
  return locations.length === 0 ? "everywhere" : locations.join(", ");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** What somebody may not do is not offered; the API decides again. */
function useMay(permission: string, action: string, organization?: string): boolean {
  const asked = organization === undefined ? { permission, action } : { permission, action, organization };
  return useQuery(mayQuery(asked)).data === true;
}
