import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, runningOn, startAction } from "./actions.ts";
import { labelsSchema } from "./body.ts";
import { type Call, type HetznerRoute, ok } from "./call.ts";
import { datacenterBody } from "./catalogue-routes.ts";
import { isos } from "./catalogue/isos.ts";
import { datacenterNamed, locationNamed } from "./catalogue/locations.ts";
import { serverTypeNamed } from "./catalogue/server-types.ts";
import {
  type Collection,
  createdText,
  getRoute,
  listRoute,
  protectionRoute,
  thingOf,
  updateRoute,
} from "./collection.ts";
import { HetznerError, isProtected } from "./errors.ts";
import { firewallsOf } from "./firewall.ts";
import { imageBody } from "./image.ts";
import { placementGroupBody } from "./placement-group.ts";
import type { ProjectView } from "./project.ts";
import type { Server } from "./rows.ts";
import { letGoOfServer } from "./server-detach.ts";

export const servers: Collection<"servers"> = {
  path: "servers",
  one: "server",
  table: "servers",
  title: "server",
  show: serverBody,
  filters: { status: (server, values) => values.includes(server.status) },
  choices: {
    status: [
      "running",
      "initializing",
      "starting",
      "stopping",
      "off",
      "deleting",
      "migrating",
      "rebuilding",
      "unknown",
    ],
  },
};

function serverBody(server: Server, view: ProjectView, call: Call): unknown {
  const datacenter = datacenterNamed(server.datacenter);
  const type = serverTypeNamed(server.serverType);
  const isOut = call.faults.holds("region-outage", ({ location }) => location === datacenter.location);
  const group = server.placementGroup === undefined ? undefined : view.placementGroups.get(server.placementGroup);
  return {
    id: server.id,
    name: server.name,
    status: isOut ? "unknown" : server.status,
    created: createdText(server),
    public_net: publicNet(server, view),
    private_net: server.privateNets.map(({ network, ip, aliasIps, macAddress }) => ({
      network,
      ip,
      alias_ips: aliasIps,
      mac_address: macAddress,
    })),
    server_type: type,
    datacenter: datacenterBody(datacenter, call),
    location: locationNamed(datacenter.location),
    image: server.image === undefined ? null : (imageBody(view, server.image, call) ?? null),
    iso: isos.find(({ id }) => id === server.iso) ?? null,
    rescue_enabled: server.rescue,
    locked: false,
    backup_window: server.backupWindow ?? null,
    outgoing_traffic: server.status === "initializing" ? null : 0,
    ingoing_traffic: server.status === "initializing" ? null : 0,
    included_traffic: type.prices.find(({ location }) => location === datacenter.location)?.included_traffic ?? 0,
    protection: server.protection,
    labels: server.labels,
    volumes: view.volumes.where("server", server.id).map(({ id }) => id),
    load_balancers: view.loadBalancers.where("server", server.id).map(({ id }) => id),
    primary_disk_size: server.diskGb,
    placement_group: group === undefined ? null : placementGroupBody(group, view),
  };
}

function publicNet(server: Server, view: ProjectView): unknown {
  const primary = view.primaryIps.where("server", server.id);
  const ipv4 = primary.find(({ type }) => type === "ipv4");
  const ipv6 = primary.find(({ type }) => type === "ipv6");
  const isPending = (firewall: number) =>
    view.actions
      .where("resource", `server ${server.id}`)
      .some(
        ({ status, command, resources }) =>
          status === "running" && command === "apply_firewall" && resources.some(({ id }) => id === firewall),
      );
  return {
    ipv4:
      ipv4 === undefined ? null : { id: ipv4.id, ip: ipv4.ip, blocked: false, dns_ptr: ipv4.pointers[0]?.name ?? "" },
    ipv6:
      ipv6 === undefined
        ? null
        : {
            id: ipv6.id,
            ip: ipv6.ip,
            blocked: false,
            dns_ptr: ipv6.pointers.map(({ ip, name }) => ({ ip, dns_ptr: name })),
          },
    floating_ips: view.floatingIps.where("server", server.id).map(({ id }) => id),
    firewalls: firewallsOf(view, server).map(({ id }) => ({ id, status: isPending(id) ? "pending" : "applied" })),
  };
}

export const serverNameSchema = z
  .string()
  .max(253, "is too long")
  .regex(
    /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/,
    "must be a valid hostname as per RFC 1123",
  );

/** Commands that leave a server free for others while they run. */
const unlocking = new Set(["apply_firewall", "remove_firewall", "change_protection", "change_dns_ptr"]);

/** A server that an action runs on is locked for the next one. */
export function requireUnlocked(call: Call, server: Server): void {
  const busy = runningOn(call.project, "server", server.id).some(({ command }) => !unlocking.has(command));
  if (busy) throw new HetznerError(423, "locked", "server is locked by a running action");
  const { location } = datacenterNamed(server.datacenter);
  if (call.faults.strike("region-outage", (fault) => fault.location === location) !== undefined) {
    throw new HetznerError(503, "unavailable", `${location} is currently not available`);
  }
}

function deleteServer(call: Call) {
  const server = thingOf(call, servers);
  if (server.protection.delete) throw isProtected("server");
  requireUnlocked(call, server);
  const action = startAction(call, {
    command: "delete_server",
    resources: [{ id: server.id, type: "server" }],
    now: () => {
      letGoOfServer(call.project, server);
      call.project.servers.put({ ...server, status: "deleting", privateNets: [], placementGroup: undefined });
    },
    effects: [{ table: "servers", id: server.id, set: undefined }],
  });
  return ok({ action: actionBody(action, call.nowMs) });
}

const serverProtectionSchema = z
  .object({ delete: z.boolean().optional(), rebuild: z.boolean().optional() })
  .refine((wanted) => wanted.rebuild === undefined || wanted.delete === undefined || wanted.rebuild === wanted.delete, {
    path: ["rebuild"],
    message: "needs to have the same value as delete",
  });

export const serverRoutes: readonly HetznerRoute[] = [
  listRoute(servers),
  getRoute(servers),
  updateRoute(
    servers,
    z.object({ name: serverNameSchema.optional(), labels: labelsSchema.optional() }),
    (server, { name = server.name, labels = server.labels }) => ({ ...server, name, labels }),
  ),
  { method: "DELETE", path: "/servers/{id}", answer: deleteServer },
  ...actionRoutesOf("servers", "server"),
  protectionRoute(servers, serverProtectionSchema),
];
