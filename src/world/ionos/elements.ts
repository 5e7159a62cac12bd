import type { JsonObject } from "../../ports/json.ts";
import { balancersIn, consumersOf, requireBalancing } from "./balancing.ts";
import type { Answer, Call, IonosRoute } from "./call.ts";
import { depthOf } from "./catalogue.ts";
import { IonosError, locked, missing } from "./errors.ts";
import { chosen } from "./filters.ts";
import { type Kind, kindOf, kinds, listPath, onePath } from "./kinds.ts";
import { checked, makeElements, wantedOf } from "./make.ts";
import { pageOf, shortPages, viewOf } from "./pages.ts";
import { requireRegion } from "./regions.ts";
import { accepted, startRequest } from "./requests.ts";
import { type Consequence, type Element, textOf } from "./rows.ts";
import { collectionBody, elementBody, factsOf } from "./shown.ts";

export function jsonOf(call: Pick<Call, "body">): unknown {
  if (call.body.trim() === "") return {};
  try {
    return JSON.parse(call.body);
  } catch {
    throw new IonosError(400, "100", "The request body is not valid JSON");
  }
}

/** The element that the path names, which must be inside those that the path names before it. */
export function elementOf(call: Call, kind: Kind): Element {
  const parent = parentOf(call, kind);
  const shownId = call.params[kind.idParam] ?? "";
  const id = kind.type === "lan" ? `${parent?.id ?? ""}:${shownId}` : shownId;
  const element = call.contract.elements.get(id);
  if (element === undefined || element.type !== kind.type || element.parent !== parent?.id) throw missing();
  if (kind.type === "datacenter" && call.method !== "GET") requireRegion(call, textOf(element.properties, "location"));
  return element;
}

function parentOf(call: Call, kind: Kind): Element | undefined {
  return kind.parent === undefined ? undefined : elementOf(call, kindOf(kind.parent));
}

function list(call: Call, kind: Kind): Answer {
  const parent = parentOf(call, kind);
  const view = viewOf(call);
  const all = view.where("inside", `${parent?.id ?? "top"} ${kind.type}`);
  const rows = chosen(call, all, (element) => factsOf(call, view, element));
  const page = kind.type === "ipblock" ? pageOf(call, rows, shortPages) : pageOf(call, rows);
  const href = `${call.base}${call.path}`;
  const id = parent === undefined ? kind.segment : `${parent.shownId}/${kind.segment}`;
  const body = collectionBody(call, view, { id, href, rows: page.rows, depth: depthOf(call) });
  return { status: 200, body: { ...body, ...page.facts } };
}

const available = (element: Element): Consequence => ({ element: element.id, properties: {} });
const gone = (element: Element): Consequence => ({ element: element.id, properties: undefined });

/** The outcome of some work on an element: its answer shows it busy. */
export function answered(call: Call, element: Element, request: ReturnType<typeof startRequest>): Answer {
  const now = call.contract.elements.get(element.id) ?? element;
  return accepted(call, request, elementBody(call, call.contract.elements, now, depthOf(call)));
}

function create(call: Call, kind: Kind): Answer {
  const parent = parentOf(call, kind);
  const wanted = wantedOf(kind, jsonOf(call));
  const elements = makeElements(call, kind, wanted, parent);
  const [element] = elements;
  if (element === undefined) throw new Error("An element was to be made, and none was.");
  const request = startRequest(call, {
    seconds: kind.seconds,
    elements: [element],
    datacenter: parent === undefined ? undefined : (parent.datacenter ?? parent.id),
    effects: elements.map(available),
    otherwise: elements.toReversed().map(gone),
  });
  return answered(call, element, request);
}

export function requireIdle(element: Element): void {
  if (element.state === "BUSY") throw locked();
}

export function changeProperties(call: Call, element: Element, properties: JsonObject): Answer {
  requireIdle(element);
  const before = element.properties;
  requireBalancing(call, kindOf(element.type), { ...before, ...properties }, element);
  call.contract.elements.put({ ...element, properties: { ...before, ...properties } });
  const back = Object.fromEntries(Object.keys(properties).map((key) => [key, before[key] ?? null]));
  const request = startRequest(call, {
    seconds: Math.min(10, kindOf(element.type).seconds),
    elements: [element],
    datacenter: element.datacenter ?? (element.type === "datacenter" ? element.id : undefined),
    effects: [available(element)],
    otherwise: [{ element: element.id, properties: back }],
  });
  return answered(call, element, request);
}

/** PATCH takes bare properties, PUT a whole element; fields that nobody names stay. */
function update(call: Call, kind: Kind): Answer {
  const element = elementOf(call, kind);
  const body = jsonOf(call) as { readonly properties?: unknown };
  if (call.method === "PUT") return changeProperties(call, element, wantedOf(kind, body).properties);
  const named = new Set(Object.keys(body));
  const all = checked(kind.properties.partial(), body, "");
  return changeProperties(call, element, Object.fromEntries(Object.entries(all).filter(([key]) => named.has(key))));
}

export function remove(call: Call, kind: Kind): Answer {
  const element = elementOf(call, kind);
  requireIdle(element);
  const { elements } = call.contract;
  requireFree(call, element);
  const withVolumes = kind.type === "server" && call.query.get("deleteVolumes") === "true";
  const also = withVolumes ? elements.where("attachedTo", element.id) : [];
  const request = startRequest(call, {
    // A load balancer is machines of the provider's own, which go as slowly as they come.
    seconds: kind.type === "networkloadbalancer" ? kind.seconds : Math.min(10, kind.seconds),
    elements: [element],
    datacenter: element.datacenter ?? (kind.type === "datacenter" ? element.id : undefined),
    effects: [...also, element].map(gone),
    otherwise: [...also, element].map(available),
  });
  return accepted(call, request, undefined);
}

/** What others stand on cannot go. */
function requireFree({ contract }: Call, element: Element): void {
  const { elements } = contract;
  if (element.type === "lan" && (elements.where("lan", element.id).length > 0 || balancersIn(contract, element) > 0))
    throw new IonosError(422, "341", "[VDC-4-403] The LAN still has network interfaces");
  if (element.type === "ipblock" && consumersOf(contract, element).length > 0)
    throw new IonosError(422, "341", "[VDC-14-1830] The IP block still has addresses in use");
}

function routesOf(kind: Kind): IonosRoute[] {
  return [
    { method: "GET", path: listPath(kind), answer: (call) => list(call, kind) },
    { method: "POST", path: listPath(kind), answer: (call) => create(call, kind) },
    {
      method: "GET",
      path: onePath(kind),
      answer: (call) => {
        const body = elementBody(call, call.contract.elements, elementOf(call, kind), depthOf(call));
        return { status: 200, body };
      },
    },
    { method: "PATCH", path: onePath(kind), answer: (call) => update(call, kind) },
    { method: "PUT", path: onePath(kind), answer: (call) => update(call, kind) },
    { method: "DELETE", path: onePath(kind), answer: (call) => remove(call, kind) },
  ];
}

/** Snapshots have ways of their own: they are taken of a volume, and listed without pages. */
export const elementRoutes: readonly IonosRoute[] = kinds.filter(({ type }) => type !== "snapshot").flatMap(routesOf);
