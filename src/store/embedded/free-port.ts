import { createServer, type AddressInfo } from "node:net";

/** A port of 127.0.0.1 that was free a moment ago. Somebody may take it before it is used, so callers try again. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(port));
  });
  return promise;
}
