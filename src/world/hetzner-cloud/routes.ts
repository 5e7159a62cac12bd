import { allActionRoutes } from "./action-routes.ts";
import type { HetznerRoute } from "./call.ts";
import { catalogueRoutes } from "./catalogue-routes.ts";
import { certificateRoutes } from "./certificate.ts";
import { firewallRoutes } from "./firewall.ts";
import { floatingIpRoutes } from "./floating-ip.ts";
import { imageRoutes } from "./image.ts";
import { loadBalancerActionRoutes } from "./load-balancer-actions.ts";
import { loadBalancerRoutes } from "./load-balancer.ts";
import { serverMetricsRoute } from "./metrics.ts";
import { networkRoutes } from "./network.ts";
import { placementGroupRoutes } from "./placement-group.ts";
import { primaryIpRoutes } from "./primary-ip.ts";
import { serverCreateRoute } from "./server-create.ts";
import { serverDiskRoutes } from "./server-disk.ts";
import { serverNetworkRoutes } from "./server-network.ts";
import { serverPowerRoutes } from "./server-power.ts";
import { serverRoutes, servers } from "./server.ts";
import { sshKeyRoutes } from "./ssh-key.ts";
import { volumeRoutes } from "./volume.ts";
import { rrSetRoutes } from "./zone-rrsets.ts";
import { zoneRoutes } from "./zone.ts";

export const hetznerRoutes: readonly HetznerRoute[] = [
  ...catalogueRoutes,
  ...allActionRoutes,
  ...serverRoutes,
  serverCreateRoute,
  ...serverPowerRoutes,
  ...serverDiskRoutes,
  ...serverNetworkRoutes,
  ...imageRoutes,
  ...sshKeyRoutes,
  ...networkRoutes,
  ...firewallRoutes,
  ...primaryIpRoutes,
  ...placementGroupRoutes,
  serverMetricsRoute(servers),
  ...volumeRoutes,
  ...floatingIpRoutes,
  ...loadBalancerRoutes,
  ...loadBalancerActionRoutes,
  ...certificateRoutes,
  ...zoneRoutes,
  ...rrSetRoutes,
];
