import { startEmbeddedServer } from "../../src/store/embedded/server.ts";
import { QUICK_SETTINGS } from "./postgres.ts";

/**
 * A process of its own that runs the embedded server until it is killed, for tests that kill it. It prints one line
 * of JSON: the process ids and the URL when the server is ready, or the error when it did not start.
 */
const dataDirectory = process.argv[2];
if (dataDirectory === undefined) throw new Error("Usage: embedded-server-child.ts <data directory>");

let pids: Record<string, unknown> = {};
try {
  const server = await startEmbeddedServer({
    dataDirectory,
    settings: QUICK_SETTINGS,
    log(event, fields) {
      if (event === "embedded-postgres.ready") pids = { serverPid: fields?.["pid"], guardPid: fields?.["guardPid"] };
    },
  });
  process.once("SIGTERM", () => void server.stop());
  process.stdout.write(`${JSON.stringify({ ...pids, url: server.url })}\n`);
} catch (thrown) {
  process.stdout.write(`${JSON.stringify({ error: thrown instanceof Error ? thrown.message : String(thrown) })}\n`);
}
