import type { Clock } from "../ports/clock.ts";
import { type AdminCall, adminRouter, AdminError } from "./admin.ts";
import type { Cloud, WorldCore } from "./cloud.ts";
import type { WorldAnswer, WorldReaction, WorldRequest } from "./exchange.ts";
import { FaultTray, type FaultsInForce, noFaults } from "./fault-tray.ts";
import { HetznerCloud } from "./hetzner-cloud/hetzner-cloud.ts";
import { Ionos } from "./ionos/ionos.ts";
import { RequestLog } from "./request-log.ts";
import { SeededRandom } from "./seeded-random.ts";
import { loadWorld, saveWorld } from "./saved-world.ts";

export interface WorldOptions {
  readonly seed?: number;
  /** An account of each of these names in every cloud, with a token that may write and one that may not. */
  readonly accounts?: readonly string[];
  /** How long actions take, as a share of the usual time. */
  readonly pace?: number;
  readonly listLagSeconds?: number;
  readonly pageMax?: number;
  /** Undefined: time is the clock's. Set: it begins at a fixed day and moves by this with every request. */
  readonly stepMs?: number | undefined;
}

/** Where time begins in a world that counts requests instead of seconds. */
const firstMs = 1_800_000_000_000;

/** The simulated outside: a state machine over requests. The same seed and the same requests give the same answers. */
export class World {
  readonly core: WorldCore;
  readonly clouds: readonly Cloud[];
  readonly log: RequestLog;
  readonly #clock: Clock;
  readonly #stepMs: number | undefined;
  #offsetMs = 0;

  constructor(clock: Clock, options: WorldOptions = {}) {
    const { seed = 1, accounts = ["demo"], pace = 1, listLagSeconds = 0, pageMax, stepMs } = options;
    this.#clock = clock;
    this.#stepMs = stepMs;
    const time = { nowMs: stepMs === undefined ? clock.nowMs() : firstMs };
    const random = new SeededRandom(seed);
    const tray = new FaultTray(time, random);
    this.core = { time, random, tray, settings: { pace, listLagSeconds, pageMax } };
    this.log = new RequestLog(time);
    this.clouds = [new HetznerCloud(this.core), new Ionos(this.core)];
    for (const cloud of this.clouds) for (const account of accounts) cloud.book.add(account);
  }

  handle(request: WorldRequest): WorldReaction {
    this.#moveTime();
    for (const cloud of this.clouds) cloud.settle();
    if (request.path === "/_world" || request.path.startsWith("/_world/")) return answered(this.#administer(request));
    const cloud = this.clouds.find(({ basePath }) => request.path.startsWith(`${basePath}/`));
    if (cloud !== undefined) return this.#ask(cloud, request);
    const bases = this.clouds.map(({ name, basePath }) => `${basePath} (${name})`).join(", ");
    return answered(problem(404, `Nothing is at ${request.path}. There is ${bases}, and /_world.`));
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#offsetMs += ms;
    this.core.time.nowMs += ms;
    for (const cloud of this.clouds) cloud.settle();
  }

  save(): unknown {
    return saveWorld(this);
  }

  /** Takes over what was saved, or throws and stays as it was. */
  load(saved: unknown): void {
    const before = this.save();
    try {
      loadWorld(this, saved);
    } catch (thrown) {
      loadWorld(this, before);
      throw thrown;
    }
    this.#offsetMs = this.core.time.nowMs - this.#clock.nowMs();
  }

  /** Asks a cloud as somebody at the provider's own console would: no token, no faults, no waiting. */
  asConsole(cloud: Cloud, account: string, request: WorldRequest, path: string): WorldAnswer {
    const answer = cloud.answer({ request, path, faults: noFaults, consoleOf: account });
    const { method, query } = request;
    const entry = { cloud: cloud.name, account, method, path, query: query.toString(), status: answer.status };
    this.log.add({ ...entry, actor: "console", sent: "answer" });
    return answer;
  }

  #moveTime(): void {
    const { time } = this.core;
    const nowMs = this.#stepMs === undefined ? this.#clock.nowMs() + this.#offsetMs : time.nowMs + this.#stepMs;
    time.nowMs = Math.max(time.nowMs, nowMs);
  }

  #ask(cloud: Cloud, request: WorldRequest): WorldReaction {
    const { method, query } = request;
    const path = request.path.slice(cloud.basePath.length);
    const account = cloud.book.tokenOf(request)?.account;
    const faults = this.core.tray.against({ cloud: cloud.name, account, method, path });
    const waitMs = faults.strike("latency")?.ms ?? 0;
    const reaction = { waitMs, ...this.#outcome(cloud, account, { request, path, faults }) };
    const { status } = reaction.answer;
    const entry = { cloud: cloud.name, account, method, path, query: query.toString(), status, sent: reaction.send };
    this.log.add({ ...entry, actor: "api" });
    return reaction;
  }

  #outcome(
    cloud: Cloud,
    account: string | undefined,
    asked: { readonly request: WorldRequest; readonly path: string; readonly faults: FaultsInForce },
  ): Pick<WorldReaction, "send" | "answer"> {
    const before = this.#struck(cloud, account, asked.faults, "before");
    if (before !== undefined) return before;
    const answer = cloud.answer({ ...asked, consoleOf: undefined });
    return this.#struck(cloud, account, asked.faults, "after") ?? { send: "answer", answer };
  }

  #struck(
    cloud: Cloud,
    account: string | undefined,
    faults: FaultsInForce,
    when: "before" | "after",
  ): Pick<WorldReaction, "send" | "answer"> | undefined {
    const isNow = (fault: { readonly when: "before" | "after" }) => fault.when === when;
    const limit = when === "before" ? faults.strike("rate-limit") : undefined;
    if (limit !== undefined) return { send: "answer", answer: cloud.rateLimited(account, limit.retryAfterSeconds) };
    const error = faults.strike("error", isNow);
    if (error !== undefined) return { send: "answer", answer: cloud.refusal(error.status, error.code, error.message) };
    const lost = faults.strike("timeout", isNow) ?? faults.strike("cut", isNow);
    if (lost === undefined) return undefined;
    return { send: lost.kind === "cut" ? "cut" : "nothing", answer: cloud.refusal(504, undefined, undefined) };
  }

  #administer(request: WorldRequest): WorldAnswer {
    const match = adminRouter.match(request.method, request.path);
    if (match === undefined) return problem(404, `There is no ${request.path} in this world.`);
    if (match === "elsewhere") return problem(405, `${request.path} does not take ${request.method}.`);
    const call: AdminCall = { world: this, request, params: match.params };
    try {
      const { status, body } = match.route.answer(call);
      return { status, headers: {}, body };
    } catch (thrown) {
      if (!(thrown instanceof AdminError)) throw thrown;
      return problem(thrown.status, thrown.message);
    }
  }
}

function answered(answer: WorldAnswer): WorldReaction {
  return { waitMs: 0, send: "answer", answer };
}

function problem(status: number, detail: string): WorldAnswer {
  return { status, headers: {}, body: { status, detail } };
}
