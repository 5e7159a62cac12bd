import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Whole passes everything on, cut refuses everybody, and silent keeps connections while nothing comes through them ever again. */
type State = "whole" | "cut" | "silent";

/** Between a browser and whoever serves it. */
export interface Wire extends AsyncDisposable {
  /** The same server by way of here, as browsers know it. */
  readonly url: string;
  set(state: State): void;
}

export async function startWire(serverUrl: string): Promise<Wire> {
  const serverPort = Number(new URL(serverUrl).port);
  const open = new Set<Socket>();
  let state: State = "whole";
  let silent = new Set<Socket>();
  const listener = createServer((client) => {
    if (state === "cut") {
      client.destroy();
      return;
    }
    const upstream = connect({ host: "127.0.0.1", port: serverPort });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    if (state === "silent") silent.add(client);
    client
      .on("data", (bytes) => void (silent.has(client) || upstream.write(bytes)))
      .on("close", () => upstream.destroy());
    upstream
      .on("data", (bytes) => void (silent.has(client) || client.write(bytes)))
      .on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://localhost:${port}`,
    set: (next) => {
      state = next;
      if (next === "cut") cut();
      if (next === "silent") silent = new Set(open);
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
