import { z } from "zod";
import { type Access, AccountBook } from "../account-book.ts";
import type { Cloud, CloudRequest, Fill, WorldCore } from "../cloud.ts";
import type { WorldAnswer } from "../exchange.ts";
import { taken } from "../rate-bucket.ts";
import { Router } from "../router.ts";
import { type Call, newId } from "./call.ts";
import { catalogueRoutes, locationIds } from "./catalogue.ts";
import { contractRoutes } from "./contract-routes.ts";
import { type Contract, newContract, usualLimits } from "./contract.ts";
import { elementRoutes } from "./elements.ts";
import { errorBody, IonosError } from "./errors.ts";
import { kinds } from "./kinds.ts";
import { labelRoutes } from "./labels.ts";
import { requestRoutes, settleRequests } from "./requests.ts";
import type { Element, IonosRequest } from "./rows.ts";
import { serverActionRoutes } from "./server-actions.ts";
import { snapshotRoutes } from "./snapshots.ts";

export const ionosRoutes = [
  ...catalogueRoutes,
  ...snapshotRoutes,
  ...contractRoutes,
  ...requestRoutes,
  ...elementRoutes,
  ...serverActionRoutes,
  ...labelRoutes,
];

const limitsSchema = z.strictObject({
  limits: z.partialRecord(z.enum(Object.keys(usualLimits) as (keyof typeof usualLimits)[]), z.int().min(0)).optional(),
  requestsPerMinute: z.int().min(1).optional(),
  requestsAtOnce: z.int().min(1).optional(),
});

const elementSchema = z.looseObject({
  id: z.string(),
  shownId: z.string(),
  type: z.enum(kinds.map(({ type }) => type)),
  state: z.enum(["BUSY", "AVAILABLE"]),
  createdMs: z.number(),
  modifiedMs: z.number(),
  version: z.int(),
  properties: z.record(z.string(), z.unknown()),
  labels: z.record(z.string(), z.string()),
});
const requestSchema = z.looseObject({
  id: z.string(),
  method: z.string(),
  url: z.string(),
  body: z.string(),
  createdMs: z.number(),
  startsMs: z.number(),
  endsMs: z.number(),
  isOver: z.boolean(),
  targets: z.array(z.looseObject({ id: z.string() })),
  effects: z.array(z.looseObject({ element: z.string() })),
});

const savedSchema = z.object({
  lastAddress: z.int(),
  contracts: z.array(
    z.object({
      name: z.string(),
      limits: z.record(z.string(), z.int()),
      requestsPerMinute: z.int().min(1),
      requestsAtOnce: z.int().min(1).optional(),
      rate: z.object({ left: z.number(), atMs: z.number() }),
      running: z.array(z.string()),
      elements: z.array(elementSchema),
      requests: z.array(requestSchema),
    }),
  ),
  tokens: z.array(z.object({ token: z.string(), account: z.string(), access: z.enum(["read-write", "read"]) })),
});

function savedRequest(row: IonosRequest): z.input<typeof requestSchema> {
  const targets = row.targets.map((target) => ({ ...target }));
  return { ...row, targets, effects: row.effects.map((effect) => ({ ...effect })) };
}

/** IONOS Cloud API v6: contracts with data centers, and a request to wait for behind every change. */
export class Ionos implements Cloud {
  readonly name = "ionos";
  readonly basePath = "/cloudapi/v6";
  readonly accountWord = "contract";
  readonly locations = [...locationIds];
  readonly book: AccountBook<Contract>;
  readonly #core: WorldCore;
  readonly #router = new Router<Call>(ionosRoutes);
  #lastAddress = 65_536;

  constructor(core: WorldCore) {
    this.#core = core;
    this.book = new AccountBook((name) => newContract(name, core.time));
  }

  configure(account: string, settings: unknown): unknown {
    const { limits = {}, requestsPerMinute, requestsAtOnce } = limitsSchema.parse(settings);
    const contract = this.book.get(account);
    contract.limits = { ...contract.limits, ...limits };
    contract.requestsPerMinute = requestsPerMinute ?? contract.requestsPerMinute;
    contract.requestsAtOnce = requestsAtOnce ?? contract.requestsAtOnce;
    const { limits: all, requestsPerMinute: perMinute, requestsAtOnce: atOnce } = contract;
    return { limits: all, requestsPerMinute: perMinute, requestsAtOnce: atOnce };
  }

  settle(): void {
    for (const contract of this.book.all()) settleRequests(contract, this.#core.time);
  }

  answer(asked: CloudRequest): WorldAnswer {
    const { request, faults, consoleOf } = asked;
    if (consoleOf !== undefined) return this.#route(consoleOf, asked);
    const token = this.book.tokenOf(request);
    const account = faults.strike("other-account")?.as ?? token?.account;
    const contract = account === undefined ? undefined : this.book.find(account);
    if (token === undefined || contract === undefined || faults.strike("expired-token") !== undefined) {
      return this.refusal(401, "315", "Unauthorized");
    }
    const limit = { most: contract.requestsAtOnce, perSecond: contract.requestsPerMinute / 60 };
    const { rate, isTaken } = taken(contract.rate, limit, this.#core.time.nowMs);
    contract.rate = rate;
    if (!isTaken) return this.rateLimited(contract.name, undefined);
    const answer = this.#guarded(token.access, contract.name, asked);
    return { ...answer, headers: { ...answer.headers, ...rateHeaders(contract) } };
  }

  refusal(status: number, code = String(status), message = "The request could not be carried out"): WorldAnswer {
    return { status, headers: {}, body: errorBody(status, code, message) };
  }

  rateLimited(account: string | undefined, retryAfterSeconds = 5): WorldAnswer {
    const contract = account === undefined ? undefined : this.book.find(account);
    const headers = { ...(contract === undefined ? {} : rateHeaders(contract)), "X-RateLimit-Remaining": "0" };
    return {
      ...this.refusal(429, "429", "Request rate limit exceeded"),
      headers: { ...headers, "Retry-After": String(retryAfterSeconds) },
    };
  }

  fill(account: string, { servers, prefix, labels }: Fill): number {
    const { elements } = this.book.get(account);
    const { time, random } = this.#core;
    const fresh = {
      state: "AVAILABLE",
      createdMs: time.nowMs,
      modifiedMs: time.nowMs,
      version: 1,
      labels: {},
    } as const;
    const place = { ...fresh, parent: undefined, datacenter: undefined, attachedTo: undefined };
    const id = newId({ random });
    const properties = { name: prefix, location: "de/fra" };
    elements.put({ ...place, id, shownId: id, type: "datacenter", properties });
    for (let number = 1; number <= servers; number += 1) {
      const own = newId({ random });
      const facts = { cores: 2, ram: 4_096, availabilityZone: "AUTO", cpuFamily: "INTEL_ICELAKE", type: "ENTERPRISE" };
      const named = { name: `${prefix}-${number}`, ...facts, vmState: "RUNNING" };
      const inside = { parent: id, datacenter: id, labels };
      elements.put({ ...place, ...inside, id: own, shownId: own, type: "server", properties: named });
    }
    return servers;
  }

  save(): z.input<typeof savedSchema> {
    const contracts = this.book
      .all()
      .map(({ name, limits, requestsPerMinute, requestsAtOnce, rate, running, elements, requests }) => ({
        name,
        limits: { ...limits },
        requestsPerMinute,
        requestsAtOnce,
        rate,
        running: [...running],
        elements: elements.all().map((row) => ({ ...row })),
        requests: requests.all().map(savedRequest),
      }));
    return { lastAddress: this.#lastAddress, contracts, tokens: [...this.book.tokens()] };
  }

  load(saved: unknown): void {
    const read = savedSchema.parse(saved);
    const contracts = read.contracts.map((from) => {
      const contract = newContract(from.name, this.#core.time);
      for (const row of from.elements) contract.elements.put(row as unknown as Element);
      for (const row of from.requests) contract.requests.put(row as unknown as IonosRequest);
      const { requestsPerMinute, requestsAtOnce = contract.requestsAtOnce, rate, running } = from;
      const limits = { ...contract.limits, ...from.limits };
      return Object.assign(contract, { limits, requestsPerMinute, requestsAtOnce, rate, running });
    });
    this.book.load(new Map(contracts.map((contract) => [contract.name, contract])), read.tokens);
    this.#lastAddress = read.lastAddress;
  }

  #guarded(access: Access, account: string, asked: CloudRequest): WorldAnswer {
    if (asked.faults.strike("suspended-account") !== undefined) {
      return this.refusal(403, "326", "The contract is locked, please contact support");
    }
    if (access === "read" && asked.request.method !== "GET") {
      return this.refusal(403, "326", "Insufficient privileges");
    }
    return this.#route(account, asked);
  }

  #route(account: string, asked: CloudRequest): WorldAnswer {
    const { request, path } = asked;
    const match = this.#router.match(request.method, path);
    if (match === undefined) return this.refusal(404, "309", "Resource does not exist");
    if (match === "elsewhere") return this.refusal(405, "405", "Method not allowed");
    try {
      const answer = match.route.answer({ ...this.#callOf(account, asked), params: match.params });
      return { status: answer.status, body: answer.body, headers: answer.headers ?? {} };
    } catch (thrown) {
      if (!(thrown instanceof IonosError)) throw thrown;
      return this.refusal(thrown.status, thrown.code, thrown.message);
    }
  }

  #callOf(account: string, { request, path, faults, consoleOf }: CloudRequest): Omit<Call, "params"> {
    const { time, random, settings } = this.#core;
    const host = request.headers["host"];
    return {
      contract: this.book.get(account),
      method: request.method,
      path,
      query: request.query,
      body: request.body,
      base: `${host === undefined ? "https://api.ionos.com" : `http://${host}`}${this.basePath}`,
      nowMs: time.nowMs,
      random,
      faults,
      pace: consoleOf === undefined ? settings.pace : 0,
      listLagMs: consoleOf === undefined ? settings.listLagSeconds * 1_000 : 0,
      pageMax: consoleOf === undefined ? settings.pageMax : undefined,
      nextAddress: () => (this.#lastAddress += 1),
    };
  }
}

function rateHeaders({ requestsPerMinute, requestsAtOnce, rate }: Contract): Record<string, string> {
  return {
    "X-RateLimit-Remaining": String(Math.floor(rate.left)),
    "X-RateLimit-Limit": String(requestsPerMinute),
    "X-RateLimit-Burst": String(requestsAtOnce),
  };
}
