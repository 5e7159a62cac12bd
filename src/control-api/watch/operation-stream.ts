import { isLive } from "../../kernel/steering.ts";
import type { ApiContext } from "../context.ts";
import { operationDocument, stepDocument } from "../operation-document.ts";
import type { AnswerStream, RouteAnswer } from "../route.ts";

type Found = NonNullable<Awaited<ReturnType<ApiContext["operations"]["findOperation"]>>>;

/** How often somebody who watches is told what is new. */
const EVERY_MS = 500;
/** A comment now and then keeps what lies between from ending a quiet connection. */
const QUIET_TURNS = 30;

/** Steps and states as they come, until the operation ends. `Last-Event-ID` is the place in the journal to go on from. */
export function watchOperation(context: ApiContext, first: Found, lastEventId: string | undefined): RouteAnswer {
  const from = /^\d{1,9}$/.test(lastEventId ?? "") ? Number(lastEventId) : 0;
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    stream: (to) => void tell(context, first, from, to),
  };
}

async function tell(context: ApiContext, first: Found, from: number, to: AnswerStream): Promise<void> {
  const ref = { organizationId: first.organizationId, operationId: first.id };
  let found: Found | undefined = first;
  let [place, revision, quiet] = [from, -1, 0];
  try {
    while (found !== undefined && !to.closed.aborted) {
      const news = found.journal.filter((entry) => entry.place > place);
      for (const entry of news) to.write(event("step", stepDocument(entry), entry.place));
      place = found.journal.at(-1)?.place ?? place;
      if (found.revision !== revision) to.write(event("operation", operationDocument(context, found), place));
      else if (++quiet % QUIET_TURNS === 0) to.write(": still here\n\n");
      revision = found.revision;
      if (!isLive(found)) break;
      await to.drained();
      await context.clock.wait(EVERY_MS, to.closed);
      found = await context.operations.findOperation(ref);
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    context.log.warn("operations.watch_failed", { operation: first.id, message });
  } finally {
    to.end();
  }
}

function event(name: string, data: unknown, id: number): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
