import { worldToken } from "../../src/world/account-book.ts";
import type { WorldAnswer, WorldReaction } from "../../src/world/exchange.ts";
import type { Fault } from "../../src/world/fault-schema.ts";
import { World, type WorldOptions } from "../../src/world/world.ts";
import { ManualClock } from "./manual-clock.ts";

/** A world in this process, asked without a network. Its time moves only when it is told to. */
export class TestWorld {
  readonly world: World;

  constructor(options: WorldOptions = {}) {
    this.world = new World(new ManualClock(), options);
  }

  react(method: string, path: string, body?: unknown, token = worldToken("demo")): WorldReaction {
    const [bare = "", query = ""] = path.split("?");
    return this.world.handle({
      method,
      path: bare,
      query: new URLSearchParams(query),
      headers: { authorization: `Bearer ${token}` },
      body: body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  ask(method: string, path: string, body?: unknown, token?: string): WorldAnswer {
    return this.react(method, path, body, token).answer;
  }

  /** What the answer holds below a key, once it is known to have come with this status. */
  take<T = Record<string, unknown>>(status: number, method: string, path: string, body?: unknown): T {
    const answer = this.ask(method, path, body);
    if (answer.status === status) return answer.body as T;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  fault(fault: { readonly kind: Fault["kind"] } & Readonly<Record<string, unknown>>): number {
    return this.take<{ id: number }>(201, "POST", "/_world/faults", fault).id;
  }

  pass(seconds: number): void {
    this.take(200, "POST", "/_world/clock", { advanceSeconds: seconds });
  }
}

export interface ServerBody {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
}

export const smallServer = { name: "web-1", server_type: "cx23", image: "debian-13", location: "nbg1" };
