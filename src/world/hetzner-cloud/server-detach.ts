import type { Project } from "./project.ts";
import type { Server } from "./rows.ts";

/** What hangs on a server lets go of it, and what was made with it goes with it. */
export function letGoOfServer(project: Project, server: Server): void {
  const { volumes, floatingIps, primaryIps, firewalls, loadBalancers, images } = project;
  for (const volume of volumes.where("server", server.id)) volumes.put({ ...volume, server: undefined });
  for (const ip of floatingIps.where("server", server.id)) floatingIps.put({ ...ip, server: undefined });
  for (const ip of primaryIps.where("server", server.id)) {
    if (ip.autoDelete) primaryIps.remove(ip.id);
    else primaryIps.put({ ...ip, server: undefined });
  }
  for (const firewall of firewalls.where("server", server.id)) {
    firewalls.put({ ...firewall, servers: firewall.servers.filter((id) => id !== server.id) });
  }
  for (const balancer of loadBalancers.where("server", server.id)) {
    loadBalancers.put({ ...balancer, targets: balancer.targets.filter((target) => target.server !== server.id) });
  }
  for (const image of images.where("boundTo", server.id)) images.remove(image.id);
}
