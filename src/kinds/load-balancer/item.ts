import { compare } from "../../kernel/diff.ts";
import type { Subject } from "../../kernel/loop.ts";
import type { BalancerService, BalancerTarget, CloudLoadBalancer } from "../../ports/load-balancer.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { drainedLabel, scopeSelector } from "../cloud/layers.ts";
import { placedAsDeclared, placeOf, type Placed } from "../cloud/same-place.ts";
import type { LoadBalancerSpec } from "./schema.ts";

/** A load balancer as it is compared. Services go by their port and targets by what they are: their order means nothing. */
export interface BalancerItem extends Placed {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly type: string;
  readonly algorithm: CloudLoadBalancer["algorithm"];
  readonly public: boolean;
  /** The network's name with the address there; an empty address leaves that to the provider. */
  readonly networks: Readonly<Record<string, string>>;
  readonly services: Readonly<Record<string, Omit<BalancerService, "listenPort">>>;
  readonly targets: Readonly<Record<string, "public" | "private">>;
  readonly protect: boolean;
}

export function wantedBalancer(subject: Subject<LoadBalancerSpec>): BalancerItem {
  const { spec, name } = subject;
  const { labels, type, location, algorithm, network, protect } = spec;
  return {
    name,
    labels,
    type,
    location,
    algorithm,
    public: spec.public,
    networks: network === undefined ? {} : { [network.name]: network.ip ?? "" },
    services: servicesByPort(spec.services.map(serviceOf)),
    targets: Object.fromEntries(spec.targets.map((target) => targetEntry(wantedTarget(subject, target)))),
    protect,
  };
}

function serviceOf(service: LoadBalancerSpec["services"][number]): BalancerService {
  const { protocol, listenPort, targetPort, proxyProtocol, redirectHttp, sticky, certificates, check } = service;
  const asked = check.protocol ?? (protocol === "tcp" ? "tcp" : "http");
  const { domain, path, response, statuses, tls } = check;
  return {
    protocol,
    listenPort,
    targetPort,
    proxyProtocol,
    redirectHttp,
    ...(sticky === undefined ? {} : { sticky }),
    certificates,
    check: {
      protocol: asked,
      port: check.port ?? targetPort,
      everySeconds: check.everySeconds,
      timeoutSeconds: check.timeoutSeconds,
      retries: check.retries,
      ...(asked === "tcp" ? {} : { http: { domain, path, response, statuses, tls } }),
    },
  };
}

/** Labels alone would find servers that are nobody's here, so the scope is always among them. */
function wantedTarget(
  { scope }: Pick<Subject<unknown>, "scope">,
  target: LoadBalancerSpec["targets"][number],
): BalancerTarget {
  if ("ip" in target) return { type: "ip", value: target.ip, private: false };
  if ("host" in target) return { type: "host", value: target.host, private: target.private };
  const labels = Object.entries(target.labels).map(([label, value]) => `${label}==${value}`);
  // Whoever is being taken away is out of it first, whatever else it is labelled with.
  const value = [scopeSelector(scope), ...labels.sort(), `!${drainedLabel}`].join(",");
  return { type: "selector", value, private: target.private };
}

export interface NamesAround {
  /** Names of Setpoint's networks and servers, and of all certificates, by id. */
  readonly networks: ReadonlyMap<string, string>;
  readonly servers: ReadonlyMap<string, string>;
  readonly certificates: ReadonlyMap<string, string>;
}

/** What has no name here goes by its id, so that it is seen and taken away. */
export function seenBalancer(balancer: CloudLoadBalancer, names: NamesAround): BalancerItem {
  const { name, labels, type, algorithm, network } = balancer;
  const certified = balancer.services.map((service) => ({
    ...service,
    certificates: service.certificates.map((id) => names.certificates.get(id) ?? id),
  }));
  const targets = balancer.targets.map((target): BalancerTarget => {
    const host = target.type === "server" ? names.servers.get(target.value) : undefined;
    return host === undefined ? target : { ...target, type: "host", value: host };
  });
  return {
    name,
    labels,
    type,
    ...placeOf(balancer),
    algorithm,
    public: balancer.public,
    networks: network === undefined ? {} : { [names.networks.get(network.id) ?? `#${network.id}`]: network.ip },
    services: servicesByPort(certified),
    targets: Object.fromEntries(targets.map(targetEntry)),
    protect: balancer.protected,
  };
}

function servicesByPort(services: readonly BalancerService[]): BalancerItem["services"] {
  return Object.fromEntries(
    services.map(({ listenPort, certificates, check, ...service }) => {
      const { http } = check;
      const folded = http === undefined ? check : { ...check, http: { ...http, statuses: [...http.statuses].sort() } };
      return [String(listenPort), { ...service, certificates: [...certificates].sort(), check: folded }];
    }),
  );
}

function targetEntry({ type, value, private: via }: BalancerTarget): [string, "public" | "private"] {
  return [`${type} ${value}`, via ? "private" : "public"];
}

/** The targets and services of an item in the words of the port. */
export function targetsOf({ targets }: Pick<BalancerItem, "targets">): readonly BalancerTarget[] {
  return Object.entries(targets).map(([key, via]) => {
    const [type = "", ...value] = key.split(" ");
    return { type: type as BalancerTarget["type"], value: value.join(" "), private: via === "private" };
  });
}

export function servicesOf({ services }: Pick<BalancerItem, "services">): readonly BalancerService[] {
  return Object.entries(services).map(([port, service]) => ({ ...service, listenPort: Number(port) }));
}

export function sameBalancer(wanted: BalancerItem, seen: BalancerItem): readonly FieldDifference[] {
  const networks = Object.fromEntries(
    Object.entries(seen.networks).map(([name, ip]) => [name, wanted.networks[name] === "" ? "" : ip]),
  );
  return compare(wanted, { ...placedAsDeclared(seen, wanted), networks }).differences;
}
