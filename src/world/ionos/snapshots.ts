import type { Answer, Call, IonosRoute } from "./call.ts";
import { depthOf } from "./catalogue.ts";
import { answered, elementOf, remove, requireIdle } from "./elements.ts";
import { chosen } from "./filters.ts";
import { kindOf, listPath, onePath } from "./kinds.ts";
import { checked, makeElements } from "./make.ts";
import { keptOf, viewOf } from "./pages.ts";
import { startRequest } from "./requests.ts";
import { numberOf, textOf } from "./rows.ts";
import { collectionBody, elementBody, factsOf } from "./shown.ts";

const volume = kindOf("volume");
const snapshot = kindOf("snapshot");

/** Takes a snapshot of a volume. Its body is a form, of all that the API takes the only one. */
function take(call: Call): Answer {
  const of = elementOf(call, volume);
  requireIdle(of);
  const place = call.contract.elements.get(of.datacenter ?? "");
  const form = Object.fromEntries(new URLSearchParams(call.body));
  const facts = { location: textOf(place?.properties, "location"), size: numberOf(of.properties, "size") };
  const properties = checked(snapshot.properties, { ...form, ...facts }, "properties.");
  const [element] = makeElements(call, snapshot, { properties, inside: [] }, undefined);
  if (element === undefined) throw new Error("A snapshot was to be made, and none was.");
  const request = startRequest(call, {
    seconds: snapshot.seconds,
    elements: [element],
    datacenter: of.datacenter,
    effects: [{ element: element.id, properties: {} }],
    otherwise: [{ element: element.id, properties: undefined }],
  });
  return answered(call, element, request);
}

function list(call: Call): Answer {
  const view = viewOf(call);
  const all = chosen(call, view.where("inside", "top snapshot"), (element) => factsOf(call, view, element));
  const { kept } = keptOf(call, all);
  const of = { id: snapshot.segment, href: `${call.base}${call.path}`, rows: kept, depth: depthOf(call) };
  return { status: 200, body: collectionBody(call, view, of) };
}

function one(call: Call): Answer {
  const element = elementOf(call, snapshot);
  return { status: 200, body: elementBody(call, call.contract.elements, element, depthOf(call)) };
}

export const snapshotRoutes: readonly IonosRoute[] = [
  { method: "POST", path: `${onePath(volume)}/create-snapshot`, answer: take },
  { method: "GET", path: listPath(snapshot), answer: list },
  { method: "GET", path: onePath(snapshot), answer: one },
  { method: "DELETE", path: onePath(snapshot), answer: (call) => remove(call, snapshot) },
];
