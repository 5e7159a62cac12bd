import assert from "node:assert/strict";
import { readInventory } from "../../src/kernel/inventory.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ComputeEngine, ComputeReader, ServerIntent } from "../../src/ports/compute.ts";
import type { Http } from "../../src/ports/http.ts";
import type { Provider, ProviderAccount } from "../../src/ports/provider.ts";
import type { AccountRecord } from "../../src/ports/records.ts";
import { createHetznerCloudProvider } from "../../src/providers/hetzner-cloud/provider.ts";
import { createIonosProvider } from "../../src/providers/ionos/provider.ts";
import type { RestWorld } from "../../src/providers/rest-client.ts";
import { createHttpClient } from "../../src/runtime/http-client.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { worldToken } from "../../src/world/account-book.ts";
import type { Fault } from "../../src/world/fault-schema.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";

/** One of the two clouds, as far as they differ for who makes and lists servers. */
export interface CloudSide {
  readonly title: string;
  readonly cloud: "hetzner-cloud" | "ionos";
  readonly basePath: string;
  /** So many servers are three pages of its client. */
  readonly filled: number;
  readonly order: Pick<ServerIntent, "type" | "image" | "location">;
  /** Where servers are listed and made, behind the base path. */
  readonly path: RegExp;
  /** The place by the provider's own name. */
  readonly region: string;
  readonly provider: (world: RestWorld) => Provider;
}

export const cloudSides: readonly CloudSide[] = [
  {
    title: "Hetzner Cloud",
    cloud: "hetzner-cloud",
    basePath: "/v1",
    filled: 120,
    order: { type: "cx22", image: "debian-12", location: "fsn1" },
    path: /^\/servers$/,
    region: "fsn1",
    provider: (world) => createHetznerCloudProvider({ ...world, resolver: { nameservers: async () => [] } }),
  },
  {
    title: "IONOS",
    cloud: "ionos",
    basePath: "/cloudapi/v6",
    filled: 420,
    order: { type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main" },
    path: /^\/datacenters\/[^/]+\/servers$/,
    region: "de/fra",
    provider: createIonosProvider,
  },
];

/** The deadline of a call that is never answered: it is always waited out, so it decides nothing but how long that takes. */
export const silentDeadlineMs = 2_000;

export type AimedFault = { readonly kind: Fault["kind"]; readonly method?: string; readonly ms?: number } & Readonly<
  Record<string, unknown>
>;

/** Which calls to servers are never answered just now. */
interface Silence {
  method: string | undefined;
}

/** Our own client with its own HTTP against a world that listens, which is set and looked at over HTTP as well. */
export class CloudOverHttp implements AsyncDisposable {
  readonly side: CloudSide;
  readonly account: ProviderAccount<ComputeReader, ComputeEngine>;
  readonly intent: ServerIntent;
  /** What the client wrote into its log. */
  readonly lines: readonly string[];
  /** How long answers were kept back. */
  readonly waitsMs: readonly number[];
  readonly signal = new AbortController().signal;
  readonly #clock: Clock;
  readonly #silence: Silence;
  readonly #url: string;
  readonly #ends: AsyncDisposableStack;

  private constructor(
    side: CloudSide,
    given: Pick<CloudOverHttp, "account" | "lines" | "waitsMs">,
    inner: {
      readonly clock: Clock;
      readonly silence: Silence;
      readonly url: string;
      readonly ends: AsyncDisposableStack;
    },
  ) {
    this.side = side;
    this.account = given.account;
    this.lines = given.lines;
    this.waitsMs = given.waitsMs;
    this.#clock = inner.clock;
    this.#silence = inner.silence;
    this.#url = inner.url;
    this.#ends = inner.ends;
    const mark = { installationId: "installation-1", resourceUid: "uid-1" };
    const publicAddresses = { ipv4: true, ipv6: false };
    const empty = { labels: {}, networks: [], firewalls: [], sshKeys: [] };
    this.intent = { name: "web-1", mark, ...side.order, ...empty, publicAddresses, userData: undefined };
  }

  static async open(side: CloudSide, { pace = 0 }: { readonly pace?: number } = {}) {
    const ends = new AsyncDisposableStack();
    const world = new World(systemClock, { accounts: ["demo", "other"], pace });
    const waitsMs: number[] = [];
    // Who is kept back past every deadline is kept back indeed; a delay within it is only noted.
    const keepBack: Clock["wait"] = async (ms, signal) => {
      waitsMs.push(ms);
      if (ms >= 60_000) await systemClock.wait(ms, signal);
    };
    const server = ends.use(await serveWorld(world, { ...systemClock, wait: keepBack }, 0));
    const wire = ends.use(createHttpClient());
    const silence: Silence = { method: undefined };
    const http: Http = {
      request: (request) => {
        const { pathname } = new URL(request.url);
        const isSilent = request.method === silence.method && side.path.test(pathname.slice(side.basePath.length));
        // Nobody waits for the usual deadline where no answer comes, and nobody is hurried where one does.
        return wire.request({ ...request, timeoutMs: isSilent ? silentDeadlineMs : 60_000 });
      },
    };
    // What the client waits for passes in the world.
    const clock: Clock = { ...systemClock, wait: async (ms) => world.advance(ms) };
    const lines: string[] = [];
    const note = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
    const log = { debug: note, info: note, warn: note, error: note };
    const credentials = { read: async () => ({ found: true, value: worldToken("demo") }) as const };
    const provider = side.provider({ http, credentials, clock, log });
    const record: AccountRecord = {
      id: "demo",
      organizationId: "o",
      name: "demo",
      provider: side.cloud,
      settings: { url: `${server.url}${side.basePath}` },
      credentialRef: "env:TOKEN",
      fingerprint: undefined,
      claimedIncarnation: undefined,
    };
    const account = provider.open(record) as ProviderAccount<ComputeReader, ComputeEngine>;
    const stage = new CloudOverHttp(side, { account, lines, waitsMs }, { clock, silence, url: server.url, ends });
    await stage.#furnish();
    return stage;
  }

  async #furnish(): Promise<void> {
    const { cloud, filled } = this.side;
    if (cloud === "ionos") {
      await this.ask("PATCH", "/_world/accounts/ionos/demo", { requestsPerMinute: 10_000_000 });
      await this.console("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } });
    }
    await this.ask("POST", "/_world/clock", { advanceSeconds: 1_000 });
    await this.ask("POST", "/_world/fill", { cloud, account: "demo", servers: filled });
  }

  async ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${this.#url}${path}`, { method, ...text });
    const said = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${said}`);
    return (said === "" ? {} : JSON.parse(said)) as Record<string, unknown>;
  }

  /** Somebody at the provider's own console. */
  console(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    return this.ask(method, `/_world/console/${this.side.cloud}/demo${path}`, body);
  }

  /** Aimed at servers, where they are listed and made. */
  async fault(fault: AimedFault): Promise<void> {
    const { cloud, path } = this.side;
    if (fault.kind === "timeout" || (fault.ms ?? 0) >= 60_000) this.#silence.method = fault.method;
    await this.ask("POST", "/_world/faults", { cloud, path: path.source, ...fault });
  }

  /** How often the faults in the tray have struck. */
  async struck(): Promise<number> {
    const { faults } = (await this.ask("GET", "/_world/faults")) as { readonly faults: readonly { struck: number }[] };
    return faults.reduce((sum, fault) => sum + fault.struck, 0);
  }

  async heal(): Promise<void> {
    this.#silence.method = undefined;
    await this.ask("DELETE", "/_world/faults");
  }

  async pass(seconds: number): Promise<void> {
    await this.ask("POST", "/_world/clock", { advanceSeconds: seconds });
  }

  /** The whole list of servers, and how the client knows that it is whole. */
  list() {
    return readInventory(this.#clock, this.account.collections["servers"] ?? assert.fail("no list"), this.signal);
  }

  /** Servers in the world of the name that is ordered here, whatever anybody lists. */
  async made(): Promise<number> {
    const state = JSON.stringify(await this.ask("GET", "/_world/state"));
    const name = this.side.cloud === "ionos" ? /"name":"web-1 setpoint:[^"]*","cores"/g : /"name":"web-1"/g;
    return state.match(name)?.length ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }
}
