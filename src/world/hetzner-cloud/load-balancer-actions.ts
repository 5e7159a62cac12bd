import { z } from "zod";
import { bodyOf, idOrNameSchema, idSchema } from "./body.ts";
import type { Call, HetznerRoute } from "./call.ts";
import { loadBalancerTypes } from "./catalogue/load-balancer-types.ts";
import { findByIdOrName, locationNamed } from "./catalogue/locations.ts";
import { actionRoute, thingWithId } from "./collection.ts";
import { invalidInput, refused } from "./errors.ts";
import {
  checkedService,
  requireCertificates,
  serviceOf,
  serviceSchema,
  serviceUpdateSchema,
} from "./load-balancer-service.ts";
import { isSameTarget, requireTarget, targetOf, targetSchema } from "./load-balancer-target.ts";
import { algorithmSchema, changeBalancer, loadBalancers } from "./load-balancer.ts";
import { assignAddress } from "./network-addresses.ts";
import { networks } from "./network.ts";
import { covers, withPointer } from "./public-addresses.ts";
import type { LoadBalancer } from "./rows.ts";

function addService(call: Call, balancer: LoadBalancer) {
  const service = checkedService(call, balancer, serviceOf(bodyOf(call, serviceSchema)));
  return changeBalancer(call, balancer, "add_service", { services: [...balancer.services, service] });
}

function updateService(call: Call, balancer: LoadBalancer) {
  const body = bodyOf(call, serviceUpdateSchema);
  const before = balancer.services.find(({ listenPort }) => listenPort === body.listen_port);
  if (before === undefined) throw refused("not_found", "service not found", 404);
  const service = serviceOf(body, before);
  requireCertificates(call, service);
  const services = balancer.services.map((each) => (each === before ? service : each));
  return changeBalancer(call, balancer, "update_service", { services });
}

function deleteService(call: Call, balancer: LoadBalancer) {
  const { listen_port } = bodyOf(call, z.object({ listen_port: z.int() }));
  const services = balancer.services.filter(({ listenPort }) => listenPort !== listen_port);
  if (services.length === balancer.services.length) throw refused("not_found", "service not found", 404);
  return changeBalancer(call, balancer, "delete_service", { services });
}

function addTarget(call: Call, balancer: LoadBalancer) {
  const target = targetOf(bodyOf(call, targetSchema), call.nowMs);
  requireTarget(call, balancer, target);
  return changeBalancer(call, balancer, "add_target", { targets: [...balancer.targets, target] });
}

function removeTarget(call: Call, balancer: LoadBalancer) {
  const target = targetOf(bodyOf(call, targetSchema), call.nowMs);
  const targets = balancer.targets.filter((other) => !isSameTarget(other, target));
  if (targets.length === balancer.targets.length) throw refused("not_found", "target not found", 404);
  return changeBalancer(call, balancer, "remove_target", { targets });
}

function changeType(call: Call, balancer: LoadBalancer) {
  const { load_balancer_type } = bodyOf(call, z.object({ load_balancer_type: idOrNameSchema }));
  const type = findByIdOrName(loadBalancerTypes, load_balancer_type);
  if (type === undefined) throw invalidInput("load_balancer_type", "load balancer type not found");
  if (type.max_services < balancer.services.length || type.max_targets < balancer.targets.length) {
    throw refused("invalid_load_balancer_type", "the load balancer type does not fit for the given load balancer");
  }
  return changeBalancer(call, balancer, "change_load_balancer_type", { loadBalancerType: type.name });
}

function attach(call: Call, balancer: LoadBalancer) {
  const schema = z.object({ network: idSchema, ip: z.ipv4().optional(), ip_range: z.string().optional() });
  const body = bodyOf(call, schema);
  const network = thingWithId(call, networks, body.network);
  if (balancer.privateNet !== undefined) {
    throw refused("load_balancer_already_attached", "load balancer is already attached to a network");
  }
  const zone = locationNamed(balancer.location).network_zone;
  const ip = assignAddress(call, network, { zone, ip: body.ip, ipRange: body.ip_range });
  return changeBalancer(call, balancer, "attach_to_network", { privateNet: { network: network.id, ip } });
}

function detach(call: Call, balancer: LoadBalancer) {
  const { network } = bodyOf(call, z.object({ network: idSchema }));
  if (balancer.privateNet?.network !== network) {
    throw refused("not_found", "load balancer is not attached to network", 404);
  }
  return changeBalancer(call, balancer, "detach_from_network", { privateNet: undefined });
}

function disablePublic(call: Call, balancer: LoadBalancer) {
  if (balancer.privateNet === undefined) {
    throw refused("load_balancer_not_attached_to_network", "load balancer is not attached to a network");
  }
  if (balancer.targets.some(({ type, usePrivateIp }) => type !== "ip" && !usePrivateIp)) {
    throw refused("targets_without_use_private_ip", "load balancer has targets that use the public IP");
  }
  return changeBalancer(call, balancer, "disable_public_interface", { publicInterface: false });
}

function changePointer(call: Call, balancer: LoadBalancer) {
  const { ip, dns_ptr } = bodyOf(call, z.object({ ip: z.string().min(1), dns_ptr: z.string().nullable() }));
  if (!covers(balancer.ipv4, ip) && !covers(balancer.ipv6, ip)) {
    throw invalidInput("ip", "is no address of this load balancer");
  }
  const pointers = withPointer(balancer.pointers, ip, dns_ptr ?? undefined);
  return changeBalancer(call, balancer, "change_dns_ptr", { pointers });
}

export const loadBalancerActionRoutes: readonly HetznerRoute[] = [
  actionRoute(loadBalancers, "add_service", addService),
  actionRoute(loadBalancers, "update_service", updateService),
  actionRoute(loadBalancers, "delete_service", deleteService),
  actionRoute(loadBalancers, "add_target", addTarget),
  actionRoute(loadBalancers, "remove_target", removeTarget),
  actionRoute(loadBalancers, "change_algorithm", (call, balancer) =>
    changeBalancer(call, balancer, "change_algorithm", { algorithm: bodyOf(call, algorithmSchema).type }),
  ),
  actionRoute(loadBalancers, "change_type", changeType),
  actionRoute(loadBalancers, "change_dns_ptr", changePointer),
  actionRoute(loadBalancers, "attach_to_network", attach),
  actionRoute(loadBalancers, "detach_from_network", detach),
  actionRoute(loadBalancers, "enable_public_interface", (call, balancer) =>
    changeBalancer(call, balancer, "enable_public_interface", { publicInterface: true }),
  ),
  actionRoute(loadBalancers, "disable_public_interface", disablePublic),
];
