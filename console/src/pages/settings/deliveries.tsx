import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { DeliveryDocument, MailedDocument } from "../../api/types.ts";
import { useAction } from "../../components/action.ts";
import { Button } from "../../components/button.tsx";
import { Mark, type Tone } from "../../components/mark.tsx";
import type { IconName } from "../../components/icons.tsx";
import { Answer, ProblemNote } from "../../components/states.tsx";
import { Ago, Until } from "../../components/time.tsx";

const states: Readonly<Record<DeliveryDocument["state"], { tone: Tone; icon: IconName }>> = {
  delivered: { tone: "good", icon: "check" },
  pending: { tone: "accent", icon: "clock" },
  failed: { tone: "bad", icon: "cross" },
};

/** What was sent to one place, with every answer. */
export function Deliveries({ organization, webhook }: { organization: string; webhook: string }) {
  const path = `${base(organization)}/webhooks/${webhook}/deliveries`;
  const deliveries = useQuery({
    queryKey: [...keys.record(organization, "webhook"), webhook, "deliveries"],
    queryFn: async () => (await get<{ items: readonly DeliveryDocument[] }>(path)).items,
    refetchInterval: 3_000,
  });
  const replay = useAction(organization, (id: string) => api("POST", `${path}/${id}:replay`));
  return (
    <div className="mt-2 rounded-md border border-line">
      <Answer of={deliveries} what="what was sent">
        {(items) =>
          items.length === 0 ? (
            <p className="px-3 py-2 text-sm text-soft">Nothing was sent there yet.</p>
          ) : (
            <ul className="max-h-80 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label="Deliveries">
              {items.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery}>
                  <Button aria-label={`Send again: ${delivery.type}`} onClick={() => replay.mutate(delivery.id)}>
                    Send again
                  </Button>
                </DeliveryRow>
              ))}
            </ul>
          )
        }
      </Answer>
      {replay.error === null ? undefined : <ProblemNote error={replay.error} />}
    </div>
  );
}

/** What became of one message: how often it was tried, and what was answered last. */
function DeliveryRow({ delivery, to, children }: { delivery: DeliveryDocument; to?: string; children?: ReactNode }) {
  return (
    <li className="px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-3">
        <Mark {...states[delivery.state]}>{delivery.state}</Mark>
        <code className="text-xs">{delivery.type}</code>
        {to === undefined ? undefined : <span className="text-xs break-all">to {to}</span>}
        <span className="text-xs text-soft">
          {delivery.attempts} attempt{delivery.attempts === 1 ? "" : "s"}
          {delivery.nextTryAt === undefined ? undefined : (
            <>
              , the next <Until at={delivery.nextTryAt} />
            </>
          )}
        </span>
        <span className="flex-1" />
        <Ago at={delivery.createdAt} className="text-xs text-soft" />
        {children}
      </p>
      {delivery.answers.slice(-2).map((answer) => (
        <p key={answer.at} className="text-xs break-all text-soft">
          {answer.status === undefined ? "" : `${answer.status} · `}
          {answer.text.slice(0, 200)}
        </p>
      ))}
    </li>
  );
}

/** What was mailed to whom, with what the mail server answered. */
export function Mailed({ organization }: { organization: string }) {
  const mailed = useQuery({
    queryKey: [...keys.record(organization, "notification-emails"), "deliveries"],
    queryFn: async () =>
      (await get<{ items: readonly MailedDocument[] }>(`${base(organization)}/notification-emails/deliveries`)).items,
    refetchInterval: 10_000,
  });
  return (
    <div className="mt-3 rounded-md border border-line">
      <h3 className="border-b border-line px-3 py-1.5 text-xs font-semibold text-soft">What was mailed</h3>
      <Answer of={mailed} what="what was mailed">
        {(items) =>
          items.length === 0 ? (
            <p className="px-3 py-2 text-sm text-soft">Nothing was mailed yet.</p>
          ) : (
            <ul className="max-h-80 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label="What was mailed">
              {items.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} to={delivery.address} />
              ))}
            </ul>
          )
        }
      </Answer>
    </div>
  );
}
