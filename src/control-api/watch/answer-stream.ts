import type { FastifyReply } from "fastify";
import type { AnswerStream, RouteAnswer } from "../route.ts";

/** So much may wait for a reader. One that is slower is disconnected, and goes on where it was when it comes back. */
const waitingAtMostBytes = 1024 * 1024;

/** Hands the connection over to whoever answers it bit by bit. */
export function startStream(reply: FastifyReply, { status, headers, stream }: RouteAnswer): void {
  const { raw } = reply;
  const closed = new AbortController();
  raw.on("close", () => closed.abort());
  // What the other end does to its connection is no error of ours.
  raw.on("error", () => closed.abort());
  reply.hijack();
  raw.writeHead(status, {
    ...(reply.getHeaders() as Record<string, string>),
    ...(headers as Record<string, string>),
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    // Nothing else comes over this connection; kept for a next request, it would keep the server from ending.
    connection: "close",
  });
  raw.flushHeaders();
  stream?.({
    closed: closed.signal,
    write: (text) => {
      if (closed.signal.aborted) return false;
      raw.write(text);
      if (raw.writableLength <= waitingAtMostBytes) return true;
      raw.destroy();
      return false;
    },
    drained: () =>
      closed.signal.aborted || !raw.writableNeedDrain
        ? Promise.resolve()
        : new Promise((resolve) => {
            raw.once("drain", resolve);
            closed.signal.addEventListener("abort", () => resolve(), { once: true });
          }),
    end: () => void raw.end(),
  } satisfies AnswerStream);
}
