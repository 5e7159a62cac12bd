import { useQuery } from "@tanstack/react-query";
import { api, get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type { DeliveryDocument } from "../../api/types.ts";
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
                <li key={delivery.id} className="px-3 py-2">
                  <p className="flex flex-wrap items-center gap-x-3">
                    <Mark {...states[delivery.state]}>{delivery.state}</Mark>
                    <code className="text-xs">{delivery.type}</code>
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
                    <Button aria-label={`Send again: ${delivery.type}`} onClick={() => replay.mutate(delivery.id)}>
                      Send again
                    </Button>
                  </p>
                  {delivery.answers.slice(-2).map((answer) => (
                    <p key={answer.at} className="text-xs break-all text-soft">
                      {answer.status === undefined ? "" : `${answer.status} · `}
                      {answer.text.slice(0, 200)}
                    </p>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {replay.error === null ? undefined : <ProblemNote error={replay.error} />}
    </div>
  );
}
