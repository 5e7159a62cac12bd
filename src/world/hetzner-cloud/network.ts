import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { runningOn, startAction } from "./actions.ts";
import { contains, isPrivate, overlaps, type Range, rangeOf, textOfRange } from "../addresses.ts";
import { bodyOf, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { locations } from "./catalogue/locations.ts";
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
  updateRoute,
} from "./collection.ts";
import { HetznerError, invalidInput, refused } from "./errors.ts";
import { gatewayOf } from "./network-addresses.ts";
import type { Network, Subnet } from "./rows.ts";

export const networks: Collection<"networks"> = {
  path: "networks",
  one: "network",
  table: "networks",
  title: "network",
  show: (network, view) => ({
    id: network.id,
    name: network.name,
    ip_range: network.ipRange,
    subnets: network.subnets.map((subnet) => ({
      type: subnet.type,
      ip_range: subnet.ipRange,
      network_zone: subnet.networkZone,
      gateway: gatewayOf(network.ipRange),
      vswitch_id: subnet.vswitchId ?? null,
    })),
    routes: network.routes,
    servers: view.servers.where("network", network.id).map(({ id }) => id),
    load_balancers: view.loadBalancers.where("network", network.id).map(({ id }) => id),
    protection: network.protection,
    labels: network.labels,
    created: createdText(network),
    expose_routes_to_vswitch: network.exposeRoutesToVswitch,
  }),
};

const zoneNames = new Set(locations.map(({ network_zone }) => network_zone));
const rangeSchema = z.string().refine((text) => rangeOf(text) !== undefined, "is not a valid IP range");
const subnetSchema = z.object({
  type: z.enum(["cloud", "server", "vswitch"]),
  ip_range: rangeSchema.optional(),
  network_zone: z.string().refine((zone) => zoneNames.has(zone), "is not a known network zone"),
  vswitch_id: z.int().optional(),
});
const routeSchema = z.object({ destination: rangeSchema, gateway: z.string() });

const createSchema = z.object({
  name: nameSchema,
  ip_range: rangeSchema,
  labels: labelsSchema.default({}),
  subnets: z.array(subnetSchema).default([]),
  routes: z.array(routeSchema).default([]),
  expose_routes_to_vswitch: z.boolean().default(false),
});

function createNetwork(call: Call) {
  const body = bodyOf(call, createSchema);
  const range = rangeOf(body.ip_range);
  if (range === undefined || !isPrivate(range)) throw invalidInput("ip_range", "must be a private range of RFC 1918");
  requireFreeName(call, networks, body.name);
  requireRoom(call, networks);
  const bare: Network = {
    id: call.nextId(),
    name: body.name,
    labels: body.labels,
    createdMs: call.nowMs,
    ipRange: body.ip_range,
    subnets: [],
    routes: body.routes,
    exposeRoutesToVswitch: body.expose_routes_to_vswitch,
    protection: { delete: false },
  };
  const network = body.subnets.reduce((left, subnet) => withSubnet(left, subnet), bare);
  call.project.networks.put(network);
  return created({ network: shown(call, networks, network.id) });
}

function withSubnet(network: Network, wanted: z.output<typeof subnetSchema>): Network {
  const outer = rangeOf(network.ipRange);
  const taken = network.subnets.flatMap(({ ipRange }) => rangeOf(ipRange) ?? []);
  const range = wanted.ip_range === undefined ? firstFreeRange(outer, taken) : rangeOf(wanted.ip_range);
  if (outer === undefined || range === undefined) throw refused("invalid_input", "no free range for the subnet");
  if (!contains(outer, range)) throw invalidInput("ip_range", "must be part of the network's range");
  if (taken.some((other) => overlaps(other, range))) throw invalidInput("ip_range", "overlaps with another subnet");
  const subnet: Subnet = {
    type: wanted.type,
    ipRange: textOfRange(range),
    networkZone: wanted.network_zone,
    vswitchId: wanted.vswitch_id,
  };
  return { ...network, subnets: [...network.subnets, subnet] };
}

function firstFreeRange(outer: Range | undefined, taken: readonly Range[]): Range | undefined {
  if (outer === undefined) return undefined;
  const bits = Math.max(24, outer.bits);
  const size = 2 ** (32 - bits);
  for (let { first } = outer; first + size - 1 <= outer.last; first += size) {
    const range = { first, last: first + size - 1, bits };
    if (!taken.some((other) => overlaps(other, range))) return range;
  }
  return undefined;
}

/** An action that changes the network at once; while one runs, another is a conflict. */
function changed(call: Call, network: Network, command: string, next: Network) {
  if (runningOn(call.project, "network", network.id).length > 0) {
    throw new HetznerError(409, "conflict", "network is being changed by another action");
  }
  return startAction(call, {
    command,
    resources: [{ id: network.id, type: "network" }],
    now: () => call.project.networks.put(next),
  });
}

function changeIpRange(network: Network, text: string): Network {
  const [before, after] = [rangeOf(network.ipRange), rangeOf(text)];
  if (before === undefined || after === undefined || after.first !== before.first || after.bits > before.bits) {
    throw invalidInput("ip_range", "can only be extended, from the same first address");
  }
  return { ...network, ipRange: text };
}

function withoutSubnet(call: Call, network: Network, ipRange: string): Network {
  const subnets = network.subnets.filter((subnet) => subnet.ipRange !== ipRange);
  if (subnets.length === network.subnets.length) throw invalidInput("ip_range", "is no subnet of this network");
  const range = rangeOf(ipRange);
  const inside = (ip: string) => {
    const address = rangeOf(`${ip}/32`);
    return address !== undefined && range !== undefined && contains(range, address);
  };
  const used = [
    ...call.project.servers.where("network", network.id).flatMap(({ privateNets }) => privateNets),
    ...call.project.loadBalancers.where("network", network.id).flatMap(({ privateNet }) => privateNet ?? []),
  ].some((net) => net.network === network.id && inside(net.ip));
  if (used) throw refused("resource_in_use", "the subnet has attached resources", 409);
  return { ...network, subnets };
}

/** Attached resources are detached with the network. */
function detachAll(call: Call, network: Network): void {
  for (const server of call.project.servers.where("network", network.id)) {
    const privateNets = server.privateNets.filter((net) => net.network !== network.id);
    call.project.servers.put({ ...server, privateNets });
  }
  for (const balancer of call.project.loadBalancers.where("network", network.id)) {
    call.project.loadBalancers.put({ ...balancer, privateNet: undefined });
  }
}

export const networkRoutes: readonly HetznerRoute[] = [
  listRoute(networks),
  getRoute(networks),
  { method: "POST", path: "/networks", answer: createNetwork },
  updateRoute(
    networks,
    z.object({
      name: nameSchema.optional(),
      labels: labelsSchema.optional(),
      expose_routes_to_vswitch: z.boolean().optional(),
    }),
    (network, { name = network.name, labels = network.labels, expose_routes_to_vswitch }) => ({
      ...network,
      name,
      labels,
      exposeRoutesToVswitch: expose_routes_to_vswitch ?? network.exposeRoutesToVswitch,
    }),
  ),
  deleteRoute(networks, detachAll),
  ...actionRoutesOf("networks", "network"),
  actionRoute(networks, "add_subnet", (call, network) =>
    changed(call, network, "add_subnet", withSubnet(network, bodyOf(call, subnetSchema))),
  ),
  actionRoute(networks, "delete_subnet", (call, network) => {
    const { ip_range } = bodyOf(call, z.object({ ip_range: z.string() }));
    return changed(call, network, "delete_subnet", withoutSubnet(call, network, ip_range));
  }),
  actionRoute(networks, "add_route", (call, network) => {
    const route = bodyOf(call, routeSchema);
    if (network.routes.some(({ destination }) => destination === route.destination)) {
      throw refused("invalid_input", "route already exists");
    }
    return changed(call, network, "add_route", { ...network, routes: [...network.routes, route] });
  }),
  actionRoute(networks, "delete_route", (call, network) => {
    const { destination, gateway } = bodyOf(call, routeSchema);
    const routes = network.routes.filter((route) => route.destination !== destination || route.gateway !== gateway);
    if (routes.length === network.routes.length) throw refused("not_found", "route not found", 404);
    return changed(call, network, "delete_route", { ...network, routes });
  }),
  actionRoute(networks, "change_ip_range", (call, network) => {
    const { ip_range } = bodyOf(call, z.object({ ip_range: rangeSchema }));
    return changed(call, network, "change_ip_range", changeIpRange(network, ip_range));
  }),
  protectionRoute(networks, z.object({ delete: z.boolean().optional() })),
];
