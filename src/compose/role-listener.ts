import { createServer } from "node:http";
import { listenAddress, portError } from "./port-error.ts";

/** Health and metrics of a role that has no HTTP of its own, for whoever runs it apart. */
export async function startRoleListener(port: number, metrics: () => Promise<string>): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { "content-type": type }).end(body);
    if (request.method !== "GET") answer(405, "text/plain; charset=utf-8", "Only GET is understood here.\n");
    else if (request.url === "/healthz") answer(200, "application/json", '{"status":"ok"}\n');
    else if (request.url === "/metrics") {
      metrics().then(
        (text) => answer(200, "text/plain; version=0.0.4; charset=utf-8", text),
        () => answer(500, "text/plain; charset=utf-8", "The metrics could not be read.\n"),
      );
    } else answer(404, "text/plain; charset=utf-8", "There is /healthz and /metrics here.\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(portError(error, port)));
    server.listen(port, listenAddress, resolve);
  });
  return {
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
