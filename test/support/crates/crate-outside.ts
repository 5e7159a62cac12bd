import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CrateCall {
  readonly method: string;
  readonly path: string;
  /** The process that asked. */
  readonly worker: number;
  readonly atMs: number;
}

interface Crate {
  things: number;
  label?: string;
  sealed: boolean;
  /** Who keeps it from being taken away. */
  lockedBy?: string;
}

/** The outside of crates: what there is, every call that was made to it, and every change that it made. */
export class CrateOutside implements AsyncDisposable {
  readonly crates = new Map<string, Crate>();
  /** By idempotency key. */
  readonly letters = new Map<string, string>();
  readonly calls: CrateCall[] = [];
  readonly effects: string[] = [];
  /** Whose gate is open. */
  isOpen: (name: string) => boolean = () => false;
  /** What a path is answered instead, if anything. */
  refuses: (call: CrateCall) => { readonly status: number; readonly text: string } | undefined = () => undefined;
  /** Whose answers are kept back until `letGo`. */
  holds: (call: CrateCall) => boolean = () => false;
  readonly #held: (() => void)[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async open(): Promise<CrateOutside> {
    const outside = new CrateOutside();
    await new Promise<void>((resolve) => outside.#server.listen(0, "127.0.0.1", resolve));
    return outside;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get held(): number {
    return this.#held.length;
  }

  letGo(): void {
    this.holds = () => false;
    for (const answer of this.#held.splice(0)) answer();
  }

  callsOf(worker: number): readonly CrateCall[] {
    return this.calls.filter((call) => call.worker === worker);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // Whoever asked died in the middle of it.
      return;
    }
    const { method = "GET", url: path = "/", headers } = request;
    const call = { method, path, worker: Number(headers["x-worker"]), atMs: performance.now() };
    this.calls.push(call);
    const body = Buffer.concat(chunks).toString("utf8");
    const { status, text } = this.refuses(call) ?? this.#answer(call, body, String(headers["idempotency-key"]));
    const answer = () => void response.writeHead(status).end(text);
    if (this.holds(call)) this.#held.push(answer);
    else answer();
  }

  #answer({ method, path }: CrateCall, body: string, key: string): { readonly status: number; readonly text: string } {
    const [, place = "", name = "", part] = path.split("/");
    if (place === "gate") return { status: 200, text: this.isOpen(name) ? "open" : "shut" };
    if (place === "letters") {
      if (!this.letters.has(key)) this.effects.push(`letter ${body}`);
      this.letters.set(key, body);
      return { status: 200, text: "" };
    }
    const crate = this.crates.get(name);
    if (method === "POST") return this.#pack(name, crate, body);
    if (crate === undefined) return { status: method === "DELETE" ? 200 : 404, text: `there is no crate ${name}` };
    if (method === "GET") return { status: 200, text: JSON.stringify(crate) };
    this.effects.push(`${method === "DELETE" ? "unpack" : part} ${name}`);
    if (method === "DELETE") this.crates.delete(name);
    else if (part === "label") crate.label = name;
    else crate.sealed = true;
    return { status: 200, text: "" };
  }

  #pack(name: string, crate: Crate | undefined, body: string) {
    if (crate !== undefined) return { status: 409, text: `crate ${name} is there already` };
    this.crates.set(name, { things: (JSON.parse(body) as { things: number }).things, sealed: false });
    this.effects.push(`pack ${name}`);
    return { status: 201, text: "" };
  }
}
