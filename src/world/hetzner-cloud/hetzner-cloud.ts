import { z } from "zod";
import { type Access, AccountBook } from "../account-book.ts";
import type { Cloud, CloudRequest, Fill, WorldCore } from "../cloud.ts";
import type { WorldAnswer } from "../exchange.ts";
import { noFaults } from "../fault-tray.ts";
import { Router } from "../router.ts";
import { settleActions } from "./actions.ts";
import type { Call } from "./call.ts";
import { locations } from "./catalogue/locations.ts";
import { errorBody, HetznerError } from "./errors.ts";
import { fillProject } from "./fill.ts";
import { newProject, type Project, usualLimits } from "./project.ts";
import { rateHeaders, takeRequest } from "./rate-limit.ts";
import { hetznerRoutes } from "./routes.ts";
import { loadProject, savedProjectSchema, saveProject, serverLoadSchema } from "./saved-project.ts";

const savedSchema = z.object({
  lastId: z.int(),
  lastActionId: z.int(),
  lastAddress: z.int(),
  projects: z.array(savedProjectSchema),
  tokens: z.array(z.object({ token: z.string(), account: z.string(), access: z.enum(["read-write", "read"]) })),
});

const configureSchema = z.strictObject({
  limits: z.partialRecord(z.enum(Object.keys(usualLimits) as (keyof typeof usualLimits)[]), z.int().min(0)).optional(),
  requestsPerHour: z.int().min(1).optional(),
  load: serverLoadSchema.optional(),
});

/** Hetzner Cloud: projects behind tokens, one API over each. */
export class HetznerCloud implements Cloud {
  readonly name = "hetzner-cloud";
  readonly basePath = "/v1";
  readonly accountWord = "project";
  readonly locations = locations.map(({ name }) => name);
  readonly book: AccountBook<Project>;
  readonly #core: WorldCore;
  readonly #router = new Router<Call>(hetznerRoutes);
  #lastId = 1_000_000;
  #lastActionId = 500_000;
  #lastAddress = 0;

  constructor(core: WorldCore) {
    this.#core = core;
    this.book = new AccountBook((name) => newProject(name, core.time));
  }

  configure(account: string, settings: unknown): unknown {
    const { limits = {}, requestsPerHour, load } = configureSchema.parse(settings);
    const project = this.book.get(account);
    project.load = load ?? project.load;
    project.limits = { ...project.limits, ...limits };
    if (requestsPerHour !== undefined) {
      project.requestsPerHour = requestsPerHour;
      project.rate = { left: requestsPerHour, atMs: this.#core.time.nowMs };
    }
    return { limits: project.limits, requestsPerHour: project.requestsPerHour, load: project.load };
  }

  settle(): void {
    for (const project of this.book.all()) settleActions(project, this.#core.time);
  }

  answer(asked: CloudRequest): WorldAnswer {
    const { request, path, faults, consoleOf } = asked;
    if (consoleOf !== undefined) return this.#route(this.#callOf(consoleOf, asked), request.method, path);
    const token = this.book.tokenOf(request);
    if (token === undefined || faults.strike("expired-token") !== undefined) {
      return this.refusal(401, "unauthorized", "unable to authenticate");
    }
    const account = faults.strike("other-account")?.as ?? token.account;
    if (this.book.find(account) === undefined) return this.refusal(401, "unauthorized", "unable to authenticate");
    const project = this.book.get(account);
    if (!takeRequest(project, this.#core.time.nowMs)) return this.rateLimited(account, undefined);
    const answer = this.#guarded(token.access, asked, account);
    return { ...answer, headers: { ...answer.headers, ...rateHeaders(project) } };
  }

  refusal(status: number, code = usualCode(status), message = "The request could not be carried out"): WorldAnswer {
    return this.#send(status, errorBody(code, message));
  }

  rateLimited(account: string | undefined, retryAfterSeconds: number | undefined): WorldAnswer {
    const answer = this.refusal(429, "rate_limit_exceeded", "limit of requests per hour reached");
    const project = account === undefined ? undefined : this.book.find(account);
    const headers = {
      ...answer.headers,
      ...(project === undefined ? {} : rateHeaders(project)),
      "RateLimit-Remaining": "0",
      ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    };
    return { ...answer, headers };
  }

  fill(account: string, wanted: Fill): number {
    const request = { method: "POST", path: "", query: new URLSearchParams(), headers: {}, body: "" };
    return fillProject(this.#callOf(account, { request, path: "", faults: noFaults, consoleOf: account }), wanted);
  }

  save(): z.input<typeof savedSchema> {
    return {
      lastId: this.#lastId,
      lastActionId: this.#lastActionId,
      lastAddress: this.#lastAddress,
      projects: this.book.all().map(saveProject),
      tokens: [...this.book.tokens()],
    };
  }

  load(saved: unknown): void {
    const read = savedSchema.parse(saved);
    const projects = read.projects.map((project) => loadProject(project, this.#core.time));
    this.book.load(new Map(projects.map((project) => [project.name, project])), read.tokens);
    this.#lastId = read.lastId;
    this.#lastActionId = read.lastActionId;
    this.#lastAddress = read.lastAddress;
  }

  #guarded(access: Access, asked: CloudRequest, account: string): WorldAnswer {
    const { request, path, faults } = asked;
    if (faults.strike("suspended-account") !== undefined) {
      return this.refusal(403, "forbidden", "your account is suspended, please contact support");
    }
    if (access === "read" && request.method !== "GET") {
      return this.refusal(403, "token_readonly", "the token is only allowed to perform GET requests");
    }
    return this.#route(this.#callOf(account, asked), request.method, path);
  }

  #route(call: Omit<Call, "params">, method: string, path: string): WorldAnswer {
    const match = this.#router.match(method, path);
    if (match === undefined) return this.refusal(404, "not_found", "the requested path does not exist");
    if (match === "elsewhere") return this.refusal(405, "method_not_allowed", `${method} is not allowed here`);
    try {
      const { status, body } = match.route.answer({ ...call, params: match.params });
      return this.#send(status, body);
    } catch (thrown) {
      if (!(thrown instanceof HetznerError)) throw thrown;
      return this.#send(thrown.status, errorBody(thrown.code, thrown.message, thrown.details));
    }
  }

  #send(status: number, body: unknown): WorldAnswer {
    const headers = { "X-Correlation-Id": this.#core.random.text(16, "0123456789abcdef") };
    return { status, headers, body };
  }

  #callOf(account: string, { request, path, faults, consoleOf }: CloudRequest): Omit<Call, "params"> & { params: {} } {
    const { time, random, settings } = this.#core;
    return {
      project: this.book.get(account),
      params: {},
      path,
      query: request.query,
      body: request.body,
      nowMs: time.nowMs,
      random,
      faults,
      listLagMs: consoleOf === undefined ? settings.listLagSeconds * 1_000 : 0,
      pageMax: consoleOf === undefined ? settings.pageMax : undefined,
      pace: consoleOf === undefined ? settings.pace : 0,
      nextId: () => (this.#lastId += 1),
      nextActionId: () => (this.#lastActionId += 1),
      nextAddress: () => (this.#lastAddress += 1),
    };
  }
}

function usualCode(status: number): string {
  const codes: Readonly<Record<number, string>> = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    423: "locked",
    429: "rate_limit_exceeded",
    500: "server_error",
    502: "bad_gateway",
    503: "unavailable",
    504: "timeout",
  };
  return codes[status] ?? (status >= 500 ? "server_error" : "invalid_input");
}
