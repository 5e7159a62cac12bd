import type { ReactNode } from "react";
import type { AboutObject } from "../page.tsx";
import { CloudNetworkPanel } from "./cloud-network-panel.tsx";
import { ComputeProfilePanel } from "./compute-profile-panel.tsx";
import { DnsZonePanel } from "./dns-zone-panel.tsx";
import { FirewallPanel } from "./firewall-panel.tsx";
import { HostPanel } from "./host-panel.tsx";
import { LoadBalancerPanel } from "./load-balancer-panel.tsx";
import { ScalingGroupPanel } from "./scaling-group-panel.tsx";

const panels: Readonly<Record<string, (about: AboutObject) => ReactNode>> = {
  CloudNetwork: CloudNetworkPanel,
  ComputeProfile: ComputeProfilePanel,
  DnsZone: DnsZonePanel,
  Firewall: FirewallPanel,
  Host: HostPanel,
  LoadBalancer: LoadBalancerPanel,
  ScalingGroup: ScalingGroupPanel,
};

/** What only one kind has to show; most have nothing. */
export function Special(about: AboutObject) {
  const Shown = panels[about.resource.kind];
  return Shown === undefined ? undefined : <Shown {...about} />;
}
