import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { Problem } from "../problem.ts";

/**
 * Answers requests that take too long. One watch over all of them: all have the same time, so that the oldest is due first, and a
 * timer and a signal for each would cost as much as everything else that is done for a request before its handler.
 */
export function registerDeadline(app: FastifyInstance, clock: Clock, requestMs: number): void {
  const open = new Map<FastifyReply, number>();
  const closing = new AbortController();
  let watching = false;
  const watch = async () => {
    for (const [reply, untilMs] of open) {
      const leftMs = untilMs - clock.monotonicMs();
      if (leftMs > 0) await clock.wait(leftMs, closing.signal);
      if (closing.signal.aborted) break;
      if (open.delete(reply)) giveUp(reply);
    }
    watching = false;
  };
  app.addHook("onRequest", (_request, reply, done) => {
    open.set(reply, clock.monotonicMs() + requestMs);
    reply.raw.once("close", () => open.delete(reply));
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
