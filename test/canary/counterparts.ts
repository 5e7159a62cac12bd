import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";

export interface Counterpart extends AsyncDisposable {
  readonly port: number;
  /** How often somebody came. */
  calls(): number;
}

async function opened(server: Server | TcpServer, calls: () => number): Promise<Counterpart> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    [Symbol.asyncDispose]: async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Refuses everything, and is careless enough to repeat all it was told: headers and body. */
export async function startTalkativeServer(status: number): Promise<Counterpart> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls++;
    void repeat(request, response, status);
  });
  return await opened(server, () => calls);
}

async function repeat(request: IncomingMessage, response: ServerResponse, status: number): Promise<void> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: `refused: ${JSON.stringify(request.headers)} ${body}` }));
}

/** A mail server that refuses whoever signs in, and repeats what they signed in with. */
export async function startTalkativeMailServer(): Promise<Counterpart> {
  let calls = 0;
  const server = createTcpServer((socket) => {
    calls++;
    socket.on("error", () => undefined);
    socket.write("220 mail.test ESMTP\r\n");
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\r\n").filter((part) => part !== "")) {
        if (/^EHLO|^HELO/i.test(line)) socket.write("250-mail.test\r\n250 AUTH PLAIN\r\n");
        else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
        else {
          const proof = line.split(" ").at(-1) ?? "";
          const told = Buffer.from(proof, "base64").toString("utf8").replaceAll("\u0000", " ");
          socket.write(`535 refused: ${line} ${told}\r\n`);
        }
      }
    });
  });
  return await opened(server, () => calls);
}
