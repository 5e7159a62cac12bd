import assert from "node:assert/strict";
import type { Kind } from "../../src/kernel/kind.ts";
import { cloudNetworkKind } from "../../src/kinds/cloud-network/kind.ts";
import { computeProviderKind } from "../../src/kinds/compute-provider/kind.ts";
import { firewallKind } from "../../src/kinds/firewall/kind.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Log } from "../../src/ports/log.ts";
import type { Provider } from "../../src/ports/provider.ts";
import { createHetznerCloudProvider } from "../../src/providers/hetzner-cloud/provider.ts";
import { worldToken } from "../../src/world/cloud.ts";
import { type Fault, faultSchema } from "../../src/world/fault-schema.ts";
import { World, type WorldOptions } from "../../src/world/world.ts";
import { Bench } from "../kit/index.ts";
import { worldHttp } from "./world-http.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const startMs = 1_767_225_600_000;

export const cloudKinds = [computeProviderKind, firewallKind, cloudNetworkKind] as readonly Kind[];

/** The provider for Hetzner Cloud over a world, each account with the token of the project of its own name. */
export function worldProvider(world: World, clock: Clock): Provider {
  const credentials = {
    read: async (reference: string) => ({ found: true, value: reference.replace(/^token:/, "") }) as const,
  };
  const provider = createHetznerCloudProvider({ http: worldHttp(world, clock), credentials, clock, log: silent });
  return {
    ...provider,
    open: (account) =>
      provider.open({
        ...account,
        settings: { url: "http://world.test/v1" },
        credentialRef: account.credentialRef ?? `token:${worldToken(account.name)}`,
      }),
  };
}

/** The cloud kinds on the bench: production scheduler, kernel and client over a world, on virtual time. */
export class CloudLab {
  readonly bench: Bench;
  readonly world: World;

  private constructor(bench: Bench, world: World) {
    this.bench = bench;
    this.world = world;
  }

  static async open(options: WorldOptions & { readonly callsPerSecond?: number } = {}): Promise<CloudLab> {
    let running: Clock | undefined;
    // The bench brings its clock, and what it is started with needs one. Its time stands still while a call is out: what a call
    // waits for passes in the world alone.
    const clock: Clock = {
      nowMs: () => running?.nowMs() ?? startMs,
      monotonicMs: () => running?.monotonicMs() ?? 0,
      wait: async (ms) => world.advance(ms),
    };
    const world: World = new World(clock, { accounts: ["demo", "other"], ...options });
    const accounts = ["demo", "other"].map((name) => ({
      name,
      provider: "hetzner-cloud",
      callsPerSecond: options.callsPerSecond ?? 1_000,
    }));
    const bench = await Bench.start({ kinds: cloudKinds, providers: [worldProvider(world, clock)], accounts });
    running = bench.time.clock();
    return new CloudLab(bench, world);
  }

  /** Somebody at the provider's own console. */
  console(method: string, path: string, body?: unknown, account = "demo"): Record<string, unknown> {
    const cloud = this.world.clouds[0] ?? assert.fail("no cloud");
    const [route = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: `/v1${route}`, query: new URLSearchParams(query), headers: {}, body: text };
    const answer = this.world.asConsole(cloud, account, request, route);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return (answer.body ?? {}) as Record<string, unknown>;
  }

  list<Entry = Record<string, unknown>>(collection: string, account = "demo"): readonly Entry[] {
    return this.console("GET", `/${collection}?per_page=50`, undefined, account)[collection] as readonly Entry[];
  }

  fault(fault: unknown): Fault {
    const parsed = faultSchema.parse(fault);
    this.world.core.tray.place(parsed);
    return parsed;
  }

  heal(): void {
    this.world.core.tray.clear();
  }

  /** Requests that could change something, made by Setpoint since the given one. */
  writes(after = 0): readonly string[] {
    return this.world.log
      .after(after)
      .filter(({ method, actor, path }) => method !== "GET" && actor === "api" && path !== "/ssh_keys")
      .map(({ method, path }) => `${method} ${path}`);
  }

  get lastRequest(): number {
    return this.world.log.after(0).at(-1)?.number ?? 0;
  }
}
