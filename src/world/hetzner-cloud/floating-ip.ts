import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema, nameSchema, optionalIdSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { datacenterNamed, findByIdOrName, locationNamed, locations } from "./catalogue/locations.ts";
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
import { nextIp, usualPointers } from "./public-addresses.ts";
import type { Action, FloatingIp } from "./rows.ts";
import { servers } from "./server.ts";

export const floatingIps: Collection<"floatingIps"> = {
  path: "floating_ips",
  one: "floating_ip",
  table: "floatingIps",
  title: "floating IP",
  show: (ip) => ({
    id: ip.id,
    name: ip.name,
    description: ip.description ?? null,
    type: ip.type,
    ip: ip.ip,
    server: ip.server ?? null,
    home_location: locationNamed(ip.homeLocation),
    dns_ptr: ip.pointers.map((pointer) => ({ ip: pointer.ip, dns_ptr: pointer.name })),
    blocked: false,
    protection: ip.protection,
    labels: ip.labels,
    created: createdText(ip),
  }),
  sortedBy: ["id", "created"],
};

const createSchema = z.object({
  type: z.enum(["ipv4", "ipv6"]),
  name: nameSchema.optional(),
  description: z.string().nullish(),
  home_location: idOrNameSchema.optional(),
  server: optionalIdSchema,
  labels: labelsSchema.default({}),
});

function createFloatingIp(call: Call) {
  const body = bodyOf(call, createSchema);
  const name = body.name ?? `floating-ip-${call.random.text(8, "0123456789")}`;
  requireFreeName(call, floatingIps, name);
  requireRoom(call, floatingIps);
  const server = body.server === undefined ? undefined : thingWithId(call, servers, body.server);
  const home =
    body.home_location === undefined && server !== undefined
      ? datacenterNamed(server.datacenter).location
      : findByIdOrName(locations, body.home_location ?? "")?.name;
  if (home === undefined) throw invalidInput("home_location", "is needed, or a server");
  const address = nextIp(call, body.type);
  const ip = call.project.floatingIps.put({
    id: call.nextId(),
    name,
    labels: body.labels,
    createdMs: call.nowMs,
    type: body.type,
    ip: address,
    description: body.description ?? undefined,
    homeLocation: home,
    server: undefined,
    pointers: usualPointers(body.type, address),
    protection: { delete: false },
  });
  const action = server === undefined ? undefined : assignTo(call, ip, server.id);
  return created({
    floating_ip: shown(call, floatingIps, ip.id),
    ...(action === undefined ? {} : { action: actionBody(action, call.nowMs) }),
  });
}

function assignTo(call: Call, ip: FloatingIp, server: number): Action {
  return startAction(call, {
    command: "assign_floating_ip",
    resources: [
      { id: server, type: "server" },
      { id: ip.id, type: "floating_ip" },
    ],
    now: () => call.project.floatingIps.put({ ...ip, server }),
  });
}

function assign(call: Call, ip: FloatingIp): Action {
  const server = thingWithId(call, servers, bodyOf(call, z.object({ server: idSchema })).server);
  if (ip.server === server.id) throw refused("floating_ip_assigned", "floating IP is already assigned");
  return assignTo(call, ip, server.id);
}

function unassign(call: Call, ip: FloatingIp): Action {
  if (ip.server === undefined) throw refused("invalid_input", "floating IP is not assigned");
  return startAction(call, {
    command: "unassign_floating_ip",
    resources: [
      { id: ip.server, type: "server" },
      { id: ip.id, type: "floating_ip" },
    ],
    now: () => call.project.floatingIps.put({ ...ip, server: undefined }),
  });
}

export const floatingIpRoutes: readonly HetznerRoute[] = [
  listRoute(floatingIps),
  getRoute(floatingIps),
  { method: "POST", path: "/floating_ips", answer: createFloatingIp },
  updateRoute(
    floatingIps,
    z.object({
      name: nameSchema.optional(),
      description: z.string().nullish(),
      labels: labelsSchema.optional(),
    }),
    (ip, { name = ip.name, labels = ip.labels, description }) => ({
      ...ip,
      name,
      labels,
      description: description === undefined ? ip.description : (description ?? undefined),
    }),
  ),
  deleteRoute(floatingIps, (_call, ip) => {
    if (ip.server !== undefined) throw refused("must_be_unassigned", "floating IP is still assigned to a resource");
  }),
  ...actionRoutesOf("floating_ips", "floating_ip"),
  actionRoute(floatingIps, "assign", assign),
  actionRoute(floatingIps, "unassign", unassign),
  pointerRoute(floatingIps),
  protectionRoute(floatingIps, z.object({ delete: z.boolean() })),
];
