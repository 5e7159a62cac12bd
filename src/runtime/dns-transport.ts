import { connect } from "node:net";
import type { DnsExchange, DnsSilence, DnsTransport } from "../ports/dns-transport.ts";

/** Real connections. */
export function createDnsTransport(): DnsTransport {
  return Object.freeze({ stream });
}

function stream(exchange: DnsExchange): Promise<{ readonly answered: true } | DnsSilence> {
  const { server, port, message, timeoutMs, signal } = exchange;
  if (signal.aborted)
    return Promise.resolve({
      answered: false,
      reason: "aborted",
      sent: false,
      message: "the call was ended before it began",
    });
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server, port });
    const collected = new Messages();
    let sent = false;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      socket.removeAllListeners().on("error", () => undefined);
      socket.destroy();
      settle();
    };
    const silent = (reason: DnsSilence["reason"], text: string) =>
      end(() => resolve({ answered: false, reason, sent, message: text }));
    const aborted = () => silent("aborted", "the call was ended by its caller");
    const timer = setTimeout(() => silent("timeout", `no whole answer within ${timeoutMs} ms`), timeoutMs);
    signal.addEventListener("abort", aborted);
    socket.on("connect", () => {
      sent = true;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      socket.write(Buffer.concat([length, message]));
    });
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const whole of collected.add(chunk))
          if (exchange.receive(whole)) return end(() => resolve({ answered: true }));
      } catch (thrown) {
        end(() => reject(thrown instanceof Error ? thrown : new Error(String(thrown))));
      }
    });
    socket.on("error", (error) => silent("connection", error.message));
    socket.on("close", () => silent("connection", "the connection was closed before the answer was whole"));
  });
}

/** Cuts what arrives into messages: two bytes of length before each (RFC 1035 4.2.2). */
class Messages {
  #chunks: Buffer[] = [];
  #bytes = 0;

  *add(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (;;) {
      if (this.#bytes < 2) return;
      const [first] = this.#chunks;
      // The length is read from what is joined once: joining at every chunk would copy a long answer again and again.
      if (first === undefined || first.length < 2) this.#join();
      const length = (this.#chunks[0] as Buffer).readUInt16BE(0);
      if (this.#bytes < length + 2) return;
      this.#join();
      const all = this.#chunks[0] as Buffer;
      this.#chunks = [all.subarray(length + 2)];
      this.#bytes -= length + 2;
      yield all.subarray(2, length + 2);
    }
  }

  #join(): void {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
  }
}
