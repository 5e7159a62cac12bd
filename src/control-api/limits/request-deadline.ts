import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { Problem } from "../problem.ts";

/** A request is given up at most this part of its time late. */
const lateBy = 0.1;

/**
 * Answers requests that take too long. One watch over all of them, because a timer and a signal for each would cost as much as
 * everything else that is done before a handler. Each has a place that the next one uses again: a map that thousands pass
 * through keeps them for the garbage collector for much longer than they last.
 */
export function registerDeadline(app: FastifyInstance, clock: Clock, requestMs: number): void {
  const open: ({ readonly reply: FastifyReply; readonly untilMs: number } | undefined)[] = [];
  const free: number[] = [];
  const closing = new AbortController();
  let watching = false;
  const watch = async () => {
    while (free.length < open.length && !closing.signal.aborted) {
      await clock.wait(requestMs * lateBy, closing.signal);
      const nowMs = clock.monotonicMs();
      for (const one of open) if (one !== undefined && one.untilMs <= nowMs) giveUp(one.reply);
    }
    watching = false;
  };
  app.addHook("onRequest", (_request, reply, done) => {
    const place = free.pop() ?? open.length;
    open[place] = { reply, untilMs: clock.monotonicMs() + requestMs };
    reply.raw.once("close", () => {
      open[place] = undefined;
      free.push(place);
    });
    if (!watching) {
      watching = true;
      void watch();
    }
    done();
  });
  app.addHook("onClose", async () => closing.abort());
}

function giveUp(reply: FastifyReply): void {
  // Streams were handed over: they end when whoever writes them, or reads them, ends them.
  if (reply.sent) return;
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const words = "This took too long and was given up. It may still have happened: read before you repeat it";
  void reply.send(new Problem("UNAVAILABLE", words, { retryAfterSeconds: 5 }));
}
