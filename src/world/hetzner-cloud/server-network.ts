import { z } from "zod";
import { startAction } from "./actions.ts";
import { overlaps, rangeOf } from "../addresses.ts";
import { bodyOf, idSchema } from "./body.ts";
import type { Call, HetznerRoute } from "./call.ts";
import { datacenterNamed, locationNamed } from "./catalogue/locations.ts";
import { actionRoute, thingWithId } from "./collection.ts";
import { invalidInput, refused } from "./errors.ts";
import { assignAddress, isFree } from "./network-addresses.ts";
import { networks } from "./network.ts";
import { mostServersOfGroup, placementGroups } from "./placement-group.ts";
import { covers, withPointer } from "./public-addresses.ts";
import type { Action, PrivateNet, Server } from "./rows.ts";
import { macAddress } from "./server-create.ts";
import { requireUnlocked, servers } from "./server.ts";

function attach(call: Call, server: Server): Action {
  const schema = z.object({
    network: idSchema,
    ip: z.ipv4().optional(),
    ip_range: z.string().optional(),
    alias_ips: z.array(z.ipv4()).default([]),
  });
  const body = bodyOf(call, schema);
  requireUnlocked(call, server);
  const network = thingWithId(call, networks, body.network);
  if (server.privateNets.some((net) => net.network === network.id)) {
    throw refused("server_already_attached", "server is already attached to network");
  }
  const range = rangeOf(network.ipRange);
  const others = server.privateNets.flatMap(
    (net) => rangeOf(call.project.networks.get(net.network)?.ipRange ?? "") ?? [],
  );
  if (range !== undefined && others.some((other) => overlaps(other, range))) {
    throw refused("networks_overlap", "network IP range overlaps with one of the server networks");
  }
  const zone = locationNamed(datacenterNamed(server.datacenter).location).network_zone;
  const ip = assignAddress(call, network, { zone, ip: body.ip, ipRange: body.ip_range });
  const net: PrivateNet = { network: network.id, ip, aliasIps: body.alias_ips, macAddress: macAddress(call) };
  return withNets(call, server, "attach_to_network", network.id, [...server.privateNets, net]);
}

function detach(call: Call, server: Server): Action {
  const { network } = bodyOf(call, z.object({ network: idSchema }));
  requireUnlocked(call, server);
  const left = server.privateNets.filter((net) => net.network !== network);
  if (left.length === server.privateNets.length) throw refused("not_found", "server is not attached to network", 404);
  return withNets(call, server, "detach_from_network", network, left);
}

function changeAliases(call: Call, server: Server): Action {
  const { network, alias_ips } = bodyOf(call, z.object({ network: idSchema, alias_ips: z.array(z.ipv4()) }));
  requireUnlocked(call, server);
  const row = thingWithId(call, networks, network);
  const before = server.privateNets.find((net) => net.network === network);
  if (before === undefined) throw refused("not_found", "server is not attached to network", 404);
  const taken = alias_ips.find((ip) => !before.aliasIps.includes(ip) && !isFree(call, row, ip));
  if (taken !== undefined) throw refused("ip_not_available", `IP ${taken} is not available`);
  const nets = server.privateNets.map((net) => (net.network === network ? { ...net, aliasIps: alias_ips } : net));
  return withNets(call, server, "change_alias_ips", network, nets);
}

function withNets(
  call: Call,
  server: Server,
  command: string,
  network: number,
  privateNets: readonly PrivateNet[],
): Action {
  return startAction(call, {
    command,
    resources: [
      { id: server.id, type: "server" },
      { id: network, type: "network" },
    ],
    now: () => call.project.servers.put({ ...server, privateNets }),
  });
}

function changePointer(call: Call, server: Server): Action {
  const { ip, dns_ptr } = bodyOf(call, z.object({ ip: z.string().min(1), dns_ptr: z.string().nullable() }));
  const held = call.project.primaryIps.where("server", server.id).find((each) => covers(each.ip, ip));
  if (held === undefined) throw invalidInput("ip", "is no address of this server");
  return startAction(call, {
    command: "change_dns_ptr",
    resources: [{ id: server.id, type: "server" }],
    now: () => call.project.primaryIps.put({ ...held, pointers: withPointer(held.pointers, ip, dns_ptr ?? undefined) }),
  });
}

function joinGroup(call: Call, server: Server): Action {
  const { placement_group } = bodyOf(call, z.object({ placement_group: idSchema }));
  const group = thingWithId(call, placementGroups, placement_group);
  requireUnlocked(call, server);
  if (server.status !== "off") throw refused("server_not_stopped", "the action requires a stopped server");
  if (call.project.servers.where("placementGroup", group.id).length >= mostServersOfGroup) {
    throw refused("placement_error", "the placement group has no room for another server", 412);
  }
  return startAction(call, {
    command: "add_to_placement_group",
    resources: [
      { id: server.id, type: "server" },
      { id: group.id, type: "placement_group" },
    ],
    now: () => call.project.servers.put({ ...server, placementGroup: group.id }),
  });
}

function leaveGroup(call: Call, server: Server): Action {
  requireUnlocked(call, server);
  return startAction(call, {
    command: "remove_from_placement_group",
    resources: [{ id: server.id, type: "server" }],
    now: () => call.project.servers.put({ ...server, placementGroup: undefined }),
  });
}

export const serverNetworkRoutes: readonly HetznerRoute[] = [
  actionRoute(servers, "attach_to_network", attach),
  actionRoute(servers, "detach_from_network", detach),
  actionRoute(servers, "change_alias_ips", changeAliases),
  actionRoute(servers, "change_dns_ptr", changePointer),
  actionRoute(servers, "add_to_placement_group", joinGroup),
  actionRoute(servers, "remove_from_placement_group", leaveGroup),
];
