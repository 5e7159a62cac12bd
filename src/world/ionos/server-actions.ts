import { z } from "zod";
import type { Answer, Call, IonosRoute } from "./call.ts";
import { depthOf } from "./catalogue.ts";
import { answered, elementOf, jsonOf, requireIdle } from "./elements.ts";
import { invalid, IonosError, missing } from "./errors.ts";
import { kindOf, onePath } from "./kinds.ts";
import { makeElements, wantedOf } from "./make.ts";
import { pageOf, viewOf } from "./pages.ts";
import { accepted, startRequest } from "./requests.ts";
import { type Element, textOf } from "./rows.ts";
import { collectionBody, elementBody } from "./shown.ts";

const server = kindOf("server");
const lan = kindOf("lan");

/** What becomes of a server's machine, and what it must be before. */
const verbs: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  start: ["RUNNING", ["SHUTOFF", "RUNNING"]],
  stop: ["SHUTOFF", ["RUNNING", "SHUTOFF"]],
  reboot: ["RUNNING", ["RUNNING"]],
  suspend: ["SUSPENDED", ["RUNNING"]],
  resume: ["RUNNING", ["SUSPENDED"]],
  upgrade: ["RUNNING", ["RUNNING", "SHUTOFF"]],
};

function act(call: Call, vmState: string, from: readonly string[]): Answer {
  const element = elementOf(call, server);
  requireIdle(element);
  if (!from.includes(textOf(element.properties, "vmState"))) {
    throw new IonosError(422, "331", `[VDC-5-1820] The server is ${textOf(element.properties, "vmState")}`);
  }
  const request = startRequest(call, {
    seconds: 5,
    elements: [element],
    datacenter: element.datacenter,
    effects: [{ element: element.id, properties: { vmState } }],
    otherwise: [{ element: element.id, properties: {} }],
  });
  return accepted(call, request, undefined);
}

/** Attaches a volume that is named, or makes one and attaches that. */
function attach(call: Call): Answer {
  const owner = elementOf(call, server);
  const body = jsonOf(call);
  const named = z.looseObject({ id: z.string() }).safeParse(body);
  const { elements } = call.contract;
  const volume = named.success ? elements.get(named.data.id) : madeVolume(call, owner, body);
  if (volume?.type !== "volume" || volume.datacenter !== owner.datacenter) throw missing();
  if (named.success) requireIdle(volume);
  if (volume.attachedTo !== undefined) throw invalid("id", "Volume is already attached to a server");
  const attached = elements.put({ ...volume, attachedTo: owner.id });
  const request = startRequest(call, {
    seconds: 5,
    elements: [attached],
    datacenter: owner.datacenter,
    effects: [{ element: volume.id, properties: {} }],
    otherwise: [{ element: volume.id, properties: named.success ? {} : undefined }],
  });
  return answered(call, attached, request);
}

function madeVolume(call: Call, owner: Element, body: unknown): Element | undefined {
  const kind = kindOf("volume");
  return makeElements(call, kind, wantedOf(kind, body), call.contract.elements.get(owner.datacenter ?? ""))[0];
}

function attachedOf(call: Call): Element {
  const owner = elementOf(call, server);
  const volume = call.contract.elements.get(call.params["volumeId"] ?? "");
  if (volume === undefined || volume.attachedTo !== owner.id) throw missing();
  return volume;
}

function detach(call: Call): Answer {
  const volume = attachedOf(call);
  requireIdle(volume);
  const request = startRequest(call, {
    seconds: 5,
    elements: [volume],
    datacenter: volume.datacenter,
    effects: [{ element: volume.id, properties: {} }],
    otherwise: [{ element: volume.id, properties: {} }],
  });
  const row = call.contract.elements.get(volume.id) ?? volume;
  if (request.failure === undefined) call.contract.elements.put({ ...row, attachedTo: undefined });
  return accepted(call, request, undefined);
}

/** A list of elements that belong to another one without being inside it. */
function related(call: Call, owner: Element, segment: string, index: string): Answer {
  const view = viewOf(call);
  const page = pageOf(call, view.where(index, owner.id));
  const of = {
    id: `${owner.shownId}/${segment}`,
    href: `${call.base}${call.path}`,
    rows: page.rows,
    depth: depthOf(call),
  };
  return { status: 200, body: { ...collectionBody(call, view, of), ...page.facts } };
}

function memberOf(call: Call): Answer {
  const owner = elementOf(call, lan);
  const nic = call.contract.elements.where("lan", owner.id).find(({ shownId }) => shownId === call.params["nicId"]);
  if (nic === undefined) throw missing();
  return { status: 200, body: elementBody(call, call.contract.elements, nic, depthOf(call)) };
}

export const serverActionRoutes: readonly IonosRoute[] = [
  ...Object.entries(verbs).map(([verb, [vmState, from]]) => ({
    method: "POST",
    path: `${onePath(server)}/${verb}`,
    answer: (call: Call) => act(call, vmState, from),
  })),
  {
    method: "GET",
    path: `${onePath(server)}/volumes`,
    answer: (call) => related(call, elementOf(call, server), "volumes", "attachedTo"),
  },
  { method: "POST", path: `${onePath(server)}/volumes`, answer: attach },
  {
    method: "GET",
    path: `${onePath(server)}/volumes/{volumeId}`,
    answer: (call) => ({
      status: 200,
      body: elementBody(call, call.contract.elements, attachedOf(call), depthOf(call)),
    }),
  },
  { method: "DELETE", path: `${onePath(server)}/volumes/{volumeId}`, answer: detach },
  {
    method: "GET",
    path: `${onePath(lan)}/nics`,
    answer: (call) => related(call, elementOf(call, lan), "nics", "lan"),
  },
  { method: "GET", path: `${onePath(lan)}/nics/{nicId}`, answer: memberOf },
];
