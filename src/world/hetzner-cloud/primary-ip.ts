import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema, nameSchema, optionalIdSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { datacenterBody } from "./catalogue-routes.ts";
import {
  datacenterIn,
  datacenterNamed,
  datacenters,
  findByIdOrName,
  locationNamed,
  locations,
} from "./catalogue/locations.ts";
import {
  actionRoute,
  type Collection,
  createdText,
  deleteRoute,
  getRoute,
  listRoute,
  protectionRoute,
  requireFreeName,
  requireRoom,
  shown,
  thingWithId,
  updateRoute,
} from "./collection.ts";
import { invalidInput, refused } from "./errors.ts";
import { pointerRoute } from "./pointer-route.ts";
import { newPrimaryIp } from "./public-addresses.ts";
import type { Action, PrimaryIp } from "./rows.ts";
import { servers } from "./server.ts";

export const primaryIps: Collection<"primaryIps"> = {
  path: "primary_ips",
  one: "primary_ip",
  table: "primaryIps",
  title: "primary IP",
  show: (ip, _view, call) => ({
    id: ip.id,
    name: ip.name,
    type: ip.type,
    ip: ip.ip,
    labels: ip.labels,
    created: createdText(ip),
    blocked: false,
    datacenter: datacenterBody(datacenterNamed(ip.datacenter), call),
    location: locationNamed(datacenterNamed(ip.datacenter).location),
    dns_ptr: ip.pointers.map(({ ip, name }) => ({ ip, dns_ptr: name })),
    protection: ip.protection,
    assignee_id: ip.server ?? null,
    assignee_type: "server",
    auto_delete: ip.autoDelete,
  }),
  sortedBy: ["id", "created"],
  filters: { ip: (ip, values) => values.includes(ip.ip) },
};

const createSchema = z.object({
  name: nameSchema,
  type: z.enum(["ipv4", "ipv6"]),
  assignee_type: z.literal("server"),
  assignee_id: optionalIdSchema,
  auto_delete: z.boolean().default(false),
  datacenter: idOrNameSchema.optional(),
  location: idOrNameSchema.optional(),
  labels: labelsSchema.default({}),
});

function createPrimaryIp(call: Call) {
  const body = bodyOf(call, createSchema);
  requireFreeName(call, primaryIps, body.name);
  requireRoom(call, primaryIps);
  const server = body.assignee_id === undefined ? undefined : requireAssignee(call, body.assignee_id, body.type);
  const datacenter = server?.datacenter ?? whereOf(body);
  const { name, type, labels, auto_delete: autoDelete } = body;
  const ip = newPrimaryIp(call, { name, type, labels, autoDelete, datacenter, server: undefined });
  const action = server === undefined ? undefined : assignTo(call, ip, server.id);
  return created({
    primary_ip: shown(call, primaryIps, ip.id),
    ...(action === undefined ? {} : { action: actionBody(action, call.nowMs) }),
  });
}

function whereOf(body: z.output<typeof createSchema>): string {
  const datacenter = findByIdOrName(datacenters, body.datacenter ?? "");
  if (datacenter !== undefined) return datacenter.name;
  const location = findByIdOrName(locations, body.location ?? "");
  if (location === undefined) throw invalidInput("location", "is required where nothing is assigned");
  return datacenterIn(location.name).name;
}

function requireAssignee(call: Call, id: number, type: PrimaryIp["type"]) {
  const server = thingWithId(call, servers, id);
  if (server.status !== "off") throw refused("server_not_stopped", "server is running, but needs to be powered off");
  const others = call.project.primaryIps.where("server", id);
  if (others.some((other) => other.type === type)) throw refused(`server_has_${type}`, `server already has an ${type}`);
  return server;
}

function assignTo(call: Call, ip: PrimaryIp, server: number): Action {
  return startAction(call, {
    command: "assign_primary_ip",
    resources: [
      { id: ip.id, type: "primary_ip" },
      { id: server, type: "server" },
    ],
    now: () => call.project.primaryIps.put({ ...ip, server }),
  });
}

function assign(call: Call, ip: PrimaryIp): Action {
  const body = bodyOf(call, z.object({ assignee_id: idSchema, assignee_type: z.literal("server") }));
  if (ip.server !== undefined) throw refused("primary_ip_already_assigned", "primary IP is already assigned");
  const server = requireAssignee(call, body.assignee_id, ip.type);
  if (server.datacenter !== ip.datacenter) {
    throw refused("primary_ip_datacenter_mismatch", "primary IP is in a different datacenter");
  }
  return assignTo(call, ip, server.id);
}

function unassign(call: Call, ip: PrimaryIp): Action {
  const server = ip.server === undefined ? undefined : call.project.servers.get(ip.server);
  if (server === undefined) throw refused("invalid_input", "primary IP is not assigned");
  if (server.status !== "off") throw refused("server_not_stopped", "server is running, but needs to be powered off");
  return startAction(call, {
    command: "unassign_primary_ip",
    resources: [
      { id: ip.id, type: "primary_ip" },
      { id: server.id, type: "server" },
    ],
    now: () => call.project.primaryIps.put({ ...ip, server: undefined }),
  });
}

export const primaryIpRoutes: readonly HetznerRoute[] = [
  listRoute(primaryIps),
  getRoute(primaryIps),
  { method: "POST", path: "/primary_ips", answer: createPrimaryIp },
  updateRoute(
    primaryIps,
    z.object({
      name: nameSchema.optional(),
      labels: labelsSchema.optional(),
      auto_delete: z.boolean().optional(),
    }),
    (ip, { name = ip.name, labels = ip.labels, auto_delete = ip.autoDelete }) => ({
      ...ip,
      name,
      labels,
      autoDelete: auto_delete,
    }),
  ),
  deleteRoute(primaryIps, (_call, ip) => {
    if (ip.server !== undefined) throw refused("must_be_unassigned", "primary IP is still assigned to a resource");
  }),
  ...actionRoutesOf("primary_ips", "primary_ip"),
  actionRoute(primaryIps, "assign", assign),
  actionRoute(primaryIps, "unassign", unassign),
  pointerRoute(primaryIps),
  protectionRoute(primaryIps, z.object({ delete: z.boolean() })),
];
