import { isoSecond } from "../../runtime/iso-second.ts";
import type { WorldTime } from "../table.ts";
import { type Answer, type Call, type IonosRoute, newId, ok } from "./call.ts";
import { depthOf } from "./catalogue.ts";
import type { Contract } from "./contract.ts";
import { missing } from "./errors.ts";
import { chosen, type Facts } from "./filters.ts";
import { pageOf } from "./pages.ts";
import { hrefOf } from "./shown.ts";
import type { Consequence, Element, IonosRequest } from "./rows.ts";

export interface Work {
  readonly seconds: number;
  readonly elements: readonly Element[];
  readonly datacenter: string | undefined;
  /** What the elements are when it ends well. */
  readonly effects: readonly Consequence[];
  /** What they are when it fails. */
  readonly otherwise: readonly Consequence[];
}

/** Enters a request; what it touches is busy until it is over. */
export function startRequest(call: Call, work: Work): IonosRequest {
  const { contract, nowMs } = call;
  // Commands are the other cloud's; which requests fail here is aimed at by method and path.
  const failure = call.faults.strike("failed-actions", ({ command }) => command === undefined);
  const factor = call.faults.strike("slow-actions")?.factor ?? 1;
  const before = contract.running.flatMap((id) => contract.requests.get(id) ?? []);
  const freeMs = before
    .filter(({ datacenter }) => work.datacenter !== undefined && datacenter === work.datacenter)
    .reduce((latest, { endsMs }) => Math.max(latest, endsMs), nowMs);
  const usualMs = work.seconds * 1_000 * (0.8 + 0.4 * call.random.next());
  const request: IonosRequest = {
    id: newId(call),
    method: call.method,
    url: `${call.base}${call.path}`,
    body: call.body,
    datacenter: work.datacenter,
    createdMs: nowMs,
    startsMs: freeMs,
    endsMs: freeMs + Math.round(usualMs * call.pace * factor),
    isOver: false,
    failure: failure === undefined ? undefined : `[${failure.code}] ${failure.message}`,
    targets: work.elements.map((element) => ({
      id: element.shownId,
      type: element.type,
      href: `${call.base}${hrefOf(contract, element)}`,
    })),
    effects: failure === undefined ? work.effects : work.otherwise,
  };
  for (const { element } of request.effects) {
    const row = contract.elements.get(element);
    if (row !== undefined) contract.elements.put({ ...row, state: "BUSY" });
  }
  contract.requests.put(request);
  const at = before.findIndex(({ endsMs }) => endsMs > request.endsMs);
  contract.running = contract.running.toSpliced(at < 0 ? contract.running.length : at, 0, request.id);
  if (request.endsMs <= nowMs) settleOne(contract, request, nowMs);
  return request;
}

export function settleRequests(contract: Contract, time: WorldTime): void {
  const { nowMs } = time;
  for (let next = head(contract); next !== undefined && next.endsMs <= nowMs; next = head(contract)) {
    time.nowMs = next.endsMs;
    settleOne(contract, next, next.endsMs);
  }
  time.nowMs = nowMs;
}

function head({ running, requests }: Contract): IonosRequest | undefined {
  const [first] = running;
  return first === undefined ? undefined : requests.get(first);
}

function settleOne(contract: Contract, request: IonosRequest, nowMs: number): void {
  contract.running = contract.running.filter((id) => id !== request.id);
  contract.requests.put({ ...request, isOver: true });
  for (const { element, properties } of request.effects) {
    const row = contract.elements.get(element);
    if (row === undefined) continue;
    if (properties === undefined) removeWithAll(contract, row);
    else {
      const next = { ...row.properties, ...properties };
      contract.elements.put({
        ...row,
        properties: next,
        state: "AVAILABLE",
        modifiedMs: nowMs,
        version: row.version + 1,
      });
    }
  }
}

/** An element goes with all that is inside it; volumes that were attached to it stay. */
export function removeWithAll(contract: Contract, element: Element): void {
  const { elements } = contract;
  for (const volume of elements.where("attachedTo", element.id)) elements.put({ ...volume, attachedTo: undefined });
  const inside = (
    ["server", "volume", "lan", "networkloadbalancer", "nic", "firewall-rule", "forwarding-rule"] as const
  ).flatMap((type) => elements.where("inside", `${element.id} ${type}`));
  for (const child of inside) removeWithAll(contract, child);
  elements.remove(element.id);
}

export function accepted(call: Call, request: IonosRequest, body: unknown): Answer {
  return { status: 202, body, headers: { Location: `${call.base}/requests/${request.id}/status` } };
}

function statusOf({ isOver, failure, startsMs }: IonosRequest, nowMs: number): string {
  if (isOver) return failure === undefined ? "DONE" : "FAILED";
  return nowMs < startsMs ? "QUEUED" : "RUNNING";
}

function statusBody({ base, nowMs }: Call, request: IonosRequest): unknown {
  const status = statusOf(request, nowMs);
  const message = status === "FAILED" ? (request.failure ?? "") : `Request is ${status.toLowerCase()}`;
  return {
    id: `${request.id}/status`,
    type: "request-status",
    href: `${base}/requests/${request.id}/status`,
    metadata: { status, message, etag: request.id, targets: request.targets.map((target) => ({ target, status })) },
  };
}

function requestBody(call: Call, request: IonosRequest, depth: number): unknown {
  const reference = { id: request.id, type: "request", href: `${call.base}/requests/${request.id}` };
  if (depth < 0) return reference;
  return {
    ...reference,
    metadata: {
      createdDate: isoSecond(request.createdMs),
      createdBy: `${call.contract.name}@example.test`,
      etag: request.id,
      requestStatus: statusBody(call, request),
    },
    properties: { method: request.method, headers: {}, body: request.body, url: request.url },
  };
}

function found(call: Call): IonosRequest {
  const request = call.contract.requests.get(call.params["requestId"] ?? "");
  if (request === undefined) throw missing();
  return request;
}

function factsOf(call: Call, request: IonosRequest): Facts {
  const { method, url, body, id: etag, createdMs } = request;
  const status = statusOf(request, call.nowMs);
  const createdBy = `${call.contract.name}@example.test`;
  return {
    method,
    url,
    body,
    headers: {},
    etag,
    createdBy,
    createdDate: isoSecond(createdMs),
    status,
    requestStatus: status,
  };
}

export const requestRoutes: readonly IonosRoute[] = [
  {
    method: "GET",
    path: "/requests",
    answer: (call) => {
      const newestFirst = call.contract.requests.all().toReversed();
      const all = chosen(call, newestFirst, (request) => factsOf(call, request));
      const page = pageOf(call, all);
      const items = page.rows.map((request) => requestBody(call, request, depthOf(call) - 1));
      return ok({ id: "requests", type: "collection", href: `${call.base}/requests`, items, ...page.facts });
    },
  },
  { method: "GET", path: "/requests/{requestId}", answer: (call) => ok(requestBody(call, found(call), 0)) },
  { method: "GET", path: "/requests/{requestId}/status", answer: (call) => ok(statusBody(call, found(call))) },
];
