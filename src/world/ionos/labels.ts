import { z } from "zod";
import { type Answer, type Call, type IonosRoute, ok } from "./call.ts";
import { depthOf } from "./catalogue.ts";
import { elementOf, jsonOf } from "./elements.ts";
import { invalid, IonosError, missing } from "./errors.ts";
import { type Kind, kindOf, onePath } from "./kinds.ts";
import { keptOf, viewOf } from "./pages.ts";
import type { Element } from "./rows.ts";
import { hrefOf } from "./shown.ts";

const labelled = (["datacenter", "server", "volume", "ipblock"] as const).map((type) => kindOf(type));
const keySchema = z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, "is not a valid label key");
const bodySchema = z.looseObject({ properties: z.object({ key: keySchema, value: z.string().max(63) }) });

function labelBody(call: Call, element: Element, key: string, depth: number): unknown {
  const href = `${call.base}${hrefOf(call.contract, element)}/labels/${encodeURIComponent(key)}`;
  const reference = { id: key, type: "label", href };
  return depth < 0 ? reference : { ...reference, properties: { key, value: element.labels[key] ?? "" } };
}

function wanted(call: Call): { readonly key: string; readonly value: string } {
  const parsed = bodySchema.safeParse(jsonOf(call));
  if (parsed.success) return parsed.data.properties;
  throw invalid("properties", parsed.error.issues[0]?.message ?? "is invalid");
}

/** Labels are set at once, by a call of their own: there is no request to wait for. */
function set(call: Call, kind: Kind, isNew: boolean): Answer {
  const element = elementOf(call, kind);
  const { key, value } = wanted(call);
  const has = element.labels[key] !== undefined;
  if (isNew && has) throw new IonosError(422, "100", `[(root).properties.key] Label '${key}' already exists`);
  if (!isNew && !has) throw missing();
  const labels = { ...element.labels, [key]: value };
  const row = call.contract.elements.put({ ...element, labels });
  return { status: isNew ? 201 : 200, body: labelBody(call, row, key, 0) };
}

function keyed(call: Call, kind: Kind): { readonly element: Element; readonly key: string } {
  const element = elementOf(call, kind);
  const key = call.params["key"] ?? "";
  if (element.labels[key] === undefined) throw missing();
  return { element, key };
}

function routesOf(kind: Kind): IonosRoute[] {
  const path = `${onePath(kind)}/labels`;
  return [
    {
      method: "GET",
      path,
      answer: (call) => {
        const element = elementOf(call, kind);
        // Nobody can ask for a page of them.
        const { kept } = keptOf(call, Object.keys(element.labels));
        const items = kept.map((key) => labelBody(call, element, key, depthOf(call) - 1));
        const id = `${element.shownId}/labels`;
        return ok({ id, type: "collection", href: `${call.base}${call.path}`, items });
      },
    },
    { method: "POST", path, answer: (call) => set(call, kind, true) },
    {
      method: "GET",
      path: `${path}/{key}`,
      answer: (call) => {
        const { element, key } = keyed(call, kind);
        return ok(labelBody(call, element, key, 0));
      },
    },
    { method: "PUT", path: `${path}/{key}`, answer: (call) => set(call, kind, false) },
    {
      method: "DELETE",
      path: `${path}/{key}`,
      answer: (call) => {
        const { element, key } = keyed(call, kind);
        const labels = Object.fromEntries(Object.entries(element.labels).filter(([other]) => other !== key));
        call.contract.elements.put({ ...element, labels });
        return { status: 200, body: undefined };
      },
    },
  ];
}

/** All labels of the contract, each with what it is on. */
function everyLabel(call: Call): Answer {
  const depth = depthOf(call) - 1;
  const view = viewOf(call);
  const all = labelled
    .flatMap((kind) => view.where("type", kind.type))
    .flatMap((element) =>
      Object.entries(element.labels).map(([key, value]) => {
        const urn = `urn:label:${element.type}:${element.shownId}:${key}`;
        const reference = { id: urn, type: "label", href: `${call.base}/labels/${encodeURIComponent(urn)}` };
        const on = { resourceId: element.shownId, resourceType: element.type };
        const resourceHref = `${call.base}${hrefOf(call.contract, element)}`;
        return depth < 0 ? reference : { ...reference, properties: { key, value, ...on, resourceHref } };
      }),
    );
  const { kept: items } = keptOf(call, all);
  return ok({ id: "labels", type: "collection", href: `${call.base}/labels`, items });
}

export const labelRoutes: readonly IonosRoute[] = [
  { method: "GET", path: "/labels", answer: everyLabel },
  ...labelled.flatMap(routesOf),
];
