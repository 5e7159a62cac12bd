import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What becomes of one message of an answer: passed on, changed, kept back for ever, or the connection is cut there. */
export type Fault = (message: Buffer, index: number, question: Buffer) => Buffer | "cut" | "silent";

export interface DnsProxy extends AsyncDisposable {
  readonly port: number;
  fault: Fault | undefined;
  /** Questions by type, since the last time somebody set this to nothing. */
  asked: string[];
}

/** Stands between a client and a real name server, and spoils answers as it is told. */
export async function startDnsProxy(serverPort: number): Promise<DnsProxy> {
  const open = new Set<Socket>();
  const proxy: { fault: Fault | undefined; asked: string[] } = { fault: undefined, asked: [] };
  const listener = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: serverPort });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    let question = Buffer.alloc(0);
    let index = 0;
    eachMessage(client, (message) => {
      question = Buffer.from(message);
      proxy.asked.push(askedOf(question));
      upstream.write(framed(message));
    });
    eachMessage(upstream, (message) => {
      const passed = proxy.fault?.(message, index++, question) ?? message;
      if (passed === "cut") client.destroy();
      else if (passed !== "silent") client.write(framed(passed));
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.end());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  return Object.assign(proxy, {
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
}

/** Which operation, or which type was asked for. */
function askedOf(question: Buffer): string {
  if (((question[2] ?? 0) >> 3) % 16 === 5) return "UPDATE";
  let at = 12;
  while ((question[at] ?? 0) !== 0) at += (question[at] ?? 0) + 1;
  const type = question.readUInt16BE(at + 1);
  return { 6: "SOA", 251: "IXFR", 252: "AXFR" }[type] ?? String(type);
}

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

function eachMessage(socket: Socket, receive: (message: Buffer) => void): void {
  let collected = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    collected = Buffer.concat([collected, chunk]);
    while (collected.length >= 2 && collected.length >= collected.readUInt16BE(0) + 2) {
      const end = collected.readUInt16BE(0) + 2;
      receive(collected.subarray(2, end));
      collected = collected.subarray(end);
    }
  });
}
