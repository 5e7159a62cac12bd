import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { loadBalancerTypeNamed, loadBalancerTypes } from "./catalogue/load-balancer-types.ts";
import { findByIdOrName, locationNamed, locations } from "./catalogue/locations.ts";
import {
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
import { invalidInput } from "./errors.ts";
import { checkedService, serviceBody, serviceOf, serviceSchema } from "./load-balancer-service.ts";
import { requireTarget, targetBody, targetOf, targetSchema } from "./load-balancer-target.ts";
import { balancerMetricsRoute } from "./metrics.ts";
import { assignAddress } from "./network-addresses.ts";
import { networks } from "./network.ts";
import { nextIp, usualName } from "./public-addresses.ts";
import type { Action, LoadBalancer } from "./rows.ts";

export const loadBalancers: Collection<"loadBalancers"> = {
  path: "load_balancers",
  one: "load_balancer",
  table: "loadBalancers",
  title: "load balancer",
  show: (balancer, view, call) => {
    const type = loadBalancerTypeNamed(balancer.loadBalancerType);
    const pointer = (ip: string) => balancer.pointers.find((each) => each.ip === ip)?.name ?? null;
    return {
      id: balancer.id,
      name: balancer.name,
      public_net: {
        enabled: balancer.publicInterface,
        ipv4: { ip: balancer.ipv4, dns_ptr: pointer(balancer.ipv4) },
        ipv6: { ip: balancer.ipv6, dns_ptr: pointer(balancer.ipv6) },
      },
      private_net: balancer.privateNet === undefined ? [] : [balancer.privateNet],
      location: locationNamed(balancer.location),
      load_balancer_type: type,
      protection: balancer.protection,
      labels: balancer.labels,
      created: createdText(balancer),
      services: balancer.services.map(serviceBody),
      targets: balancer.targets.map((target) => targetBody(target, balancer, view, call.nowMs)),
      algorithm: { type: balancer.algorithm },
      outgoing_traffic: 0,
      ingoing_traffic: 0,
      included_traffic: type.prices.find(({ location }) => location === balancer.location)?.included_traffic ?? 0,
    };
  },
};

export const algorithmSchema = z.object({ type: z.enum(["round_robin", "least_connections"]) });

const createSchema = z.object({
  name: nameSchema,
  load_balancer_type: idOrNameSchema,
  location: idOrNameSchema.optional(),
  network_zone: z.string().optional(),
  algorithm: algorithmSchema.default({ type: "round_robin" }),
  services: z.array(serviceSchema).default([]),
  targets: z.array(targetSchema).default([]),
  labels: labelsSchema.default({}),
  public_interface: z.boolean().default(true),
  network: idSchema.optional(),
});

function createBalancer(call: Call) {
  const body = bodyOf(call, createSchema);
  requireFreeName(call, loadBalancers, body.name);
  requireRoom(call, loadBalancers);
  const type = findByIdOrName(loadBalancerTypes, body.load_balancer_type);
  if (type === undefined) throw invalidInput("load_balancer_type", "load balancer type not found");
  const location = whereOf(body);
  const network = body.network === undefined ? undefined : thingWithId(call, networks, body.network);
  const zone = locationNamed(location).network_zone;
  const privateNet =
    network === undefined ? undefined : { network: network.id, ip: assignAddress(call, network, { zone }) };
  const ipv4 = nextIp(call, "ipv4");
  const bare: LoadBalancer = {
    id: call.nextId(),
    name: body.name,
    labels: body.labels,
    createdMs: call.nowMs,
    loadBalancerType: type.name,
    location,
    algorithm: body.algorithm.type,
    services: [],
    targets: [],
    publicInterface: body.public_interface,
    ipv4,
    ipv6: nextIp(call, "ipv6").replace("::/64", "::1"),
    pointers: [{ ip: ipv4, name: usualName(ipv4) }],
    privateNet,
    protection: { delete: false },
  };
  const served = body.services.reduce(
    (left, service) => ({ ...left, services: [...left.services, checkedService(call, left, serviceOf(service))] }),
    bare,
  );
  const balancer = body.targets.reduce((left, wanted) => {
    const target = targetOf(wanted, call.nowMs);
    requireTarget(call, left, target);
    return { ...left, targets: [...left.targets, target] };
  }, served);
  call.project.loadBalancers.put(balancer);
  const action = startAction(call, {
    command: "create_load_balancer",
    resources: [{ id: balancer.id, type: "load_balancer" }],
    otherwise: [{ table: "loadBalancers", id: balancer.id, set: undefined }],
  });
  return created({
    load_balancer: shown(call, loadBalancers, balancer.id),
    action: actionBody(action, call.nowMs),
  });
}

function whereOf(body: z.output<typeof createSchema>): string {
  const found =
    body.location === undefined
      ? locations.find(({ network_zone }) => network_zone === body.network_zone)
      : findByIdOrName(locations, body.location);
  if (found === undefined) throw invalidInput("location", "is needed, or a network zone");
  return found.name;
}

/** An action whose change shows at once. */
export function changeBalancer(
  call: Call,
  balancer: LoadBalancer,
  command: string,
  set: Partial<LoadBalancer>,
): Action {
  return startAction(call, {
    command,
    resources: [{ id: balancer.id, type: "load_balancer" }],
    now: () => call.project.loadBalancers.put({ ...balancer, ...set }),
  });
}

export const loadBalancerRoutes: readonly HetznerRoute[] = [
  listRoute(loadBalancers),
  getRoute(loadBalancers),
  { method: "POST", path: "/load_balancers", answer: createBalancer },
  updateRoute(
    loadBalancers,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (balancer, { name = balancer.name, labels = balancer.labels }) => ({ ...balancer, name, labels }),
  ),
  deleteRoute(loadBalancers),
  ...actionRoutesOf("load_balancers", "load_balancer"),
  protectionRoute(loadBalancers, z.object({ delete: z.boolean().optional() })),
  balancerMetricsRoute(loadBalancers),
];
