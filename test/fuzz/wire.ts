import { Agent, request } from "node:http";
import { connect } from "node:net";
import type { RawRequest } from "./raw-requests.ts";

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly tookMs: number;
}

/** Whoever has not answered by then hangs; on any machine. */
export const hangMs = 10_000;

/** A real connection to the server, so that what arrives is what a stranger would send. */
export class Wire {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });

  constructor(port: number) {
    this.#port = port;
  }

  /** Streams are closed as soon as they began. Rejects when there is no answer in time. */
  send({ method, path, headers, body }: Sent): Promise<Received> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: this.#port,
          method,
          path,
          headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
          agent: this.#agent,
          signal: AbortSignal.timeout(hangMs),
        },
        (answer) => {
          const chunks: Buffer[] = [];
          const done = () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              text: Buffer.concat(chunks).toString("utf8"),
              tookMs: performance.now() - startedAt,
            });
          if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) {
            done();
            sent.destroy();
            return;
          }
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.once("end", done);
          answer.once("error", reject);
        },
      );
      sent.once("error", reject);
      sent.end(body);
    });
  }

  /** Bytes as they are, on a connection of their own. What came back before it was closed, which may be nothing. */
  raw({ bytes, hangsUp }: RawRequest): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(this.#port, "127.0.0.1", () => (hangsUp ? socket.end(bytes) : socket.write(bytes)));
      socket.setTimeout(hangMs, () => socket.destroy(new Error("no answer, and the connection is left open")));
      socket.on("data", (chunk: Buffer) => chunks.push(chunk));
      socket.once("error", (error: NodeJS.ErrnoException) =>
        // A server may hang up on whoever goes on talking nonsense.
        error.code === "ECONNRESET" || error.code === "EPIPE"
          ? resolve(Buffer.concat(chunks).toString("latin1"))
          : reject(error),
      );
      socket.once("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
