import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

interface Waiting {
  readonly request: string;
  resolve(answer: HttpAnswer): void;
  reject(error: Error): void;
}

/**
 * Connections that are kept open, each with one request at a time. It knows just enough of HTTP/1.1 for an answer with a length:
 * whoever asks shares the machine with whoever answers, and a complete client would take a quarter of what is measured.
 */
export class HttpCaller {
  readonly #host: string;
  readonly #port: number;
  readonly #headers: string;
  readonly #idle: Connection[] = [];
  readonly #waiting: Waiting[] = [];

  constructor(options: {
    readonly origin: string;
    readonly connections: number;
    readonly headers: Readonly<Record<string, string>>;
  }) {
    const { hostname, port } = new URL(options.origin);
    this.#host = hostname;
    this.#port = Number(port);
    this.#headers = Object.entries({ host: `${hostname}:${port}`, ...options.headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    for (let index = 0; index < options.connections; index++)
      this.#idle.push(new Connection(connect({ host: this.#host, port: this.#port, noDelay: true })));
  }

  ask(method: "GET" | "POST", path: string, body = ""): Promise<HttpAnswer> {
    const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
    const request = `${method} ${path} HTTP/1.1\r\n${this.#headers}${length}\r\n${body}`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.map((connection) => connection.end()));
  }

  #next(): void {
    const connection = this.#waiting.length === 0 ? undefined : this.#idle.pop();
    const waiting = connection === undefined ? undefined : this.#waiting.shift();
    if (connection === undefined || waiting === undefined) return;
    connection.exchange(waiting.request, (answer) => {
      if (answer instanceof Error) return waiting.reject(answer);
      this.#idle.push(connection);
      waiting.resolve(answer);
      this.#next();
    });
  }
}

class Connection {
  readonly #socket: Socket;
  #read: Buffer[] = [];
  #answered: ((answer: HttpAnswer | Error) => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#answered?.(error));
    socket.on("close", () => this.#answered?.(new Error("The API closed a connection without an answer")));
  }

  exchange(request: string, answered: (answer: HttpAnswer | Error) => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  async end(): Promise<void> {
    const closed = once(this.#socket, "close");
    this.#socket.destroy();
    await closed;
  }

  #take(chunk: Buffer): void {
    this.#read.push(chunk);
    const bytes = this.#read.length === 1 ? chunk : Buffer.concat(this.#read);
    const end = bytes.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = bytes.toString("latin1", 0, end);
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    if (length === undefined) return this.#end(new Error(`An answer came without its length: ${head}`));
    const whole = end + 4 + Number(length);
    if (bytes.length >= whole)
      this.#end({ status: Number(head.slice(9, 12)), text: bytes.toString("utf8", end + 4, whole) });
  }

  #end(answer: HttpAnswer | Error): void {
    const answered = this.#answered;
    this.#answered = undefined;
    this.#read = [];
    answered?.(answer);
  }
}
