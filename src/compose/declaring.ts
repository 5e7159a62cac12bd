import type { ApiContext } from "../control-api/context.ts";
import { WatchHub } from "../control-api/watch/hub.ts";
import type { DueEdge } from "../ports/signal.ts";
import type { Database } from "../store/database.ts";
import { PostgresDeclaringStore } from "../store/declaring-store.ts";
import { PostgresIdempotencyStore } from "../store/idempotency-store.ts";
import { PostgresProposalStore } from "../store/proposal-store.ts";

/** What the routes of resources need beside what everybody has. */
export function composeDeclaring(
  context: Pick<ApiContext, "reads" | "kinds" | "clock" | "log">,
  options: {
    readonly database: Database;
    readonly administration: Database;
    readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
    readonly logged?: () => void;
  },
): Pick<ApiContext, "declaring" | "idempotency" | "proposals" | "watches"> {
  return {
    declaring: new PostgresDeclaringStore({ ...options, clock: context.clock }),
    idempotency: new PostgresIdempotencyStore(options),
    proposals: new PostgresProposalStore(options),
    watches: new WatchHub(context),
  };
}
