import { z } from "zod";
import { idSchema } from "./body.ts";
import type { Call } from "./call.ts";
import { loadBalancerTypeNamed } from "./catalogue/load-balancer-types.ts";
import { invalidInput, notFound, overLimit, refused } from "./errors.ts";
import { serversSelected } from "./firewall.ts";
import { parseSelector } from "./labels.ts";
import type { ProjectView } from "./project.ts";
import type { LoadBalancer, LoadBalancerTarget, Server } from "./rows.ts";

export const targetSchema = z.object({
  type: z.enum(["server", "label_selector", "ip"]),
  server: z.object({ id: idSchema }).optional(),
  label_selector: z.object({ selector: z.string().min(1) }).optional(),
  ip: z.object({ ip: z.ipv4() }).optional(),
  use_private_ip: z.boolean().default(false),
});

/** How long a new target is neither healthy nor unhealthy. */
const unknownForMs = 10_000;

export function targetOf(wanted: z.output<typeof targetSchema>, nowMs: number): LoadBalancerTarget {
  const { type } = wanted;
  if (wanted[type] === undefined) throw invalidInput(type, "is required for this type of target");
  return {
    type,
    server: type === "server" ? wanted.server?.id : undefined,
    selector: type === "label_selector" ? wanted.label_selector?.selector : undefined,
    ip: type === "ip" ? wanted.ip?.ip : undefined,
    usePrivateIp: wanted.use_private_ip,
    addedMs: nowMs,
  };
}

export function isSameTarget(left: LoadBalancerTarget, right: LoadBalancerTarget): boolean {
  return (
    left.type === right.type && left.server === right.server && left.selector === right.selector && left.ip === right.ip
  );
}

/** The target, once it is known to fit beside the others. */
export function requireTarget(call: Call, balancer: LoadBalancer, target: LoadBalancerTarget): void {
  const type = loadBalancerTypeNamed(balancer.loadBalancerType);
  if (balancer.targets.length >= type.max_targets) throw overLimit("load_balancer_target_limit");
  if (balancer.targets.some((other) => isSameTarget(other, target))) {
    throw refused("target_already_defined", "the load balancer target you are trying to define is already defined");
  }
  if (target.selector !== undefined) parseSelector(target.selector);
  if (target.usePrivateIp && balancer.privateNet === undefined) {
    throw refused("load_balancer_not_attached_to_network", "load balancer is not attached to a network");
  }
  if (!target.usePrivateIp && !balancer.publicInterface && target.type !== "ip") {
    throw refused("load_balancer_public_interface_disabled", "the load balancer's public interface is disabled");
  }
  if (target.server === undefined) return;
  const server = call.project.servers.get(target.server);
  if (server === undefined) throw notFound("server", target.server);
  const isNeighbour = server.privateNets.some(({ network }) => network === balancer.privateNet?.network);
  if (target.usePrivateIp && !isNeighbour) {
    throw refused("server_not_attached_to_network", "server is not attached to the load balancer's network");
  }
  const hasIpv4 = call.project.primaryIps.where("server", server.id).some((ip) => ip.type === "ipv4");
  if (!target.usePrivateIp && !hasIpv4) throw refused("missing_ipv4", "server has no public IPv4 address");
}

export function targetBody(
  target: LoadBalancerTarget,
  balancer: LoadBalancer,
  view: ProjectView,
  nowMs: number,
): unknown {
  const health = (server: Server | undefined) =>
    balancer.services.map(({ listenPort }) => ({ listen_port: listenPort, status: healthOf(target, server, nowMs) }));
  if (target.selector !== undefined) {
    return {
      type: "label_selector",
      label_selector: { selector: target.selector },
      use_private_ip: target.usePrivateIp,
      targets: serversSelected(view, target.selector).map((server) => ({
        type: "server",
        server: { id: server.id },
        use_private_ip: target.usePrivateIp,
        health_status: health(server),
      })),
    };
  }
  if (target.ip !== undefined) return { type: "ip", ip: { ip: target.ip }, health_status: health(undefined) };
  const id = target.server ?? 0;
  return {
    type: "server",
    server: { id },
    use_private_ip: target.usePrivateIp,
    health_status: health(view.servers.get(id)),
  };
}

function healthOf(target: LoadBalancerTarget, server: Server | undefined, nowMs: number): string {
  if (nowMs - target.addedMs < unknownForMs) return "unknown";
  return target.type === "ip" || server?.status === "running" ? "healthy" : "unhealthy";
}
