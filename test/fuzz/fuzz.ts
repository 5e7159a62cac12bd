import type { Route } from "../../src/control-api/route.ts";
import { SeededRandom } from "../sim/random.ts";
import { faultOf, problemFault } from "./judge.ts";
import { moves } from "./moves.ts";
import { rawRequest } from "./raw-requests.ts";
import { sequences } from "./sequences.ts";
import { Stage } from "./stage.ts";
import { growthPerThousand, heapBytes, type HeapSample, watchPrototypes } from "./watchdogs.ts";
import type { Received, Sent } from "./wire.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  readonly onProgress?: (line: string) => void;
}

export interface FuzzReport {
  readonly seed: number;
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly routes: number;
  /** Routes that were asked at all, and routes that answered with success at least once. */
  readonly routesAsked: number;
  readonly routesSucceeded: number;
  readonly neverSucceeded: readonly string[];
  readonly slow: number;
  readonly slowestMs: number;
  readonly growthBytesPerThousand: number | undefined;
  readonly failures: readonly FuzzFailure[];
}

export interface FuzzFailure {
  readonly message: string;
  /** One command that comes to the same request again. */
  readonly replay: string;
}

/** Nobody should wait longer. A loaded machine may make one request late; it does not make the same one late thrice. */
const slowMs = 2_000;
/** Tenants are made anew after this many steps, so that what requests destroyed does not make the rest shallow. */
const stepsPerRound = 200;
/** What may stay behind per 1,000 requests: rights and limits of new callers are kept, each in a bounded cache. */
const mostGrowthBytes = 1_500_000;
/** Below this many requests what is compiled and cached outweighs what could leak. */
const fewestForGrowth = 4_000;

/** Enough to see what is wrong; the rest is probably the same. */
const mostFailures = 10;

class Failure extends Error {}

/** Asks the whole API everything, one request after the other, the same for the same seed. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const run = new FuzzRun(options);
  await using stage = await Stage.open();
  return await run.over(stage);
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #random: SeededRandom;
  readonly #statuses = new Map<number, number>();
  readonly #asked = new Set<Route>();
  readonly #succeeded = new Set<Route>();
  readonly #heap: HeapSample[] = [];
  readonly #polluted = watchPrototypes();
  readonly #failures: FuzzFailure[] = [];
  #requests = 0;
  #slow = 0;
  #slowestMs = 0;
  #step = "";

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  async over(stage: Stage): Promise<FuzzReport> {
    const every = Math.max(1, Math.floor(this.#options.requests / 20));
    let next = every;
    for (let step = 0; this.#requests < this.#options.requests && this.#failures.length < mostFailures; step++) {
      if (step > 0 && step % stepsPerRound === 0)
        await stage.furnish().catch((thrown: unknown) => this.#failed(thrown));
      await this.#take(stage, step).catch((thrown: unknown) => this.#failed(thrown));
      const polluted = this.#polluted();
      if (polluted !== undefined) this.#failed(new Failure(polluted));
      if (this.#requests < next) continue;
      next += every;
      this.#sample();
    }
    const growth = this.#growth();
    if (growth !== undefined && this.#requests >= fewestForGrowth && growth > mostGrowthBytes)
      this.#failed(
        new Failure(
          `The heap grows by ${Math.round(growth)} bytes per 1,000 requests; at most ${mostGrowthBytes} may stay`,
        ),
      );
    return this.#report(stage);
  }

  #failed(thrown: unknown): void {
    const why = thrown instanceof Failure ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown);
    const { seed } = this.#options;
    this.#failures.push({
      message: `request ${this.#requests}, step ${this.#step}: ${why ?? ""}`,
      replay: `npm run fuzz -- --seed ${seed} --requests ${this.#requests}`,
    });
  }

  /** Each step draws from a generator of its own, so that how many draws one makes does not move the next. */
  async #take(stage: Stage, step: number): Promise<void> {
    const random = this.#random.fork(`step ${step}`);
    const draw = random.next();
    if (draw < 0.03) return await this.#raw(stage, random);
    if (draw < 0.13) {
      const [name, sequence] = random.pick(Object.entries(sequences)) ?? [];
      this.#step = `${step}: ${name ?? ""}`;
      const found = await sequence?.(stage, random, (sent, route) => this.#send(stage, sent, route));
      if (found !== undefined) throw new Failure(found);
      return;
    }
    const [name, move] = random.pick(Object.entries(moves)) ?? [];
    this.#step = `${step}: ${name ?? ""}`;
    const planned = await move?.(stage, random);
    if (planned !== undefined) await this.#send(stage, planned.sent, planned.route);
  }

  async #send(stage: Stage, sent: Sent, route: Route | undefined): Promise<Received> {
    const answer = await this.#timed(stage, sent);
    this.#statuses.set(answer.status, (this.#statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOf(sent.method, answer, route);
    if (fault !== undefined) throw new Failure(`${shown(sent)}\n${fault}`);
    if (route === undefined) return answer;
    this.#asked.add(route);
    if (answer.status < 300) this.#succeeded.add(route);
    if (answer.status < 300) learnFrom(stage, route, answer.text);
    const endsTenant = sent.method === "DELETE" && /^\/v1\/organizations\/[^/?]+$/.test(sent.path);
    if (endsTenant && answer.status < 300) await stage.furnish();
    return answer;
  }

  async #timed(stage: Stage, sent: Sent): Promise<Received> {
    this.#requests++;
    const first = await stage.wire.send(sent).catch((thrown: unknown) => {
      throw new Failure(`${shown(sent)}\nwas not answered: ${String(thrown)}`);
    });
    this.#slowestMs = Math.max(this.#slowestMs, first.tookMs);
    if (first.tookMs <= slowMs) return first;
    this.#slow++;
    const again = [await stage.wire.send(sent), await stage.wire.send(sent)];
    if (again.every(({ tookMs }) => tookMs > slowMs))
      throw new Failure(`${shown(sent)}\ntook more than ${slowMs} ms three times`);
    return first;
  }

  async #raw(stage: Stage, random: SeededRandom): Promise<void> {
    this.#step = "bytes that are no request";
    this.#requests++;
    const raw = rawRequest(random, stage.cast.operator);
    const text = await stage.wire.raw(raw);
    const about = `${JSON.stringify(raw.bytes.toString("latin1").slice(0, 300))}\n`;
    const [head = "", body = ""] = text.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, "").split("\r\n\r\n", 2);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status === 0 && !raw.hangsUp) throw new Failure(`${about}was not answered`);
    if (status >= 500) throw new Failure(`${about}was answered with ${text.slice(0, 500)}`);
    const type = /^content-type: *(.*)$/im.exec(head)?.[1];
    const fault = status >= 400 ? problemFault(status, type, body) : undefined;
    if (fault !== undefined) throw new Failure(`${about}${fault}`);
  }

  #sample(): void {
    const bytes = heapBytes();
    if (bytes !== undefined) this.#heap.push({ requests: this.#requests, bytes });
    const heap = bytes === undefined ? "" : `, heap ${(bytes / 1e6).toFixed(1)} MB`;
    this.#options.onProgress?.(`${this.#requests} requests, ${this.#succeeded.size} routes succeeded${heap}`);
  }

  #growth(): number | undefined {
    return this.#heap.length < 4 ? undefined : growthPerThousand(this.#heap);
  }

  #report({ routes }: Stage): FuzzReport {
    const { seed } = this.#options;
    return {
      seed,
      requests: this.#requests,
      statuses: Object.fromEntries([...this.#statuses].toSorted(([left], [right]) => left - right)),
      routes: routes.length,
      routesAsked: this.#asked.size,
      routesSucceeded: this.#succeeded.size,
      neverSucceeded: routes
        .filter((route) => !this.#succeeded.has(route))
        .map(({ method, path }) => `${method} ${path}`),
      slow: this.#slow,
      slowestMs: Math.round(this.#slowestMs),
      growthBytesPerThousand: this.#growth(),
      failures: this.#failures,
    };
  }
}

/** What was made is asked about later. */
function learnFrom(stage: Stage, route: Route, text: string): void {
  const last = [...route.path.matchAll(/\/(\w[\w-]*)/g)].at(-1)?.[1] ?? "";
  const parameter = parameterOf[last] ?? "id";
  for (const [, id = ""] of text.slice(0, 20_000).matchAll(/"id":"([\w-]{1,64})"/g)) stage.learn(parameter, id);
}

const parameterOf: Readonly<Record<string, string>> = {
  tokens: "token",
  keys: "token",
  "enrolment-tokens": "token",
  invites: "invite",
  members: "person",
  bindings: "binding",
  deliveries: "delivery",
};

function shown({ method, path, headers, body }: Sent): string {
  const { authorization = "nobody", ...others } = headers;
  const text = body === undefined ? "" : ` ${body.toString("utf8").slice(0, 1_000)}`;
  return `${method} ${path.slice(0, 1_000)} as ${authorization.slice(0, 16)}… ${JSON.stringify(others).slice(0, 600)}${text}`;
}
