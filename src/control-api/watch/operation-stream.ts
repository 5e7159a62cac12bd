import { thrownMessage } from "../../kernel/errors.ts";
import { isLive } from "../../kernel/steering.ts";
import type { ApiContext } from "../context.ts";
import type { Caller } from "../access/caller.ts";
import { type FoundOperation, mayReadOperation } from "../operation-access.ts";
import { isInQueue, operationDocumentOf, stepDocument } from "../operation-document.ts";
import type { AnswerStream, RouteAnswer } from "../route.ts";
import type { ResolvedScope } from "../scope.ts";

interface Watched {
  readonly place: Pick<ResolvedScope, "organization">;
  readonly found: FoundOperation;
  readonly caller: Caller;
}

/** How often somebody who watches is told what is new. */
const EVERY_MS = 500;
/** A comment now and then keeps what lies between from ending a quiet connection. */
const QUIET_TURNS = 30;
/** Every so many turns it is asked whether the caller still may, and where in the queue the operation stands. */
const SLOW_TURNS = 4;

/** Steps and states as they come, until the operation ends. `Last-Event-ID` is the place in the journal to go on from. */
export function watchOperation(context: ApiContext, watched: Watched, lastEventId: string | undefined): RouteAnswer {
  const from = /^\d{1,9}$/.test(lastEventId ?? "") ? Number(lastEventId) : 0;
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    stream: (to) => void tell(context, watched, from, to),
  };
}

async function tell(context: ApiContext, watched: Watched, from: number, to: AnswerStream): Promise<void> {
  const { organizationId, id: operationId } = watched.found;
  let found: FoundOperation | undefined = watched.found;
  let told: { readonly revision: number; readonly waitsFor: string | undefined } = {
    revision: -1,
    waitsFor: undefined,
  };
  let place = from;
  try {
    for (let turn = 0; found !== undefined && !to.closed.aborted; turn++) {
      const isSlow = turn % SLOW_TURNS === 0;
      // A revoked credential or a role that was taken away ends it within seconds.
      if (isSlow && turn > 0 && !(await stillReads(context, watched))) break;
      const news = found.journal.filter((entry) => entry.place > place);
      for (const entry of news) to.write(event("step", stepDocument(entry), entry.place));
      place = found.journal.at(-1)?.place ?? place;
      const moved: boolean = found.revision !== told.revision;
      if (moved || (isSlow && isInQueue(found))) {
        const document = await operationDocumentOf(context, found);
        if (moved || document.waitsFor !== told.waitsFor) to.write(event("operation", document, place));
        told = { revision: found.revision, waitsFor: document.waitsFor };
      }
      if (turn % QUIET_TURNS === QUIET_TURNS - 1) to.write(": still here\n\n");
      if (!isLive(found)) break;
      await to.drained();
      await context.clock.wait(EVERY_MS, to.closed);
      found = await context.operations.findOperation({ organizationId, operationId });
    }
  } catch (thrown) {
    const message = thrownMessage(thrown);
    context.log.warn("operations.watch_failed", { operation: operationId, message });
  } finally {
    to.end();
  }
}

async function stillReads(context: ApiContext, { place, found, caller }: Watched): Promise<boolean> {
  const now = await context.authenticator.renew(caller);
  return now !== undefined && mayReadOperation(context, now, place.organization, found);
}

function event(name: string, data: unknown, id: number): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
