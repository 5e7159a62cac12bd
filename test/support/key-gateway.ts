import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

export interface GatewayCall {
  readonly method: string;
  readonly path: string;
  /** The name of the key that it was made with; undefined when it is none of them. */
  readonly key: string | undefined;
  readonly status: number;
  readonly body: string;
}

/** In front of a server that knows one key: lets callers with several of them do what each of them may. */
export interface KeyGateway extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly GatewayCall[];
  /** A key from now on, and the methods that it is good for. No methods: it is refused. */
  allow(name: string, value: string, methods: readonly string[] | "all"): void;
}

export async function startKeyGateway(target: {
  readonly url: string;
  readonly key: string;
  /** So long each call and each answer is on its way: whoever is killed meanwhile has asked, and never hears. */
  readonly onTheWayMs?: number;
}): Promise<KeyGateway> {
  const calls: GatewayCall[] = [];
  const keys = new Map<string, { readonly name: string; readonly methods: readonly string[] | "all" }>();
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url: path = "/", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const onTheWay = () => setTimeout(target.onTheWayMs ?? 0);
    const known = keys.get(String(headers["x-api-key"]));
    const note = (status: number) => calls.push({ method, path, key: known?.name, status, body: body.toString() });
    const may = known !== undefined && (known.methods === "all" || known.methods.includes(method));
    if (!may) {
      note(401);
      response.writeHead(401, { "content-type": "text/plain" }).end("Unauthorized");
      return;
    }
    await onTheWay();
    const answer = await fetch(target.url + path, {
      method,
      headers: { "x-api-key": target.key, ...(chunks.length === 0 ? {} : { "content-type": "application/json" }) },
      ...(chunks.length === 0 ? {} : { body }),
    });
    const answered = Buffer.from(await answer.arrayBuffer());
    note(answer.status);
    await onTheWay();
    response
      .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
      .end(answered);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(502).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    allow: (name, value, methods) => void keys.set(value, { name, methods }),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
