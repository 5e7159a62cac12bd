import { locations } from "./locations.ts";
import { timePrice } from "./prices.ts";

export interface LoadBalancerType {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly max_connections: number;
  readonly max_services: number;
  readonly max_targets: number;
  readonly max_assigned_certificates: number;
  readonly deprecated: null;
  readonly prices: ReturnType<typeof timePrice>[];
}

function type(
  [id, name, max_connections, max_services, max_targets, max_assigned_certificates]: readonly [
    number,
    string,
    number,
    number,
    number,
    number,
  ],
  monthly: number,
): LoadBalancerType {
  return {
    id,
    name,
    description: name.toUpperCase(),
    max_connections,
    max_services,
    max_targets,
    max_assigned_certificates,
    deprecated: null,
    prices: locations.map((location) => timePrice(location.name, monthly, 20)),
  };
}

export const loadBalancerTypes: readonly LoadBalancerType[] = [
  type([1, "lb11", 10_000, 5, 25, 10], 5.39),
  type([2, "lb21", 20_000, 15, 75, 25], 16.4),
  type([3, "lb31", 40_000, 30, 150, 50], 30.9),
];

const byName = new Map(loadBalancerTypes.map((each) => [each.name, each]));

export function loadBalancerTypeNamed(name: string): LoadBalancerType {
  const found = byName.get(name);
  if (found === undefined) throw new Error(`The catalogue has no load balancer type "${name}".`);
  return found;
}
