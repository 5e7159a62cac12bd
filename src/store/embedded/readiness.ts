import { setTimeout as wait } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";

/** Answers that mean "not yet": no socket, nobody listening, starting up or recovering. */
const NOT_YET: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "57P03"]);
const POLL_MS = 15;

/**
 * Connects until the server takes a query, and returns that connection. Gives up when `signal` fires. Any answer but
 * "not yet" is an error of its own and is thrown as it is.
 */
export async function connectWhenReady(config: ClientConfig, signal: AbortSignal): Promise<Client> {
  for (;;) {
    signal.throwIfAborted();
    const client = new Client(config);
    // The server may go away between two queries; whoever queries next sees that, and nobody else needs to.
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (thrown) {
      const code = (thrown as { code?: unknown }).code;
      const closed = thrown instanceof Error && thrown.message.startsWith("Connection terminated");
      if (!closed && (typeof code !== "string" || !NOT_YET.has(code))) throw thrown;
    }
    await wait(POLL_MS, undefined, { signal });
  }
}
