import assert from "node:assert/strict";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { Kind } from "../../src/kernel/kind.ts";
import { runOperation } from "../../src/kernel/operation.ts";
import { newestPipeline } from "../../src/kernel/pipeline.ts";
import { cloudNetworkKind } from "../../src/kinds/cloud-network/kind.ts";
import { computeProfileKind } from "../../src/kinds/compute-profile/kind.ts";
import { computeProviderKind } from "../../src/kinds/compute-provider/kind.ts";
import { dnsRecordKind } from "../../src/kinds/dns-record/kind.ts";
import { dnsZoneKind } from "../../src/kinds/dns-zone/kind.ts";
import { hostKind } from "../../src/kinds/host/kind.ts";
import { firewallKind } from "../../src/kinds/firewall/kind.ts";
import { loadBalancerKind } from "../../src/kinds/load-balancer/kind.ts";
import { scalingGroupKind } from "../../src/kinds/scaling-group/kind.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Http } from "../../src/ports/http.ts";
import type { JsonObject } from "../../src/ports/json.ts";
import type { Log } from "../../src/ports/log.ts";
import type { Provider } from "../../src/ports/provider.ts";
import { createHetznerCloudProvider } from "../../src/providers/hetzner-cloud/provider.ts";
import { createIonosProvider } from "../../src/providers/ionos/provider.ts";
import { worldToken } from "../../src/world/cloud.ts";
import { type Fault, faultSchema } from "../../src/world/fault-schema.ts";
import { World, type WorldOptions } from "../../src/world/world.ts";
import { Bench } from "../kit/index.ts";
import type { OperationRow } from "../sim/store/rows.ts";
import { worldHttp } from "./world-http.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const startMs = 1_767_225_600_000;

export const cloudKinds = [
  computeProfileKind,
  computeProviderKind,
  firewallKind,
  cloudNetworkKind,
  hostKind,
  loadBalancerKind,
  scalingGroupKind,
] as readonly Kind[];
const dnsKinds = [dnsZoneKind, dnsRecordKind] as readonly Kind[];
const leaseMs = 15_000;
export const organizationId = "bench";

/** The provider for Hetzner Cloud over a world, each account with the token of the project of its own name. */
export function worldProvider(world: World, clock: Clock, http: Http = worldHttp(world, clock)): Provider {
  const credentials = {
    read: async (reference: string) => ({ found: true, value: reference.replace(/^token:/, "") }) as const,
  };
  const provider = createHetznerCloudProvider({
    http,
    credentials,
    clock,
    log: silent,
    resolver: { nameservers: async () => [] },
  });
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

/** The provider for IONOS over a world, each account with the token of the contract of its own name. */
export function ionosProvider(world: World, clock: Clock, http: Http = worldHttp(world, clock)): Provider {
  const credentials = {
    read: async (reference: string) => ({ found: true, value: reference.replace(/^token:/, "") }) as const,
  };
  const provider = createIonosProvider({ http, credentials, clock, log: silent });
  return {
    ...provider,
    open: (account) =>
      provider.open({
        ...account,
        settings: { url: "http://world.test/cloudapi/v6" },
        credentialRef: account.credentialRef ?? `token:${worldToken(account.name)}`,
      }),
  };
}

/** The cloud kinds on the bench: production scheduler, kernel and client over a world, on virtual time. */
export class CloudLab {
  readonly bench: Bench;
  readonly world: World;
  workerStays = false;

  readonly #clock: Clock;
  readonly #provider: Provider;
  readonly #accounts = new Map<Provider, Accounts>();
  #operations = 0;

  protected constructor(bench: Bench, world: World, clock: Clock, provider: Provider) {
    this.bench = bench;
    this.world = world;
    this.#clock = clock;
    this.#provider = provider;
  }

  static async open(
    options: WorldOptions & { readonly callsPerSecond?: number; readonly cloud?: "hetzner-cloud" | "ionos" } = {},
  ): Promise<CloudLab> {
    return new CloudLab(...(await CloudLab.furnish(options)));
  }

  protected static async furnish(
    options: WorldOptions & { readonly callsPerSecond?: number; readonly cloud?: "hetzner-cloud" | "ionos" },
  ): Promise<[Bench, World, Clock, Provider]> {
    const { cloud = "hetzner-cloud" } = options;
    const running: { clock?: Clock } = {};
    // The bench brings its clock, and what it is started with needs one. Its time stands still while a call is out: what a call
    // waits for passes in the world alone.
    const clock: Clock = {
      nowMs: () => running.clock?.nowMs() ?? startMs,
      monotonicMs: () => running.clock?.monotonicMs() ?? 0,
      wait: async (ms) => world.advance(ms),
    };
    const world: World = new World(clock, { accounts: ["demo", "other"], ...options });
    const accounts = ["demo", "other"].map((name) => ({
      name,
      provider: cloud,
      callsPerSecond: options.callsPerSecond ?? 1_000,
    }));
    const provider = cloud === "ionos" ? ionosProvider(world, clock) : worldProvider(world, clock);
    const bench = await Bench.start({ kinds: [...cloudKinds, ...dnsKinds], providers: [provider], accounts });
    running.clock = bench.time.clock();
    return [bench, world, running.clock, provider];
  }

  /** Starts a pipeline, as declaring or deleting does through the API. */
  async start(pipeline: string, name: string, input: JsonObject = {}): Promise<string> {
    const [kind = "", short = ""] = name.split("/");
    const resources = [...this.bench.store.state.tables.resources.values()];
    const resource = resources.find((row) => row.kind === kind && row.name === short) ?? assert.fail(`no ${name}`);
    const operationId = `operation-${++this.#operations}`;
    const answer = await this.bench.store.startOperation({
      organizationId,
      operationId,
      resourceUid: resource.uid,
      pipeline,
      version:
        newestPipeline(
          cloudKinds.flatMap(({ pipelines = [] }) => pipelines),
          pipeline,
        )?.version ?? 1,
      input,
      author: { name: "ada", type: "person" },
      priority: "person",
      ends: pipeline.endsWith(".delete"),
    });
    assert.ok("operation" in answer, `${pipeline} of ${name} was not started: ${answer.result}`);
    return answer.operation.id;
  }

  /** As a worker does: a turn whenever it is due, for so long or until it ends. */
  async finishWhenDue(operationId: string, seconds: number): Promise<OperationRow> {
    const { store, time } = this.bench;
    const row = () => store.state.tables.operations.get(operationId) ?? assert.fail(`no ${operationId}`);
    const untilMs = this.#clock.nowMs() + seconds * 1_000;
    for (let due = row().dueAtMs; due !== undefined && due <= untilMs; due = row().dueAtMs) {
      await time.pass(Math.max(0, due - this.#clock.nowMs()));
      await this.turn(operationId);
    }
    return row();
  }

  /** The production kernel works on this operation, a second at a time, until it ends or waits for somebody. */
  async finish(operationId: string, seconds = 120): Promise<OperationRow> {
    const { store, time } = this.bench;
    const row = () => store.state.tables.operations.get(operationId) ?? assert.fail(`no ${operationId}`);
    for (let second = 0; second < seconds && row().state === "running"; second++) {
      await this.turn(operationId);
      if (row().state === "running") await time.pass(1_000);
    }
    return row();
  }

  async turn(operationId: string, provider = this.#provider): Promise<void> {
    const { store } = this.bench;
    const row = store.state.tables.operations.get(operationId) ?? assert.fail(`no ${operationId}`);
    if (row.dueAtMs === undefined || row.dueAtMs > this.#clock.nowMs()) return;
    const holder = "worker-1";
    const shards = await store.takeWorkerShards({ holder, wanted: 64, leaseMs });
    await store.renewWorkerShards({ holder, leaseMs, shards });
    const accounts = this.#accountsOf(provider);
    const kinds = new Map(cloudKinds.map((kind) => [kind.kind, kind]));
    const ids = { next: () => `worker-id-${++this.#operations}` };
    const engine = {
      store,
      operations: store,
      clock: this.#clock,
      random: { next: () => 0 },
      ids,
      log: silent,
      kinds,
      accounts,
    };
    await runOperation(engine, {
      organizationId,
      operationId,
      actor: {
        holder,
        shard: row.shard,
        epoch: shards.find(({ shard }) => shard === row.shard)?.epoch ?? 0,
        operationId,
      },
      quietSinceMonotonicMs: undefined,
      leaseRemainingMs: () => leaseMs,
      signal: new AbortController().signal,
    });
  }

  /** A worker for every turn, or one that stays: then what one operation has listed, the next one may use. */
  #accountsOf(provider: Provider): Accounts {
    const known = this.#accounts.get(provider);
    if (known !== undefined) return known;
    const { store } = this.bench;
    const accounts = new Accounts({ providers: new Map([[provider.name, provider]]), store, clock: this.#clock });
    if (this.workerStays) this.#accounts.set(provider, accounts);
    return accounts;
  }

  /** What happens to the operations while time passes: each has its turn whenever it is due. */
  async passWorking(seconds: number, everySeconds = 10): Promise<void> {
    const { store } = this.bench;
    for (let passed = 0; passed < seconds; passed += everySeconds) {
      await this.bench.pass({ seconds: everySeconds });
      const running = [...store.state.tables.operations.values()].filter(({ state }) => state === "running");
      for (const { id } of running) await this.turn(id);
    }
  }

  /** Somebody at the provider's own console. */
  console(method: string, path: string, body?: unknown, account = "demo"): Record<string, unknown> {
    const cloud = this.world.clouds.find(({ name }) => name === this.#provider.name) ?? assert.fail("no cloud");
    const [route = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: `/v1${route}`, query: new URLSearchParams(query), headers: {}, body: text };
    const answer = this.world.asConsole(cloud, account, request, route);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return (answer.body ?? {}) as Record<string, unknown>;
  }

  list<Entry = Record<string, unknown>>(collection: string, account = "demo"): readonly Entry[] {
    const entries: Entry[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const answer = this.console("GET", `/${collection}?per_page=50&page=${page}`, undefined, account);
      entries.push(...(answer[collection] as readonly Entry[]));
      const { pagination } = answer["meta"] as { readonly pagination: { readonly next_page: number | null } };
      page = pagination.next_page;
    }
    return entries;
  }

  /** Looks after every request that anybody but the console makes: what it sees together is the world's whole history. */
  watch(look: () => void): void {
    const handle = this.world.handle.bind(this.world);
    this.world.handle = (request) => {
      const reaction = handle(request);
      look();
      return reaction;
    };
  }

  fault(fault: unknown): Fault {
    const parsed = faultSchema.parse(fault);
    this.world.core.tray.place(parsed);
    return parsed;
  }

  heal(): void {
    this.world.core.tray.clear();
  }

  /** Requests that could change something, made by Setpoint since the given one: but for sentinels, and for asking whether it may. */
  writes(after = 0): readonly string[] {
    const asks = ({ path, status }: { readonly path: string; readonly status: number }) =>
      path === "/ssh_keys" || (path === "/datacenters" && status === 422);
    return this.world.log
      .after(after)
      .filter((request) => request.method !== "GET" && request.actor === "api" && !asks(request))
      .map(({ method, path }) => `${method} ${path}`);
  }

  get lastRequest(): number {
    return this.world.log.after(0).at(-1)?.number ?? 0;
  }
}
