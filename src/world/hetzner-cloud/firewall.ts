import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idSchema, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import {
  actionRoute,
  type Collection,
  createdText,
  deleteRoute,
  getRoute,
  listRoute,
  requireFreeName,
  requireRoom,
  shown,
  updateRoute,
} from "./collection.ts";
import { HetznerError, refused } from "./errors.ts";
import { parseSelector } from "./labels.ts";
import { selected } from "./pages.ts";
import type { ProjectView } from "./project.ts";
import type { Action, Firewall, FirewallRule } from "./rows.ts";

export const firewalls: Collection<"firewalls"> = {
  path: "firewalls",
  one: "firewall",
  table: "firewalls",
  title: "firewall",
  show: (firewall, view) => ({
    id: firewall.id,
    name: firewall.name,
    labels: firewall.labels,
    created: createdText(firewall),
    rules: firewall.rules.map(ruleBody),
    applied_to: [
      ...firewall.servers.map((id) => ({ type: "server", server: { id } })),
      ...firewall.selectors.map((selector) => ({
        type: "label_selector",
        label_selector: { selector },
        applied_to_resources: serversSelected(view, selector).map(({ id }) => ({ type: "server", server: { id } })),
      })),
    ],
  }),
};

function ruleBody(rule: FirewallRule): unknown {
  return {
    direction: rule.direction,
    protocol: rule.protocol,
    port: rule.port ?? null,
    source_ips: rule.sourceIps,
    destination_ips: rule.destinationIps,
    description: rule.description ?? null,
  };
}

export function serversSelected(view: ProjectView, selector: string) {
  return selected(
    selector,
    () => view.servers.all(),
    (label) => view.servers.where("label", label),
  );
}

/** The firewalls of a server, applied to it by id or by its labels. */
export function firewallsOf(view: ProjectView, server: { readonly id: number; readonly labels: Firewall["labels"] }) {
  const direct = view.firewalls.where("server", server.id);
  const byLabel = view.firewalls
    .all()
    .filter(
      (firewall) =>
        firewall.selectors.length > 0 &&
        !direct.includes(firewall) &&
        firewall.selectors.some((selector) => parseSelector(selector).matches(server.labels)),
    );
  return [...direct, ...byLabel];
}

const ruleSchema = z
  .object({
    direction: z.enum(["in", "out"]),
    protocol: z.enum(["tcp", "udp", "icmp", "esp", "gre"]),
    port: z
      .string()
      .regex(/^(any|\d{1,5}(-\d{1,5})?)$/, "must be a port, a range, or any")
      .nullish(),
    source_ips: z.array(z.string()).default([]),
    destination_ips: z.array(z.string()).default([]),
    description: z.string().max(255, "is too long").nullish(),
  })
  .refine(
    ({ protocol, port }) => (protocol === "tcp" || protocol === "udp") === (port !== null && port !== undefined),
    {
      message: "is needed for tcp and udp, and for them alone",
      path: ["port"],
    },
  )
  .refine(({ direction, source_ips }) => direction === "out" || source_ips.length > 0, {
    message: "is required for rules of direction in",
    path: ["source_ips"],
  })
  .refine(({ direction, destination_ips }) => direction === "in" || destination_ips.length > 0, {
    message: "is required for rules of direction out",
    path: ["destination_ips"],
  });
const rulesSchema = z.array(ruleSchema).max(50, "has too many entries");

const resourceSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("server"), server: z.object({ id: idSchema }) }),
  z.object({ type: z.literal("label_selector"), label_selector: z.object({ selector: z.string().min(1) }) }),
]);
type Resource = z.output<typeof resourceSchema>;

function ruleOf(rule: z.output<typeof ruleSchema>): FirewallRule {
  return {
    direction: rule.direction,
    protocol: rule.protocol,
    port: rule.port ?? undefined,
    sourceIps: rule.source_ips,
    destinationIps: rule.destination_ips,
    description: rule.description ?? undefined,
  };
}

function createFirewall(call: Call) {
  const schema = z.object({
    name: nameSchema,
    labels: labelsSchema.default({}),
    rules: rulesSchema.default([]),
    apply_to: z.array(resourceSchema).default([]),
  });
  const body = bodyOf(call, schema);
  requireFreeName(call, firewalls, body.name);
  requireRoom(call, firewalls);
  const { name, labels, rules } = body;
  for (const resource of body.apply_to) requireResource(call, resource, 422);
  const firewall: Firewall = {
    id: call.nextId(),
    name,
    labels,
    createdMs: call.nowMs,
    rules: rules.map(ruleOf),
    servers: [],
    selectors: [],
  };
  call.project.firewalls.put(firewall);
  const actions = [changeRules(call, firewall, firewall.rules), ...apply(call, firewall.id, body.apply_to)];
  return created({
    firewall: shown(call, firewalls, firewall.id),
    actions: actions.map((action) => actionBody(action, call.nowMs)),
  });
}

function changeRules(call: Call, firewall: Firewall, rules: readonly FirewallRule[]): Action {
  return startAction(call, {
    command: "set_firewall_rules",
    resources: [{ id: firewall.id, type: "firewall" }],
    now: () => call.project.firewalls.put({ ...firewall, rules }),
  });
}

function requireResource(call: Call, resource: Resource, status: number): void {
  if (resource.type === "label_selector") {
    parseSelector(resource.label_selector.selector);
    return;
  }
  const server = call.project.servers.get(resource.server.id);
  if (server === undefined) {
    throw refused("firewall_resource_not_found", `server with ID '${resource.server.id}' not found`, status);
  }
  if (call.project.primaryIps.where("server", server.id).length === 0) {
    throw refused("private_net_only_server", "server has no public interface");
  }
}

function apply(call: Call, id: number, resources: readonly Resource[]): Action[] {
  return resources.map((resource) =>
    startAction(call, {
      command: "apply_firewall",
      resources: resourcesOf(id, resource),
      now: () => applyTo(call, id, resource),
    }),
  );
}

function applyTo(call: Call, id: number, resource: Resource): void {
  const firewall = call.project.firewalls.get(id);
  if (firewall === undefined) return;
  call.project.firewalls.put(
    resource.type === "server"
      ? { ...firewall, servers: [...firewall.servers, resource.server.id] }
      : { ...firewall, selectors: [...firewall.selectors, resource.label_selector.selector] },
  );
}

function resourcesOf(id: number, resource: Resource): Action["resources"] {
  const firewall = { id, type: "firewall" };
  return resource.type === "server" ? [{ id: resource.server.id, type: "server" }, firewall] : [firewall];
}

function isApplied(firewall: Firewall, resource: Resource): boolean {
  return resource.type === "server"
    ? firewall.servers.includes(resource.server.id)
    : firewall.selectors.includes(resource.label_selector.selector);
}

function applyToResources(call: Call, firewall: Firewall) {
  const { apply_to } = bodyOf(call, z.object({ apply_to: z.array(resourceSchema).min(1) }));
  for (const resource of apply_to) {
    requireResource(call, resource, 404);
    if (isApplied(firewall, resource)) throw refused("firewall_already_applied", "firewall is already applied");
  }
  const actions = apply(call, firewall.id, apply_to);
  return created({ actions: actions.map((action) => actionBody(action, call.nowMs)) });
}

function removeFromResources(call: Call, firewall: Firewall) {
  const { remove_from } = bodyOf(call, z.object({ remove_from: z.array(resourceSchema).min(1) }));
  for (const resource of remove_from) {
    if (isApplied(firewall, resource)) continue;
    if (resource.type === "server" && serverIsSelected(call, firewall, resource.server.id)) {
      throw refused("firewall_managed_by_label_selector", "firewall is applied via a label selector");
    }
    throw refused("firewall_resource_not_found", "the firewall is not applied to this resource", 404);
  }
  const actions = remove_from.map((resource) =>
    startAction(call, {
      command: "remove_firewall",
      resources: resourcesOf(firewall.id, resource),
      now: () => removeFrom(call, firewall.id, resource),
    }),
  );
  return created({ actions: actions.map((action) => actionBody(action, call.nowMs)) });
}

function removeFrom(call: Call, id: number, resource: Resource): void {
  const firewall = call.project.firewalls.get(id);
  if (firewall === undefined) return;
  const servers = firewall.servers.filter((each) => resource.type !== "server" || each !== resource.server.id);
  const selectors = firewall.selectors.filter(
    (each) => resource.type !== "label_selector" || each !== resource.label_selector.selector,
  );
  call.project.firewalls.put({ ...firewall, servers, selectors });
}

function serverIsSelected(call: Call, firewall: Firewall, server: number): boolean {
  return firewall.selectors.some((selector) => serversSelected(call.project, selector).some(({ id }) => id === server));
}

export const firewallRoutes: readonly HetznerRoute[] = [
  listRoute(firewalls),
  getRoute(firewalls),
  { method: "POST", path: "/firewalls", answer: createFirewall },
  updateRoute(
    firewalls,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (firewall, { name = firewall.name, labels = firewall.labels }) => ({ ...firewall, name, labels }),
  ),
  deleteRoute(firewalls, (_call, firewall) => {
    if (firewall.servers.length + firewall.selectors.length === 0) return;
    throw new HetznerError(422, "resource_in_use", "firewall is still applied to a resource");
  }),
  ...actionRoutesOf("firewalls", "firewall"),
  actionRoute(firewalls, "set_rules", (call, firewall) => {
    const { rules } = bodyOf(call, z.object({ rules: rulesSchema }));
    const action = changeRules(call, firewall, rules.map(ruleOf));
    return created({ actions: [actionBody(action, call.nowMs)] });
  }),
  actionRoute(firewalls, "apply_to_resources", applyToResources),
  actionRoute(firewalls, "remove_from_resources", removeFromResources),
];
